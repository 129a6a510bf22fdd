//! Functions that look for one text in another, cluster by cluster.
//!
//! An occurrence of clusters is an occurrence of bytes that begins and ends at a boundary of the text searched: the
//! rules of segmentation carry nothing over a boundary, so that those inside agree by themselves.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::clusters::{self, Boundaries};
use crate::value::{Answer, Arguments, Fault, Value};

/// `count(s, t)`.
pub fn count(arguments: Arguments<'_>) -> Answer {
    let needle = not_empty(arguments.text(1))?;
    Ok(Value::Integer(Occurrences::new(arguments.text(0), needle).count() as i64))
}

/// `find(s, t)`: clusters before the first occurrence, or -1.
pub fn find(arguments: Arguments<'_>) -> Answer {
    let (text, needle) = (arguments.text(0), not_empty(arguments.text(1))?);
    let index = match Occurrences::new(text, needle).next() {
        Some(start) => clusters::count(&text[..start]) as i64,
        None => -1,
    };
    Ok(Value::Integer(index))
}

/// `contains(s, t)`.
pub fn contains(arguments: Arguments<'_>) -> Answer {
    let (text, needle) = (arguments.text(0), arguments.text(1));
    Ok(Value::Boolean(needle.is_empty() || Occurrences::new(text, needle).next().is_some()))
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
    let (text, needle, new) = (arguments.text(0), not_empty(arguments.text(1))?, arguments.text(2));
    let starts: Vec<usize> = Occurrences::new(text, needle).collect();
    let kept = text.len() - starts.len() * needle.len();
    let bytes = arguments.check_size(kept, starts.len() as u64, new.len())?;
    let mut replaced = String::with_capacity(bytes);
    let mut from = 0;
    for start in starts {
        replaced.push_str(&text[from..start]);
        replaced.push_str(new);
        from = start + needle.len();
    }
    replaced.push_str(&text[from..]);
    Ok(Value::Text(replaced))
}

fn not_empty(needle: &str) -> Result<&str, Fault> {
    if needle.is_empty() {
        return Err(Fault::domain("the string to look for must not be empty"));
    }
    Ok(needle)
}

/// The offsets in bytes of the occurrences that do not overlap, from the left (Knuth, Morris and Pratt).
struct Occurrences<'a> {
    text: &'a [u8],
    needle: &'a [u8],
    boundaries: Boundaries,
    /// By number of bytes matched, less 1: bytes of the longest other prefix that ends there too.
    borders: Vec<usize>,
    at: usize,
    matched: usize,
}

impl<'a> Occurrences<'a> {
    /// Those of `needle`, which is not empty, in `text`.
    fn new(text: &'a str, needle: &'a str) -> Self {
        // A longer needle never occurs: nothing is searched, and nothing of its size is made.
        let text = if needle.len() > text.len() { "" } else { text };
        let borders = if text.is_empty() { Vec::new() } else { borders(needle.as_bytes()) };
        Self {
            text: text.as_bytes(),
            needle: needle.as_bytes(),
            boundaries: Boundaries::new(text),
            borders,
            at: 0,
            matched: 0,
        }
    }
}

impl Iterator for Occurrences<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        while let Some(byte) = self.text.get(self.at) {
            self.at += 1;
            self.matched = extend(self.needle, &self.borders, self.matched, *byte);
            if self.matched == self.needle.len() {
                let start = self.at - self.matched;
                if self.boundaries.at(start) && self.boundaries.at(self.at) {
                    self.matched = 0;
                    return Some(start);
                }
                self.matched = self.borders[self.matched - 1];
            }
        }
        None
    }
}

/// The bytes matched after one more byte; `matched` is less than the needle has.
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
