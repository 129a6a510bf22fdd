//! Properties and case mappings of characters, from the generated tables.

mod break_rules;
#[rustfmt::skip]
mod tables;

pub use tables::UNICODE_VERSION;

use crate::utf8::CodePoint;
use break_rules::{BOUNDARY, START, STATE, TRANSITIONS};
use tables::{CASE_BITS, FLAT_END, LOW_END, PROPERTY_BITS, TAGS_END, TAGS_START};
use tables::{LOWER_BLOCKS, LOWER_DIFFERENCES, LOWER_INDEX, LOWER_TEXTS};
use tables::{PROPERTY_BLOCKS, PROPERTY_INDEX};
use tables::{UPPER_BLOCKS, UPPER_DIFFERENCES, UPPER_INDEX, UPPER_TEXTS};

// Exclusive ranges are no patterns before Rust 1.80.
const LAST_FLAT: usize = FLAT_END - 1;
const LAST_LOW: usize = LOW_END - 1;
const LAST_TAG: usize = TAGS_END - 1;

// The flags of scripts/unicode_tables.py; the class is in the bits below them.
const WHITE_SPACE: u8 = 0x20;
const CASED: u8 = 0x40;
const CASE_IGNORABLE: u8 = 0x80;
const CLASS: u8 = 0x1f;

/// Class and flags of a code point.
#[inline(always)] // once for each code point of a text
fn properties(code_point: CodePoint) -> u8 {
    let code_point = code_point as usize;
    let place = match code_point {
        0..=LAST_FLAT => return PROPERTY_BLOCKS[code_point],
        FLAT_END..=LAST_LOW => code_point,
        TAGS_START..=LAST_TAG => code_point - TAGS_START + LOW_END,
        _ => return 0,
    };
    entry(&PROPERTY_INDEX, &PROPERTY_BLOCKS, PROPERTY_BITS, place)
}

/// The entry of a two-stage table; 0 behind its end.
#[inline(always)] // once for each code point of a text
fn entry(index: &[u8], blocks: &[u8], bits: u32, place: usize) -> u8 {
    match index.get(place >> bits) {
        Some(block) => blocks[usize::from(*block) << bits | place & ((1 << bits) - 1)],
        None => 0,
    }
}

/// Whether a code point has the property White_Space.
pub fn is_white_space(code_point: CodePoint) -> bool {
    properties(code_point) & WHITE_SPACE != 0
}

/// Whether the first of the code points that is not Case_Ignorable is Cased.
pub fn is_cased_next(code_points: impl Iterator<Item = (usize, CodePoint)>) -> bool {
    let mut flags = code_points.map(|(_, code_point)| properties(code_point));
    flags
        .find(|flags| flags & CASE_IGNORABLE == 0)
        .map_or(false, |flags| flags & CASED != 0)
}

/// What a case mapping gives for one code point.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Mapped {
    /// One code point, often the same.
    One(CodePoint),
    /// Several.
    Many(&'static str),
}

/// The full default uppercase of a code point.
pub fn uppercase(code_point: CodePoint) -> Mapped {
    let number = entry(&UPPER_INDEX, &UPPER_BLOCKS, CASE_BITS, code_point as usize);
    mapped(code_point, number, &UPPER_DIFFERENCES, &UPPER_TEXTS)
}

/// The full default lowercase of a code point, out of context.
pub fn lowercase(code_point: CodePoint) -> Mapped {
    let number = entry(&LOWER_INDEX, &LOWER_BLOCKS, CASE_BITS, code_point as usize);
    mapped(code_point, number, &LOWER_DIFFERENCES, &LOWER_TEXTS)
}

fn mapped(code_point: CodePoint, number: u8, differences: &[i32], texts: &'static [&'static str]) -> Mapped {
    let number = usize::from(number);
    match differences.get(number) {
        Some(difference) => Mapped::One(code_point.wrapping_add(*difference as u32)),
        None => Mapped::Many(texts[number - differences.len()]),
    }
}

/// Segmentation into extended grapheme clusters: what came before, as far as the rules ask.
#[derive(Clone, Copy, Debug)]
pub struct Breaks(u16);

impl Breaks {
    /// Where a cluster begins.
    pub fn new() -> Self {
        Self(START)
    }

    /// Takes the next code point; true where a boundary lies before it.
    #[inline(always)] // once for each code point of a text
    pub fn before(&mut self, code_point: CodePoint) -> bool {
        let class = u16::from(properties(code_point) & CLASS);
        self.0 = TRANSITIONS[usize::from(self.0 | class) % TRANSITIONS.len()];
        let is_boundary = self.0 & BOUNDARY != 0;
        self.0 &= STATE;
        is_boundary
    }
}
