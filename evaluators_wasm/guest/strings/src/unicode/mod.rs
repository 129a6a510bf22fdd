//! Properties and case mappings of characters, from the generated tables.

mod break_rules;
#[rustfmt::skip]
mod tables;

pub use tables::UNICODE_VERSION;

use break_rules::{BOUNDARY, CLASS_BITS, START, TRANSITIONS};
use tables::{CASE_BITS, LOW_END, PROPERTY_BITS, PROPERTY_BLOCKS, PROPERTY_INDEX, TAGS_END, TAGS_START};
use tables::{LOWER_BLOCKS, LOWER_DIFFERENCES, LOWER_INDEX, LOWER_TEXTS};
use tables::{UPPER_BLOCKS, UPPER_DIFFERENCES, UPPER_INDEX, UPPER_TEXTS};

// Exclusive ranges are no patterns before Rust 1.80.
const LAST_LOW: usize = LOW_END - 1;
const LAST_TAG: usize = TAGS_END - 1;

// The flags of scripts/unicode_tables.py; the class is in the bits below them.
const WHITE_SPACE: u8 = 0x20;
const CASED: u8 = 0x40;
const CASE_IGNORABLE: u8 = 0x80;
const CLASS: u8 = 0x1f;

/// Class and flags of a character.
fn properties(character: char) -> u8 {
    let code_point = character as usize;
    let place = match code_point {
        0..=LAST_LOW => code_point,
        TAGS_START..=LAST_TAG => code_point - TAGS_START + LOW_END,
        _ => return 0,
    };
    entry(&PROPERTY_INDEX, &PROPERTY_BLOCKS, PROPERTY_BITS, place)
}

/// The entry of a two-stage table; 0 behind its end.
fn entry(index: &[u8], blocks: &[u8], bits: u32, place: usize) -> u8 {
    match index.get(place >> bits) {
        Some(block) => blocks[usize::from(*block) << bits | place & ((1 << bits) - 1)],
        None => 0,
    }
}

/// Whether a character has the property White_Space.
pub fn is_white_space(character: char) -> bool {
    properties(character) & WHITE_SPACE != 0
}

/// Whether a character has the property Cased.
pub fn is_cased(character: char) -> bool {
    properties(character) & CASED != 0
}

/// Whether a character has the property Case_Ignorable.
pub fn is_case_ignorable(character: char) -> bool {
    properties(character) & CASE_IGNORABLE != 0
}

/// What a case mapping gives for one character.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Mapped {
    /// One character, often the same.
    One(char),
    /// Several.
    Many(&'static str),
}

/// The full default uppercase of a character.
pub fn uppercase(character: char) -> Mapped {
    let number = entry(&UPPER_INDEX, &UPPER_BLOCKS, CASE_BITS, character as usize);
    mapped(character, number, &UPPER_DIFFERENCES, &UPPER_TEXTS)
}

/// The full default lowercase of a character, out of context.
pub fn lowercase(character: char) -> Mapped {
    let number = entry(&LOWER_INDEX, &LOWER_BLOCKS, CASE_BITS, character as usize);
    mapped(character, number, &LOWER_DIFFERENCES, &LOWER_TEXTS)
}

fn mapped(character: char, number: u8, differences: &[i32], texts: &'static [&'static str]) -> Mapped {
    let number = usize::from(number);
    match differences.get(number) {
        // A sum that is no character never occurs: the generator took the difference from one.
        Some(difference) => Mapped::One(
            char::from_u32((character as u32).wrapping_add(*difference as u32)).unwrap_or(character),
        ),
        None => Mapped::Many(texts[number - differences.len()]),
    }
}

/// Segmentation into extended grapheme clusters: what came before, as far as the rules ask.
#[derive(Clone, Copy, Debug)]
pub struct Breaks(u8);

impl Breaks {
    /// Where a cluster begins.
    pub fn new() -> Self {
        Self(START)
    }

    /// Takes the next character; true where a boundary lies before it.
    pub fn before(&mut self, character: char) -> bool {
        let class = properties(character) & CLASS;
        let transition = TRANSITIONS[usize::from(self.0) << CLASS_BITS | usize::from(class)];
        self.0 = transition & !BOUNDARY;
        transition & BOUNDARY != 0
    }
}
