//! Pieces of a text: slices by cluster, words, and what is left without white space around it.

use crate::clusters::{self, Clusters};
use crate::unicode::is_white_space;
use crate::value::{Answer, Arguments, Fault, Value};

/// `words(s)`.
pub fn words(arguments: Arguments<'_>) -> Answer {
    Ok(Value::Integer(split(arguments.text(0)).count() as i64))
}

/// `word(s, n)`, from 1, or from -1 at the end.
pub fn word(arguments: Arguments<'_>) -> Answer {
    let mut words = split(arguments.text(0));
    let found = match place(arguments.integer(1)) {
        Some((true, skipped)) => words.nth(skipped),
        Some((false, skipped)) => words.nth_back(skipped),
        None => None,
    };
    match found {
        Some(word) => Ok(Value::Text(word.into())),
        None => Err(Fault::domain("there is no such word; the first is 1, the last -1")),
    }
}

/// `nth(s, n)`, from 1, or from -1 at the end.
pub fn nth(arguments: Arguments<'_>) -> Answer {
    let text = arguments.text(0);
    let mut clusters = Clusters::new(text);
    let found = match place(arguments.integer(1)) {
        Some((true, skipped)) => Some(skipped),
        Some((false, skipped)) => clusters::count(text).checked_sub(skipped).and_then(|left| left.checked_sub(1)),
        None => None,
    };
    let cluster = found.and_then(|skipped| {
        clusters.skip_clusters(skipped);
        clusters.next()
    });
    match cluster {
        Some(cluster) => Ok(Value::Text(cluster.into())),
        None => Err(Fault::domain("there is no such character; the first is 1, the last -1")),
    }
}

/// `substr(s, i[, j])`: a slice as in Python.
pub fn substr(arguments: Arguments<'_>) -> Answer {
    let text = arguments.text(0);
    let (start, end) = (arguments.integer(1).unwrap_or(0), arguments.integer(2));
    // Only what counts from the end needs the length; a bound behind the end is clamped by running into it.
    let length = if start < 0 || end.map_or(false, |end| end < 0) { clusters::count(text) } else { 0 };
    let start = bound(start, length);
    let end = end.map_or(usize::MAX, |end| bound(end, length));
    let mut clusters = Clusters::new(text);
    clusters.skip_clusters(start);
    let from = clusters.rest();
    clusters.skip_clusters(end.saturating_sub(start));
    Ok(Value::Text(from[..from.len() - clusters.rest().len()].into()))
}

/// `trim(s)`.
pub fn trim(arguments: Arguments<'_>) -> Answer {
    Ok(Value::Text(arguments.text(0).trim_matches(is_white_space).into()))
}

/// The words: the longest runs of characters that are not white space.
fn split(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.split(is_white_space).filter(|word| !word.is_empty())
}

/// Whether a place counts from the start, and how many are before it; `None` at 0 and at more than any text has.
fn place(integer: Option<i64>) -> Option<(bool, usize)> {
    let integer = integer?;
    let skipped = usize::try_from(integer.unsigned_abs().checked_sub(1)?).ok()?;
    Some((integer > 0, skipped))
}

/// A bound of a slice as a number of clusters from the start; a negative one counts from `length`.
fn bound(integer: i64, length: usize) -> usize {
    let from_start = if integer < 0 { integer.saturating_add(length as i64).max(0) } else { integer };
    usize::try_from(from_start).unwrap_or(usize::MAX)
}
