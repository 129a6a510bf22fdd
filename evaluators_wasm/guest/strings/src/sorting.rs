//! Sorts the clusters that are not counted, in a time that is linear in their bytes.
//!
//! Numbers are sorted, which costs far less than comparing texts; what is equal so far is sorted again by the bytes after.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use crate::clusters::Cluster;
use crate::counts::Counts;
use crate::utf8::{self, CodePoint, Text};

/// A number of 32 bits that is in the order of clusters as far as it goes; a bit that says whether the cluster has bytes
/// beyond it; the offsets of the cluster's start and its end in 15 and 16 bits, since both limits end at 16 KiB.
///
/// At first the number is the first code point and what fits of the second, then four bytes from some depth on.
type Key = u64;

/// The bit for bytes beyond the number, below it: a cluster without them comes first.
const MORE: Key = 1 << MORE_BIT;
const MORE_BIT: u32 = 31;

/// Where the number is in a key.
const NUMBER: u32 = 32;

/// The bytes of a cluster that are a number.
const DEPTH: usize = 4;

/// Bits beside a code point in a number of 32 bits.
const SECOND_BITS: u32 = 11;

/// Stands for all second code points from here on.
const SECOND_MOST: CodePoint = (1 << SECOND_BITS) - 1;

/// The bits of a key that are sorted by at once.
const DIGIT: Key = 0xff;

/// How many numbers are sorted by comparison at most: below, the passes over 256 counts cost more.
const FEW: usize = 64;

/// The clusters that are not counted, in the order of the text.
pub struct Sorter<'a> {
    text: &'a [u8],
    keys: Vec<Key>,
}

impl<'a> Sorter<'a> {
    /// None yet of those of `text`.
    pub fn new(text: &'a [u8]) -> Self {
        // A cluster that is not counted has three bytes at least.
        Self {
            text,
            keys: Vec::with_capacity(text.len() / 3),
        }
    }

    /// Adds a cluster.
    #[inline(always)] // once for each cluster of a text
    pub fn push(&mut self, cluster: Cluster) {
        let Cluster {
            start,
            end,
            first,
            second,
            has_more,
        } = cluster;
        let key = if has_more || second >= SECOND_MOST {
            key(first << SECOND_BITS | second.min(SECOND_MOST), start..end) | MORE
        } else {
            key(first << SECOND_BITS | second, start..end)
        };
        self.keys.push(key);
    }

    /// Whether the clusters are in ascending order as they are: their keys are, and where those do not have all the
    /// bytes, they themselves.
    pub fn is_ascending(&self) -> bool {
        self.keys.windows(2).all(|pair| {
            let (one, other) = (pair[0], pair[1]);
            one <= other && !(is_open(one, other) && cluster(self.text, one) > cluster(self.text, other))
        })
    }

    /// Sorts the clusters; of equal ones the first of the text stays first.
    pub fn sorted(mut self) -> Sorted<'a> {
        sort_keys(&mut self.keys);
        let mut pending = Vec::new();
        push_open(&self.keys, 0, first_depth, &mut pending);
        while let Some((range, depth)) = pending.pop() {
            let start = range.start;
            let open = &mut self.keys[range];
            for open in open.iter_mut() {
                let rest = &cluster(self.text, *open)[depth..];
                let more = if rest.len() > DEPTH { MORE } else { 0 };
                *open = key(number(rest), range_of(*open)) | more;
            }
            sort_keys(open);
            push_open(open, start, |_| depth + DEPTH, &mut pending);
        }
        Sorted {
            text: self.text,
            keys: self.keys,
        }
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
        let mut merged = Merged {
            text: vec![0; self.text.len()],
            length: 0,
            next: counts.next(0),
            counts,
        };
        for _ in 0..counts.line_ends() {
            merged.push_other(b"\r\n"); // the least of all that have several characters
        }
        for cluster in self.iter() {
            merged.push_other(cluster);
        }
        merged.push_counted(CodePoint::MAX);
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
struct Merged<'a> {
    text: Text,
    length: usize,
    counts: &'a Counts,
    /// What is counted of the next code point.
    next: Option<(CodePoint, u16)>,
}

impl Merged<'_> {
    /// Appends a cluster that is not counted, and before it what is: a code point comes before what begins with it.
    #[inline(always)] // once for each cluster of a text
    fn push_other(&mut self, cluster: &[u8]) {
        if let Some((code_point, _)) = self.next {
            let first = utf8::first(cluster).unwrap_or(0);
            if code_point <= first {
                self.push_counted(first);
            }
        }
        self.push(cluster);
    }

    /// Appends what is counted, up to a code point.
    fn push_counted(&mut self, last: CodePoint) {
        while let Some((code_point, times)) = self.next.filter(|(code_point, _)| *code_point <= last) {
            let mut bytes = Text::new();
            utf8::push(&mut bytes, code_point);
            for _ in 0..times {
                self.push(&bytes);
            }
            self.next = self.counts.next(code_point + 1);
        }
    }

    #[inline(always)] // once for each cluster of a text
    fn push(&mut self, cluster: &[u8]) {
        let end = self.length + cluster.len();
        utf8::copy(&mut self.text[self.length..end], cluster);
        self.length = end;
    }
}

/// The key of a cluster that has no bytes beyond its number.
fn key(number: u32, range: Range<usize>) -> Key {
    u64::from(number) << NUMBER | u64::from((range.start << 16 | range.end) as u32)
}

/// Four bytes as a number; zeros stand behind the end: no cluster of several bytes has a NUL.
fn number(bytes: &[u8]) -> u32 {
    let mut number = [0; DEPTH];
    for (to, from) in number.iter_mut().zip(bytes) {
        *to = *from;
    }
    u32::from_be_bytes(number)
}

/// The bytes that the first number of a key stands for.
fn first_depth(key: Key) -> usize {
    let number = (key >> NUMBER) as u32;
    let second = number & SECOND_MOST;
    let first_length = utf8::length(number >> SECOND_BITS);
    if second == 0 || second == SECOND_MOST {
        first_length
    } else {
        first_length + utf8::length(second)
    }
}

/// Whether two clusters have bytes beyond their numbers, and the same number.
fn is_open(one: Key, other: Key) -> bool {
    one & MORE != 0 && one >> MORE_BIT == other >> MORE_BIT
}

/// Pushes the ranges of sorted keys that are [`is_open`] among each other, and the depth where the other bytes begin.
fn push_open(
    keys: &[Key],
    start: usize,
    depth: impl Fn(Key) -> usize,
    pending: &mut Vec<(Range<usize>, usize)>,
) {
    let mut first = 0;
    while first < keys.len() {
        let rest = &keys[first..];
        let length = rest.iter().take_while(|key| is_open(rest[0], **key)).count();
        if length > 1 {
            pending.push((start + first..start + first + length, depth(rest[0])));
        }
        first += length.max(1);
    }
}

/// Where the cluster of a key is in the text.
fn range_of(key: Key) -> Range<usize> {
    (key >> 16 & 0x7fff) as usize..(key & 0xffff) as usize
}

/// The cluster of a key.
fn cluster(text: &[u8], key: Key) -> &[u8] {
    &text[range_of(key)]
}

/// Sorts keys whose offsets ascend: many of them in linear time, digit by digit from the lowest in which they differ.
fn sort_keys(keys: &mut [Key]) {
    if keys.len() <= FEW {
        keys.sort();
        return;
    }
    let first = keys[0];
    let differing = keys.iter().fold(0, |bits, key| bits | (*key ^ first));
    let mut spare = vec![0; keys.len()];
    let mut is_moved = false;
    let (mut from, mut to) = (keys, &mut spare[..]);
    let mut left = differing >> MORE_BIT << MORE_BIT;
    while left != 0 {
        let shift = left.trailing_zeros();
        distribute(from, to, |key| (key >> shift & DIGIT) as usize);
        core::mem::swap(&mut from, &mut to);
        is_moved = !is_moved;
        left &= !(DIGIT << shift);
    }
    if is_moved {
        to.copy_from_slice(from);
    }
}

/// Copies keys in the order of a digit; those with the same digit stay in order.
fn distribute(from: &[Key], to: &mut [Key], digit: impl Fn(Key) -> usize) {
    let mut places = [0; DIGIT as usize + 1];
    for key in from {
        places[digit(*key)] += 1;
    }
    let mut start = 0;
    for count in &mut places {
        start += core::mem::replace(count, start);
    }
    for key in from {
        let place = &mut places[digit(*key)];
        to[*place] = *key;
        *place += 1;
    }
}
