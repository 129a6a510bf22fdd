//! UTF-8 as bytes: texts are known to be well-formed, and checking them again at each step would cost more than most
//! functions do.

use alloc::vec::Vec;

/// A text in UTF-8.
pub type Text = Vec<u8>;

/// A Unicode scalar value.
pub type CodePoint = u32;

/// The code points of a text, each with its offset.
#[derive(Clone, Debug)]
pub struct CodePoints<'a> {
    rest: &'a [u8],
    at: usize,
}

impl<'a> CodePoints<'a> {
    /// Those of `text`.
    pub fn new(text: &'a [u8]) -> Self {
        Self::new_at(text, 0)
    }

    /// Those of `text` from an offset on.
    pub fn new_at(text: &'a [u8], at: usize) -> Self {
        Self {
            rest: &text[at..],
            at,
        }
    }
}

impl Iterator for CodePoints<'_> {
    type Item = (usize, CodePoint);

    #[inline(always)] // once for each code point of a text
    fn next(&mut self) -> Option<(usize, CodePoint)> {
        let at = self.at;
        let bits = |byte: u8, mask: u8| CodePoint::from(byte & mask);
        let (code_point, length) = match *self.rest {
            [] => return None,
            [a, ref rest @ ..] if a < 0x80 => {
                self.rest = rest;
                (CodePoint::from(a), 1)
            }
            [a, b, ref rest @ ..] if a < 0xe0 => {
                self.rest = rest;
                (bits(a, 0x1f) << 6 | bits(b, 0x3f), 2)
            }
            [a, b, c, ref rest @ ..] if a < 0xf0 => {
                self.rest = rest;
                (bits(a, 0x0f) << 12 | bits(b, 0x3f) << 6 | bits(c, 0x3f), 3)
            }
            [a, b, c, d, ref rest @ ..] => {
                self.rest = rest;
                (
                    bits(a, 0x07) << 18 | bits(b, 0x3f) << 12 | bits(c, 0x3f) << 6 | bits(d, 0x3f),
                    4,
                )
            }
            // Cut: no text ends so.
            [..] => return None,
        };
        self.at = at + length;
        Some((at, code_point))
    }
}

/// The code points of a text from its end on, each with its offset.
pub fn backwards(text: &[u8]) -> impl Iterator<Item = (usize, CodePoint)> + '_ {
    let starts = text.iter().enumerate().rev().filter(|(_, byte)| is_start(**byte));
    starts.filter_map(move |(at, _)| CodePoints::new_at(text, at).next())
}

/// The first code point.
pub fn first(text: &[u8]) -> Option<CodePoint> {
    CodePoints::new(text).next().map(|(_, code_point)| code_point)
}

/// The length in bytes of a code point.
pub fn length(code_point: CodePoint) -> usize {
    match code_point {
        0..=0x7f => 1,
        0x80..=0x7ff => 2,
        0x800..=0xffff => 3,
        _ => 4,
    }
}

/// The number of code points.
pub fn count(text: &[u8]) -> usize {
    text.iter().filter(|byte| is_start(**byte)).count()
}

/// Whether a byte begins a code point.
fn is_start(byte: u8) -> bool {
    byte & 0xc0 != 0x80
}

/// Appends a code point.
#[inline(always)] // once for each code point of a text
pub fn push(text: &mut Text, code_point: CodePoint) {
    let low = |bits: u32| (code_point >> bits & 0x3f) as u8 | 0x80;
    match code_point {
        0..=0x7f => text.push(code_point as u8),
        0x80..=0x7ff => {
            text.push((code_point >> 6) as u8 | 0xc0);
            text.push(low(0));
        }
        0x800..=0xffff => text.extend_from_slice(&[(code_point >> 12) as u8 | 0xe0, low(6), low(0)]),
        _ => text.extend_from_slice(&[(code_point >> 18) as u8 | 0xf0, low(12), low(6), low(0)]),
    }
}

/// Copies a piece to a place of its length. A call that copies costs more than a few bytes do one by one.
#[inline(always)] // once for each cluster of a text
pub fn copy(to: &mut [u8], from: &[u8]) {
    match (&mut *to, from) {
        ([a], [x]) => *a = *x,
        ([a, b], [x, y]) => {
            *a = *x;
            *b = *y;
        }
        ([a, b, c], [x, y, z]) => {
            *a = *x;
            *b = *y;
            *c = *z;
        }
        _ => to.copy_from_slice(from),
    }
}
