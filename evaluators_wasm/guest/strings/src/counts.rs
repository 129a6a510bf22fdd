//! Counts the clusters that a text can have the most of: their number says all of them.

use alloc::vec;
use alloc::vec::Vec;

use crate::clusters::Cluster;
use crate::utf8::CodePoint;

const CR: CodePoint = 0x0d;

/// The clusters of one code point of at most two bytes, and CR LF.
pub struct Counts {
    /// How often each code point is a cluster: less than 2^16 times, since both limits end at 16 KiB.
    times: Vec<u16>,
    /// How often CR LF is one.
    line_ends: u16,
}

impl Counts {
    /// None yet.
    pub fn new() -> Self {
        Self {
            times: vec![0; 0x80],
            line_ends: 0,
        }
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

    /// The first code point from `from` on that was counted, and how often.
    pub fn next(&self, from: CodePoint) -> Option<(CodePoint, u16)> {
        let rest = self.times.get(from as usize..)?;
        let skipped = rest.iter().position(|times| *times > 0)?;
        Some((from + skipped as CodePoint, rest[skipped]))
    }

    /// How often CR LF was counted.
    pub fn line_ends(&self) -> u16 {
        self.line_ends
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
