use std::string::ToString;
use std::vec;
use std::vec::Vec;

use super::Mixes;
use crate::utf8::{backwards, copy, count, length, push, CodePoints};

#[test]
fn every_character_is_written_and_read_as_the_standard_library_does() {
    for character in '\0'..=char::MAX {
        let mut text = Vec::new();
        push(&mut text, character.into());
        assert_eq!(text, character.to_string().as_bytes());
        assert_eq!(length(character.into()), text.len());
        assert_eq!(CodePoints::new(&text).next(), Some((0, character.into())));
        assert_eq!(backwards(&text).next(), Some((0, character.into())));
    }
}

#[test]
fn code_points_are_read_in_both_directions_with_their_offsets() {
    let mut mixes = Mixes(1);
    for _ in 0..2000 {
        let text = mixes.text(20);
        let expected: Vec<(usize, u32)> = text.char_indices().map(|(at, next)| (at, next.into())).collect();
        let bytes = text.as_bytes();
        assert_eq!(CodePoints::new(bytes).collect::<Vec<_>>(), expected);
        let mut reversed: Vec<_> = backwards(bytes).collect();
        reversed.reverse();
        assert_eq!(reversed, expected);
        assert_eq!(count(bytes), expected.len());
    }
}

#[test]
fn copies_are_of_any_length() {
    for length in 0..9 {
        let from: Vec<u8> = (1..=length).collect();
        let mut to = vec![0; from.len()];
        copy(&mut to, &from);
        assert_eq!(to, from);
    }
}
