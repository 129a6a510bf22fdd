//! Functions that look for one text in another, cluster by cluster.
//!
//! An occurrence of clusters is an occurrence of bytes that begins and ends at a boundary of the text searched: the
//! rules of segmentation carry nothing over a boundary, so that those inside agree by themselves.

use alloc::vec;
use alloc::vec::Vec;

use crate::clusters::{self, Boundaries};
use crate::value::{Answer, Arguments, Fault, Value};

/// `count(s, t)`.
pub fn count(arguments: Arguments<'_>) -> Answer {
    let mut number = 0;
    each_occurrence(arguments.text(0), not_empty(arguments.text(1))?, |_| {
        number += 1;
        Search::GoOn
    });
    Ok(Value::Integer(number))
}

/// `find(s, t)`: clusters before the first occurrence, or -1.
pub fn find(arguments: Arguments<'_>) -> Answer {
    let (text, needle) = (arguments.text(0), not_empty(arguments.text(1))?);
    let index = match first_occurrence(text, needle) {
        Some(start) => clusters::count(&text[..start]) as i64,
        None => -1,
    };
    Ok(Value::Integer(index))
}

/// `contains(s, t)`.
pub fn contains(arguments: Arguments<'_>) -> Answer {
    let (text, needle) = (arguments.text(0), arguments.text(1));
    Ok(Value::Boolean(
        needle.is_empty() || first_occurrence(text, needle).is_some(),
    ))
}

/// `starts_with(s, t)`.
pub fn starts_with(arguments: Arguments<'_>) -> Answer {
    let (text, start) = (arguments.text(0), arguments.text(1));
    let does = start.is_empty() || text.starts_with(start) && Boundaries::new(text).at(start.len());
    Ok(Value::Boolean(does))
}

/// `ends_with(s, t)`.
pub fn ends_with(arguments: Arguments<'_>) -> Answer {
    let (text, end) = (arguments.text(0), arguments.text(1));
    let does = end.is_empty() || text.ends_with(end) && Boundaries::new(text).at(text.len() - end.len());
    Ok(Value::Boolean(does))
}

/// `equals(s, t)`.
pub fn equals(arguments: Arguments<'_>) -> Answer {
    Ok(Value::Boolean(arguments.text(0) == arguments.text(1)))
}

/// `replace(s, t, u)`.
pub fn replace(arguments: Arguments<'_>) -> Answer {
    let (text, needle, new) = (
        arguments.text(0),
        not_empty(arguments.text(1))?,
        arguments.text(2),
    );
    let mut starts = Vec::new();
    each_occurrence(text, needle, |start| {
        starts.push(start);
        Search::GoOn
    });
    let kept = text.len() - starts.len() * needle.len();
    let bytes = arguments.check_size(kept, starts.len() as u64, new.len())?;
    let mut replaced = Vec::with_capacity(bytes);
    let mut from = 0;
    for start in starts {
        if from < start {
            replaced.extend_from_slice(&text[from..start]);
        }
        replaced.extend_from_slice(new);
        from = start + needle.len();
    }
    replaced.extend_from_slice(&text[from..]);
    Ok(Value::Text(replaced))
}

fn not_empty(needle: &[u8]) -> Result<&[u8], Fault> {
    if needle.is_empty() {
        return Err(Fault::domain("the string to look for must not be empty"));
    }
    Ok(needle)
}

/// Whether a search goes on after an occurrence.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Search {
    GoOn,
    End,
}

fn first_occurrence(text: &[u8], needle: &[u8]) -> Option<usize> {
    let mut first = None;
    each_occurrence(text, needle, |start| {
        first = Some(start);
        Search::End
    });
    first
}

/// Visits the offsets of the occurrences of a needle, which is not empty, that do not overlap, from the left (Knuth,
/// Morris and Pratt).
fn each_occurrence(text: &[u8], needle: &[u8], mut visit: impl FnMut(usize) -> Search) {
    if needle.len() > text.len() {
        return;
    }
    let boundaries = Boundaries::new(text);
    let borders = borders(needle);
    let mut matched = 0;
    for (at, byte) in text.iter().enumerate() {
        matched = extend(needle, &borders, matched, *byte);
        if matched == needle.len() {
            let (start, end) = (at + 1 - matched, at + 1);
            matched = borders[matched - 1];
            if boundaries.at(start) && boundaries.at(end) {
                if visit(start) == Search::End {
                    return;
                }
                matched = 0;
            }
        }
    }
}

/// The bytes matched after one more byte, where `matched` is less than the needle has. `borders` has, by the number of
/// bytes matched less 1, the bytes of the longest other prefix that ends there too.
fn extend(needle: &[u8], borders: &[usize], mut matched: usize, byte: u8) -> usize {
    while needle[matched] != byte {
        if matched == 0 {
            return 0;
        }
        matched = borders[matched - 1];
    }
    matched + 1
}

fn borders(needle: &[u8]) -> Vec<usize> {
    let mut borders = vec![0; needle.len()];
    let mut matched = 0;
    for at in 1..needle.len() {
        matched = extend(needle, &borders, matched, needle[at]);
        borders[at] = matched;
    }
    borders
}
