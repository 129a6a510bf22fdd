//! Extended grapheme clusters of a text, the unit of most functions.

use alloc::vec;
use alloc::vec::Vec;
use core::str::Chars;

use crate::unicode::Breaks;

/// Whether every byte is a cluster of its own: ASCII without CR, since CR LF is the only cluster of two such bytes.
pub fn is_bytewise(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii() && byte != b'\r')
}

/// The clusters of a text, in order.
#[derive(Clone, Debug)]
pub struct Clusters<'a> {
    /// From the start of the next cluster on.
    rest: &'a str,
    /// What is not yet taken by `breaks`, of the same text.
    ahead: Chars<'a>,
    breaks: Breaks,
    bytewise: bool,
}

impl<'a> Clusters<'a> {
    /// The clusters of `text`.
    pub fn new(text: &'a str) -> Self {
        Self { rest: text, ahead: text.chars(), breaks: Breaks::new(), bytewise: is_bytewise(text) }
    }

    /// What the next clusters are taken from.
    pub fn rest(&self) -> &'a str {
        self.rest
    }

    /// Skips `count` clusters, or all where there are fewer.
    pub fn skip_clusters(&mut self, count: usize) {
        if self.bytewise {
            self.rest = &self.rest[count.min(self.rest.len())..];
        } else {
            self.by_ref().take(count).for_each(drop);
        }
    }
}

impl<'a> Iterator for Clusters<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if self.rest.is_empty() {
            return None;
        }
        let end = if self.bytewise { 1 } else { self.end() };
        let (cluster, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(cluster)
    }
}

impl Clusters<'_> {
    /// The length in bytes of the next cluster; `ahead` is then one character behind its end.
    fn end(&mut self) -> usize {
        loop {
            let length = self.rest.len() - self.ahead.as_str().len();
            match self.ahead.next() {
                // The character that ended the last cluster was taken then, so that `length` is not 0 here.
                Some(character) if self.breaks.before(character) && length > 0 => return length,
                Some(_) => {}
                None => return length,
            }
        }
    }
}

/// The number of clusters.
pub fn count(text: &str) -> usize {
    if is_bytewise(text) {
        return text.len();
    }
    let mut breaks = Breaks::new();
    text.chars().filter(|character| breaks.before(*character)).count()
}

/// Where clusters begin and end.
pub enum Boundaries {
    /// At every byte.
    Everywhere,
    /// At the marked bytes; the last mark is that of the end.
    Marked(Vec<bool>),
}

impl Boundaries {
    /// The boundaries of `text`.
    pub fn new(text: &str) -> Self {
        if is_bytewise(text) {
            return Self::Everywhere;
        }
        let mut marks = vec![false; text.len() + 1];
        let mut breaks = Breaks::new();
        for (at, character) in text.char_indices() {
            marks[at] = breaks.before(character);
        }
        marks[text.len()] = true;
        Self::Marked(marks)
    }

    /// Whether a boundary lies before byte `at`.
    pub fn at(&self, at: usize) -> bool {
        match self {
            Self::Everywhere => true,
            Self::Marked(marks) => marks[at],
        }
    }
}
