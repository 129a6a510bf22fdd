use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use super::{literal, value};
use crate::unicode::{is_white_space, lowercase, uppercase, Mapped, UNICODE_VERSION};

fn text(mapped: Mapped) -> String {
    match mapped {
        Mapped::One(code_point) => char::from_u32(code_point).unwrap().to_string(),
        Mapped::Many(text) => text.to_string(),
    }
}

/// Whether the standard library has tables of our version, and so a second opinion on all of them.
fn is_our_version() -> bool {
    let (major, minor, update) = char::UNICODE_VERSION;
    format!("{}.{}.{}", major, minor, update) == UNICODE_VERSION
}

#[test]
fn the_manifest_names_the_version_of_the_tables() {
    let manifest = include_str!("../../manifest.json");
    assert!(manifest.contains(&format!("\"unicode\": \"{}\"", UNICODE_VERSION)));
}

#[test]
fn case_mappings_are_those_of_the_standard_library() {
    for character in '\0'..=char::MAX {
        let upper: String = character.to_uppercase().collect();
        let lower: String = character.to_lowercase().collect();
        // Mappings are added to Unicode, not changed.
        if is_our_version() || upper != character.to_string() {
            assert_eq!(text(uppercase(character.into())), upper, "{:?}", character);
        }
        if is_our_version() || lower != character.to_string() {
            assert_eq!(text(lowercase(character.into())), lower, "{:?}", character);
        }
    }
}

#[test]
fn mappings_of_unicode_17_are_there() {
    for (lower, upper) in [
        ('\u{a7cd}', '\u{a7cc}'),
        ('\u{a7cf}', '\u{a7ce}'),
        ('\u{16ebb}', '\u{16ea0}'),
    ] {
        assert_eq!(uppercase(lower.into()), Mapped::One(upper.into()), "{:?}", lower);
        assert_eq!(lowercase(upper.into()), Mapped::One(lower.into()), "{:?}", upper);
    }
}

#[test]
fn white_space_is_that_of_the_standard_library() {
    let ours: Vec<char> = ('\0'..=char::MAX)
        .filter(|next| is_white_space((*next).into()))
        .collect();
    let theirs: Vec<char> = ('\0'..=char::MAX).filter(|next| next.is_whitespace()).collect();
    assert_eq!(ours, theirs);
    assert_eq!(ours.len(), 25);
}

#[test]
fn a_sigma_is_final_after_a_cased_letter_and_before_none() {
    for (text, lower) in [
        ("Σ", "σ"),
        ("ΑΣ", "ας"),
        ("ΑΣΑ", "ασα"),
        ("ΑΣ Σ", "ας σ"),
        ("ΣΣΣ", "σσς"),
        ("Α.Σ", "α.ς"),
        ("ΑΣ.", "ας."),
        ("ΑΣ.Α", "ασ.α"),
        ("ΑΣ'\u{301}1", "ας'\u{301}1"),
        ("1Σ", "1σ"),
        // Cased and Case_Ignorable at once: skipped.
        ("\u{2b0}Σ", "\u{2b0}σ"),
        ("ΑΣ\u{2b0}", "ας\u{2b0}"),
        ("Α\u{345}Σ\u{345}", "α\u{345}ς\u{345}"),
    ] {
        assert_eq!(value(&format!("lower({})", literal(text))), lower, "{}", text);
        if is_our_version() {
            assert_eq!(text.to_lowercase(), lower);
        }
    }
}

#[test]
fn one_character_may_become_several() {
    for (input, expected) in [
        (
            "upper('straße ﬃ ŉ ΐ ǰ ᾳ')",
            "STRASSE FFI \u{2bc}N \u{399}\u{308}\u{301} J\u{30c} ΑΙ",
        ),
        ("lower('İI')", "i\u{307}i"),
        ("upper('ꭰ𐐨ա')", "Ꭰ𐐀Ա"),
        ("lower(upper('ı'))", "i"),
    ] {
        assert_eq!(value(input), expected);
    }
}
