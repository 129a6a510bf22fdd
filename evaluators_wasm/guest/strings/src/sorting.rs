//! Sorts clusters in a time that is linear in their bytes.
//!
//! Those of one code point of at most two bytes, which are the most that a text can have, are counted. Of the others,
//! numbers are sorted, which costs far less than comparing texts; what is equal so far is sorted again by the bytes after.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use crate::clusters::Cluster;
use crate::utf8::{self, CodePoint, Text};

/// A number of 32 bits that is in the order of clusters as far as it goes, and below it the offsets of the cluster's
/// start and its end: 16 bits each, since both limits end at 16 KiB.
///
/// At first the number is the first code point and what fits of the second, then four bytes from some depth on.
type Key = u64;

/// Where the number is in a key.
const NUMBER: u32 = 32;

/// The bytes of a cluster that are a number.
const DEPTH: usize = 4;

/// Bits beside a code point in a number of 32 bits.
const SECOND_BITS: u32 = 11;

/// Stands for all second code points from here on.
const SECOND_MOST: CodePoint = (1 << SECOND_BITS) - 1;

const CR: CodePoint = 0x0d;

/// How many numbers are sorted by comparison at most: below, the passes over 256 counts cost more.
const FEW: usize = 64;

/// The clusters of one code point of at most two bytes, and CR LF.
pub struct Counts {
    /// How often each code point is a cluster.
    times: Vec<u16>,
    /// How often CR LF is one.
    line_ends: u16,
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
        self.line_ends += u16::from(is_line_end);
        is_line_end
    }

    /// The code points and how often each was counted; CR, after which CR LF stands, in any case.
    fn iter(&self) -> impl Iterator<Item = (CodePoint, u16)> + '_ {
        let all = (0..).zip(self.times.iter().copied());
        all.filter(|(code_point, times)| *times > 0 || *code_point == CR)
    }

    /// How often a cluster of one byte was counted.
    pub fn times_byte(&self, byte: u8) -> u16 {
        self.times[usize::from(byte)]
    }

    /// How often a cluster was counted.
    pub fn times(&self, cluster: Cluster) -> u16 {
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
}

impl<'a> Sorter<'a> {
    /// None yet of those of `text`.
    pub fn new(text: &'a [u8]) -> Self {
        Self { text, keys: Vec::new() }
    }

    /// Adds a cluster.
    #[inline(always)] // once for each cluster of a text
    pub fn push(&mut self, cluster: Cluster) {
        if self.keys.capacity() == 0 {
            // Room for as many as the text may have: many texts have none, but few have only one.
            self.keys.reserve(self.text.len() / 3 + 1);
        }
        let number = cluster.first << SECOND_BITS | cluster.second.min(SECOND_MOST);
        self.keys.push(key(number, cluster.start..cluster.end));
    }

    /// Whether the clusters are in ascending order as they are: their keys are, and where those do not have all the
    /// bytes, they themselves.
    pub fn is_ascending(&self) -> bool {
        self.keys.windows(2).all(|pair| {
            let (one, other) = (pair[0], pair[1]);
            one <= other && !(is_tie(one, other) && cluster(self.text, one) > cluster(self.text, other))
        })
    }

    /// Sorts the clusters; of equal ones the first of the text stays first.
    pub fn sorted(mut self) -> Sorted<'a> {
        sort_keys(&mut self.keys);
        let mut pending = Vec::new();
        push_ties(&self.keys, 0, &mut pending);
        while let Some((range, depth)) = pending.pop() {
            let first = range.start;
            let ties = &mut self.keys[range];
            for tie in ties.iter_mut() {
                *tie = key(number(&cluster(self.text, *tie)[depth..]), range_of(*tie));
            }
            sort_keys(ties);
            // More of the same depth
            push_equal(ties, first, depth + DEPTH, &mut pending);
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
        let mut counted = counts.iter().peekable();
        for cluster in self.iter() {
            // A code point comes before what begins with it.
            let first = utf8::first(cluster).unwrap_or(0);
            while let Some((code_point, times)) = counted.next_if(|(code_point, _)| *code_point <= first) {
                merged.repeat(code_point, times, counts.line_ends);
            }
            merged.push(cluster);
        }
        for (code_point, times) in counted {
            merged.repeat(code_point, times, counts.line_ends);
        }
        merged.text
    }

    /// Visits the first of each set of equal clusters.
    pub fn first_of_equals(&self, mut visit: impl FnMut(Range<usize>)) {
        let mut last: &[u8] = &[];
        for (key, cluster) in self.keys.iter().zip(self.iter()) {
            if cluster != last {
                visit(range_of(*key));
                last = cluster;
            }
        }
    }

    fn iter(&self) -> impl Iterator<Item = &'a [u8]> + '_ {
        self.keys.iter().map(move |key| cluster(self.text, *key))
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

    /// Appends what is counted of a code point.
    fn repeat(&mut self, code_point: CodePoint, times: u16, line_ends: u16) {
        let mut bytes = Text::new();
        utf8::push(&mut bytes, code_point);
        for _ in 0..times {
            self.push(&bytes);
        }
        if code_point == CR {
            (0..line_ends).for_each(|_| self.push(b"\r\n"));
        }
    }
}

fn key(number: u32, range: Range<usize>) -> Key {
    u64::from(number) << NUMBER | (range.start << 16 | range.end) as u64
}

/// Four bytes as a number; zeros stand behind the end: no cluster of several bytes has a NUL.
fn number(bytes: &[u8]) -> u32 {
    let mut number = [0; DEPTH];
    for (to, from) in number.iter_mut().zip(bytes) {
        *to = *from;
    }
    u32::from_be_bytes(number)
}

/// Where the cluster of a key is in the text.
fn range_of(key: Key) -> Range<usize> {
    (key >> 16 & 0xffff) as usize..(key & 0xffff) as usize
}

/// The cluster of a key.
fn cluster(text: &[u8], key: Key) -> &[u8] {
    &text[range_of(key)]
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
