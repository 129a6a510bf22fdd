//! Functions on the order of clusters.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::clusters::{is_bytewise, Clusters};
use crate::value::{Answer, Arguments, Value};

/// `is_palindrome(s)`.
pub fn is_palindrome(arguments: Arguments<'_>) -> Answer {
    let text = arguments.text(0);
    let same = if is_bytewise(text) {
        let bytes = text.as_bytes();
        bytes.iter().eq(bytes.iter().rev())
    } else {
        let clusters: Vec<&str> = Clusters::new(text).collect();
        clusters.iter().eq(clusters.iter().rev())
    };
    Ok(Value::Boolean(same))
}

/// `reverse(s)`.
pub fn reverse(arguments: Arguments<'_>) -> Answer {
    let text = arguments.text(0);
    let mut reversed = String::with_capacity(text.len());
    if is_bytewise(text) {
        reversed.extend(text.chars().rev());
    } else {
        let clusters: Vec<&str> = Clusters::new(text).collect();
        reversed.extend(clusters.into_iter().rev());
    }
    Ok(Value::Text(reversed))
}

/// `sort(s)`: by code points, which is the order of their UTF-8 too.
pub fn sort(arguments: Arguments<'_>) -> Answer {
    let text = arguments.text(0);
    let clusters = Partition::new(text);
    let mut sorted = String::with_capacity(text.len());
    let mut rest = clusters.ascending().into_iter().map(|ordinal| clusters.others[ordinal]).peekable();
    for (byte, times) in clusters.single.iter().enumerate() {
        for _ in 0..*times {
            sorted.push(byte as u8 as char);
        }
        // What begins with the same character is longer, and comes after it.
        while let Some(cluster) = rest.next_if(|cluster| cluster.as_bytes()[0] == byte as u8) {
            sorted.push_str(cluster);
        }
    }
    sorted.extend(rest);
    Ok(Value::Text(sorted))
}

/// `unique(s)`: of equal clusters the first.
pub fn unique(arguments: Arguments<'_>) -> Answer {
    let text = arguments.text(0);
    let clusters = Partition::new(text);
    let mut ascending = clusters.ascending();
    ascending.dedup_by(|next, kept| clusters.others[*next] == clusters.others[*kept]);
    let mut is_first = vec![false; clusters.others.len()];
    for ordinal in ascending {
        is_first[ordinal] = true;
    }
    let mut seen = [false; ASCII];
    let mut is_first = is_first.into_iter();
    let mut kept = String::with_capacity(text.len());
    for cluster in Clusters::new(text) {
        let keep = match cluster.as_bytes() {
            [byte] => !core::mem::replace(&mut seen[usize::from(*byte)], true),
            _ => is_first.next() == Some(true),
        };
        if keep {
            kept.push_str(cluster);
        }
    }
    Ok(Value::Text(kept))
}

/// The number of ASCII characters.
const ASCII: usize = 128;

/// The bytes of a cluster that are compared at once: what a u64 leaves beside an ordinal, and a text has less than 2^16
/// clusters, since both limits end at 16 KiB.
const PREFIX_BYTES: usize = 6;
const ORDINAL_BITS: u32 = 16;
const ORDINAL: u64 = (1 << ORDINAL_BITS) - 1;

/// The clusters of a text, those of one byte counted.
struct Partition<'a> {
    /// How often each ASCII character is a cluster.
    single: [u32; ASCII],
    /// The clusters of more than one byte, in the order of the text.
    others: Vec<&'a str>,
}

impl<'a> Partition<'a> {
    fn new(text: &'a str) -> Self {
        let mut single = [0; ASCII];
        let mut others = Vec::new();
        for cluster in Clusters::new(text) {
            match cluster.as_bytes() {
                [byte] => single[usize::from(*byte)] += 1,
                _ => others.push(cluster),
            }
        }
        Self { single, others }
    }

    /// The ordinals of `others` so that these ascend; of equal ones the first comes first.
    ///
    /// Sorts numbers, made of a few bytes and the ordinal, which costs far less than comparing texts; what is equal so far
    /// is sorted again by the bytes after.
    fn ascending(&self) -> Vec<usize> {
        let mut keys: Vec<u64> = (0..self.others.len() as u64).collect();
        let mut pending = vec![(0, keys.len(), 0)];
        while let Some((start, end, depth)) = pending.pop() {
            for key in &mut keys[start..end] {
                let ordinal = *key & ORDINAL;
                *key = prefix(&self.others[ordinal as usize].as_bytes()[depth..]) << ORDINAL_BITS | ordinal;
            }
            sort_numbers(&mut keys[start..end]);
            let mut first = start;
            while first < end {
                let same = keys[first] >> ORDINAL_BITS;
                let length = keys[first..end].iter().take_while(|key| **key >> ORDINAL_BITS == same).count();
                // The last byte is 0 behind the end of a cluster only: none of several bytes has a NUL.
                if length > 1 && same & 0xff != 0 {
                    pending.push((first, first + length, depth + PREFIX_BYTES));
                }
                first += length;
            }
        }
        keys.into_iter().map(|key| (key & ORDINAL) as usize).collect()
    }
}

/// The first bytes as a number whose order is theirs; zeros stand behind the end.
fn prefix(bytes: &[u8]) -> u64 {
    (0..PREFIX_BYTES).fold(0, |number, at| number << 8 | u64::from(bytes.get(at).copied().unwrap_or(0)))
}

/// How many numbers are sorted by comparison at most: below, the passes over 256 counts cost more.
const FEW: usize = 64;

/// Sorts numbers whose ordinals ascend: many of them byte by byte from the lowest, in linear time.
fn sort_numbers(keys: &mut [u64]) {
    if keys.len() <= FEW {
        keys.sort();
        return;
    }
    let mut spare = vec![0; keys.len()];
    let mut is_moved = false;
    let (mut from, mut to) = (keys, &mut spare[..]);
    for shift in (ORDINAL_BITS..u64::BITS).step_by(8) {
        let byte = |key: u64| (key >> shift) as usize & 0xff;
        let mut starts = [0; 256];
        for key in from.iter() {
            starts[byte(*key)] += 1;
        }
        if starts[byte(from[0])] == from.len() {
            continue;
        }
        let mut start = 0;
        for count in &mut starts {
            start += core::mem::replace(count, start);
        }
        for key in from.iter() {
            let start = &mut starts[byte(*key)];
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
