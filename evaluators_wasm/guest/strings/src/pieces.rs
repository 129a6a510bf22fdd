//! Pieces of a text: slices by cluster, words, and what is left without white space around it.

use alloc::vec::Vec;

use crate::clusters::Clusters;
use crate::unicode::is_white_space;
use crate::utf8::{self, CodePoint, CodePoints};
use crate::value::{Answer, Arguments, Fault, Value};

/// `words(s)`.
pub fn words(arguments: Arguments<'_>) -> Answer {
    Ok(Value::Integer(Words::new(arguments.text(0)).count() as i64))
}

/// `word(s, n)`, from 1, or from -1 at the end.
pub fn word(arguments: Arguments<'_>) -> Answer {
    let words: Vec<&[u8]> = Words::new(arguments.text(0)).collect();
    let found = match place(arguments.integer(1)) {
        Some((true, skipped)) => words.get(skipped),
        Some((false, skipped)) => words.iter().nth_back(skipped),
        None => None,
    };
    match found {
        Some(word) => Ok(Value::Text((*word).into())),
        None => Err(Fault::domain(
            "there is no such word; the first is 1, the last -1",
        )),
    }
}

/// `nth(s, n)`, from 1, or from -1 at the end.
pub fn nth(arguments: Arguments<'_>) -> Answer {
    let clusters = Clusters::new(arguments.text(0));
    let found = match place(arguments.integer(1)) {
        Some((true, skipped)) => clusters.iter().nth(skipped),
        Some((false, skipped)) => clusters.iter().nth_back(skipped),
        None => None,
    };
    match found {
        Some(cluster) => Ok(Value::Text(cluster.into())),
        None => Err(Fault::domain(
            "there is no such character; the first is 1, the last -1",
        )),
    }
}

/// `substr(s, i[, j])`: a slice as in Python.
pub fn substr(arguments: Arguments<'_>) -> Answer {
    let clusters = Clusters::new(arguments.text(0));
    let start = bound(arguments.integer(1).unwrap_or(0), clusters.len());
    let end = bound(arguments.integer(2).unwrap_or(i64::MAX), clusters.len());
    Ok(Value::Text(clusters.slice(start, end.max(start)).into()))
}

/// `trim(s)`.
pub fn trim(arguments: Arguments<'_>) -> Answer {
    let text = arguments.text(0);
    let is_kept = |(_, code_point): &(usize, CodePoint)| !is_white_space(*code_point);
    let start = CodePoints::new(text)
        .find(is_kept)
        .map_or(text.len(), |(at, _)| at);
    let rest = &text[start..];
    let end = utf8::backwards(rest)
        .find(is_kept)
        .map_or(0, |(at, code_point)| at + utf8::length(code_point));
    Ok(Value::Text(rest[..end].into()))
}

/// The words of a text: the longest runs of code points that are not white space.
struct Words<'a> {
    text: &'a [u8],
    code_points: CodePoints<'a>,
}

impl<'a> Words<'a> {
    fn new(text: &'a [u8]) -> Self {
        Self {
            text,
            code_points: CodePoints::new(text),
        }
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (start, _) = self
            .code_points
            .find(|(_, code_point)| !is_white_space(*code_point))?;
        let end = self
            .code_points
            .find(|(_, code_point)| is_white_space(*code_point));
        Some(&self.text[start..end.map_or(self.text.len(), |(at, _)| at)])
    }
}

/// Whether a place counts from the start, and how many are before it; `None` at 0 and at more than any text has.
fn place(integer: Option<i64>) -> Option<(bool, usize)> {
    let integer = integer?;
    let skipped = usize::try_from(integer.unsigned_abs().checked_sub(1)?).ok()?;
    Some((integer > 0, skipped))
}

/// A bound of a slice, clamped to `length`; a negative one counts from there.
fn bound(integer: i64, length: usize) -> usize {
    let length = length as i64;
    let from_start = if integer < 0 {
        integer.saturating_add(length)
    } else {
        integer
    };
    from_start.clamp(0, length) as usize
}
