//! The full default case mappings: UnicodeData.txt, and of SpecialCasing.txt the unconditional ones and Final_Sigma.

use alloc::vec::Vec;

use crate::unicode::{is_cased_next, lowercase, uppercase, Mapped};
use crate::utf8::{self, CodePoint, CodePoints};
use crate::value::{Answer, Arguments, Fault, Value};

const CAPITAL_SIGMA: CodePoint = 0x3a3;
const FINAL_SIGMA: CodePoint = 0x3c2;

/// The bytes of a capital sigma.
const SIGMA_BYTES: usize = 2;

/// `upper(s)`.
pub fn upper(arguments: Arguments<'_>) -> Answer {
    map(arguments, u8::to_ascii_uppercase, |_, code_point| {
        uppercase(code_point)
    })
}

/// `lower(s)`.
pub fn lower(arguments: Arguments<'_>) -> Answer {
    let text = arguments.text(0);
    map(
        arguments,
        u8::to_ascii_lowercase,
        |at, code_point| match code_point {
            CAPITAL_SIGMA if is_final(&text[..at], &text[at + SIGMA_BYTES..]) => Mapped::One(FINAL_SIGMA),
            _ => lowercase(code_point),
        },
    )
}

/// Maps each code point of the argument: ASCII as bytes, the others given their offsets too. At most one is made in
/// vain before the limit is seen.
fn map(
    arguments: Arguments<'_>,
    ascii: impl Fn(&u8) -> u8,
    mapping: impl Fn(usize, CodePoint) -> Mapped,
) -> Answer {
    let text = arguments.text(0);
    let mut mapped = Vec::with_capacity(text.len());
    for (at, code_point) in CodePoints::new(text) {
        if code_point < 0x80 {
            mapped.push(ascii(&text[at]));
        } else {
            match mapping(at, code_point) {
                Mapped::One(one) => utf8::push(&mut mapped, one),
                Mapped::Many(many) => mapped.extend_from_slice(many.as_bytes()),
            }
        }
        if mapped.len() > arguments.limit() {
            return Err(Fault::too_large());
        }
    }
    Ok(Value::Text(mapped))
}

/// Final_Sigma: no cased character after, and one before, skipping what is case-ignorable.
///
/// A capital sigma is not case-ignorable, so that two of them never skip the same characters in one direction: a
/// text costs linear time however many it has.
fn is_final(before: &[u8], after: &[u8]) -> bool {
    !is_cased_next(CodePoints::new(after)) && is_cased_next(utf8::backwards(before))
}
