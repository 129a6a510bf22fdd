//! The full default case mappings: UnicodeData.txt, and of SpecialCasing.txt the unconditional ones and Final_Sigma.

use alloc::string::String;

use crate::unicode::{is_case_ignorable, is_cased, lowercase, uppercase, Mapped};
use crate::value::{Answer, Arguments, Fault, Value};

const CAPITAL_SIGMA: char = '\u{3a3}';
const FINAL_SIGMA: char = '\u{3c2}';

/// `upper(s)`.
pub fn upper(arguments: Arguments<'_>) -> Answer {
    let text = arguments.text(0);
    if text.is_ascii() {
        return Ok(Value::Text(text.to_ascii_uppercase()));
    }
    map(text, arguments.limit(), |_, character| uppercase(character))
}

/// `lower(s)`.
pub fn lower(arguments: Arguments<'_>) -> Answer {
    let text = arguments.text(0);
    if text.is_ascii() {
        return Ok(Value::Text(text.to_ascii_lowercase()));
    }
    map(text, arguments.limit(), |at, character| match character {
        CAPITAL_SIGMA if is_final(&text[..at], &text[at + CAPITAL_SIGMA.len_utf8()..]) => Mapped::One(FINAL_SIGMA),
        _ => lowercase(character),
    })
}

/// Maps each character, given its offset; at most one character is made in vain before the limit is seen.
fn map(text: &str, limit: usize, mapping: impl Fn(usize, char) -> Mapped) -> Answer {
    let mut mapped = String::with_capacity(text.len());
    for (at, character) in text.char_indices() {
        match mapping(at, character) {
            Mapped::One(one) => mapped.push(one),
            Mapped::Many(many) => mapped.push_str(many),
        }
        if mapped.len() > limit {
            return Err(Fault::too_large());
        }
    }
    Ok(Value::Text(mapped))
}

/// Final_Sigma: a cased character before, none after, skipping what is case-ignorable.
///
/// A capital sigma is not case-ignorable, so that two of them never skip the same characters in one direction: a
/// text costs linear time however many it has.
fn is_final(before: &str, after: &str) -> bool {
    let is_next_cased = |next: Option<char>| next.map_or(false, is_cased);
    is_next_cased(before.chars().rev().find(|next| !is_case_ignorable(*next)))
        && !is_next_cased(after.chars().find(|next| !is_case_ignorable(*next)))
}
