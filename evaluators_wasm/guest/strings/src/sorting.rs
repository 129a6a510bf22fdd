//! Sorts clusters in a time that is linear in their bytes.
//!
//! Those of one code point of at most two bytes, which are the most that a text can have, are counted. Of the others,
//! numbers are sorted, made of a few bytes and an offset, which costs far less than comparing texts; what is equal so
//! far is sorted again by the bytes after.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use crate::clusters::Cluster;
use crate::utf8::{self, CodePoint, Text};

/// Four bytes of a cluster, as a number whose order is theirs, and below them the offsets of its start and its end:
/// 16 bits each, since both limits end at 16 KiB.
type Key = u64;

/// The bytes that are compared at once.
const KEY_BYTES: usize = 4;

/// Where they are in a key.
const KEY_SHIFT: u32 = u64::BITS - 8 * KEY_BYTES as u32;

const CR: CodePoint = 0x0d;

/// How many numbers are sorted by comparison at most: below, the passes over 256 counts cost more.
const FEW: usize = 64;

/// The clusters of one code point of at most two bytes, and CR LF.
pub struct Counts {
    /// How often each code point is a cluster.
    times: Vec<u32>,
    /// How often CR LF is one.
    line_ends: u32,
}

impl Counts {
    /// None yet.
    pub fn new() -> Self {
        Self { times: vec![0; 0x80], line_ends: 0 }
    }

    /// Counts a cluster of one byte, which is ASCII.
    #[inline(always)] // once for each byte of a text
    pub fn add_byte(&mut self, byte: u8) {
        self.times[usize::from(byte)] += 1;
    }

    /// Counts a cluster; false, where it is not one of these.
    #[inline(always)] // once for each cluster of a text
    pub fn add(&mut self, cluster: Cluster) -> bool {
        if !cluster.is_small() {
            return self.add_line_end(cluster);
        }
        match self.times.get_mut(cluster.first as usize) {
            Some(times) => *times += 1,
            None => self.add_first(cluster.first as usize),
        }
        true
    }

    fn add_first(&mut self, code_point: usize) {
        self.times.resize((code_point + 1).next_power_of_two(), 0);
        self.times[code_point] = 1;
    }

    fn add_line_end(&mut self, cluster: Cluster) -> bool {
        let is_line_end = is_line_end(cluster);
        self.line_ends += u32::from(is_line_end);
        is_line_end
    }

    /// How often a cluster of one byte was counted.
    pub fn times_byte(&self, byte: u8) -> u32 {
        self.times[usize::from(byte)]
    }

    /// How often a cluster was counted.
    pub fn times(&self, cluster: Cluster) -> u32 {
        if !cluster.is_small() {
            return if is_line_end(cluster) { self.line_ends } else { 0 };
        }
        self.times.get(cluster.first as usize).copied().unwrap_or(0)
    }
}

/// Whether a longer cluster is CR LF: no other character continues a CR.
fn is_line_end(cluster: Cluster) -> bool {
    cluster.first == CR
}

/// The clusters that are not counted, in the order of the text.
pub struct Sorter<'a> {
    text: &'a [u8],
    keys: Vec<Key>,
    /// Whether the keys have all the bytes.
    are_whole: bool,
    /// Whether a cluster comes before one that is less.
    descends: bool,
}

impl<'a> Sorter<'a> {
    /// None yet of those of `text`.
    pub fn new(text: &'a [u8]) -> Self {
        Self { text, keys: Vec::new(), are_whole: true, descends: false }
    }

    /// Adds a cluster.
    #[inline(always)] // once for each cluster of a text
    pub fn push(&mut self, cluster: Cluster) {
        let bytes = &self.text[cluster.start..cluster.end];
        let key = key(bytes, cluster.start, cluster.end);
        self.are_whole &= bytes.len() <= KEY_BYTES;
        match self.keys.last() {
            Some(last) if self.are_whole || last >> KEY_SHIFT != key >> KEY_SHIFT => self.descends |= *last > key,
            Some(last) => self.descends |= &self.text[range_of(*last)] > bytes,
            // Room for as many as the text may have: many texts have none, but few have only one.
            None => self.keys.reserve(self.text.len() / 3),
        }
        self.keys.push(key);
    }

    /// Whether a cluster comes before one that is less.
    pub fn descends(&self) -> bool {
        self.descends
    }

    /// Sorts the clusters; of equal ones the first of the text stays first.
    pub fn sorted(mut self) -> Sorted<'a> {
        sort_keys(&mut self.keys);
        let mut pending = Vec::new();
        if !self.are_whole {
            push_equal(&self.keys, 0, KEY_BYTES, &mut pending);
        }
        while let Some((range, depth)) = pending.pop() {
            let first = range.start;
            let equal = &mut self.keys[range];
            for number in equal.iter_mut() {
                let Range { start, end } = range_of(*number);
                *number = key(&self.text[start..end][depth..], start, end);
            }
            sort_keys(equal);
            push_equal(equal, first, depth + KEY_BYTES, &mut pending);
        }
        Sorted { text: self.text, keys: self.keys }
    }
}

/// Clusters in ascending order.
pub struct Sorted<'a> {
    text: &'a [u8],
    keys: Vec<Key>,
}

impl<'a> Sorted<'a> {
    /// All clusters of the text in ascending order, given those that are counted.
    pub fn merged(&self, counts: &Counts) -> Text {
        let mut merged = Merged { text: vec![0; self.text.len()], length: 0 };
        let mut rest = &self.keys[..];
        let mut next = self.first(rest);
        for (code_point, times) in (0..).zip(&counts.times) {
            if *times > 0 {
                merged.repeat(code_point, *times);
            }
            if code_point == CR {
                (0..counts.line_ends).for_each(|_| merged.push(b"\r\n"));
            }
            // What begins with the same code point is longer, and comes after it.
            while next == Some(code_point) {
                merged.push(&self.text[range_of(rest[0])]);
                rest = &rest[1..];
                next = self.first(rest);
            }
        }
        for key in rest {
            merged.push(&self.text[range_of(*key)]);
        }
        merged.text
    }

    /// The first code point of the first of some clusters.
    fn first(&self, keys: &[Key]) -> Option<CodePoint> {
        utf8::first(&self.text[range_of(*keys.first()?)])
    }

    /// Visits the first of each set of equal clusters.
    pub fn first_of_equals(&self, mut visit: impl FnMut(Range<usize>)) {
        let mut last: &[u8] = &[];
        for range in self.ranges() {
            let cluster = &self.text[range.clone()];
            if cluster != last {
                visit(range);
                last = cluster;
            }
        }
    }

    fn ranges(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.keys.iter().map(|key| range_of(*key))
    }
}

/// A text of known length in the making.
struct Merged {
    text: Text,
    length: usize,
}

impl Merged {
    fn push(&mut self, cluster: &[u8]) {
        let end = self.length + cluster.len();
        utf8::copy(&mut self.text[self.length..end], cluster);
        self.length = end;
    }

    /// Appends a code point of at most two bytes.
    fn repeat(&mut self, code_point: CodePoint, times: u32) {
        let mut bytes = Text::new();
        utf8::push(&mut bytes, code_point);
        for _ in 0..times {
            self.push(&bytes);
        }
    }
}

/// The key of a cluster's bytes from some depth on.
fn key(bytes: &[u8], start: usize, end: usize) -> Key {
    // Zeros stand behind the end: no cluster of several bytes has a NUL.
    let mut number = (start << 16 | end) as u64;
    let mut shift = u64::BITS;
    for byte in bytes.iter().take(KEY_BYTES) {
        shift -= 8;
        number |= u64::from(*byte) << shift;
    }
    number
}

/// Where the cluster of a key is in the text.
fn range_of(key: Key) -> Range<usize> {
    (key >> 16 & 0xffff) as usize..(key & 0xffff) as usize
}

/// Pushes the ranges of sorted keys with the same bytes, if more may follow, and the depth where they do.
fn push_equal(keys: &[Key], start: usize, depth: usize, pending: &mut Vec<(Range<usize>, usize)>) {
    let mut first = 0;
    while first < keys.len() {
        let same = keys[first] >> KEY_SHIFT;
        let length = keys[first..].iter().take_while(|key| **key >> KEY_SHIFT == same).count();
        // A last byte of 0 is behind the end.
        if length > 1 && same & 0xff != 0 {
            pending.push((start + first..start + first + length, depth));
        }
        first += length;
    }
}

/// Sorts keys whose offsets ascend: many of them byte by byte from the lowest, in linear time.
fn sort_keys(keys: &mut [Key]) {
    if keys.len() <= FEW {
        keys.sort();
        return;
    }
    let differing = keys.iter().fold(0, |bits, key| bits | (*key ^ keys[0]));
    let mut spare = vec![0; keys.len()];
    let mut is_moved = false;
    let (mut from, mut to) = (keys, &mut spare[..]);
    for shift in (KEY_SHIFT..u64::BITS).step_by(8) {
        let byte = |key: Key| (key >> shift) as u8;
        if byte(differing) == 0 {
            continue;
        }
        let mut starts = [0; 256];
        for key in from.iter() {
            starts[usize::from(byte(*key))] += 1;
        }
        let mut start = 0;
        for count in &mut starts {
            start += core::mem::replace(count, start);
        }
        for key in from.iter() {
            let start = &mut starts[usize::from(byte(*key))];
            to[*start] = *key;
            *start += 1;
        }
        core::mem::swap(&mut from, &mut to);
        is_moved = !is_moved;
    }
    if is_moved {
        to.copy_from_slice(from);
    }
}
