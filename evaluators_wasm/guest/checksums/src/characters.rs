//! The characters of a number kept as text: an alphabet, and single separators between groups.

use alloc::string::String;
use alloc::vec::Vec;

/// Which characters an argument may have.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Alphabet {
    /// `0` to `9`.
    Digits,
    /// The digits and `X`, which counts 10.
    DigitsAndX,
    /// `A` to `Z` in either case, which count 10 to 35.
    Letters,
    /// Both.
    LettersAndDigits,
}

impl Alphabet {
    /// What a character counts; `None` for a foreign one.
    fn value(self, byte: u8) -> Option<u8> {
        let digit = byte.is_ascii_digit().then(|| byte - b'0');
        let letter = byte.is_ascii_alphabetic().then(|| (byte & !0x20) - b'A' + 10);
        match self {
            Self::Digits => digit,
            Self::DigitsAndX if byte == b'X' => Some(10),
            Self::DigitsAndX => digit,
            Self::Letters => letter,
            Self::LettersAndDigits => digit.or(letter),
        }
    }

    /// What an argument should be, as a message.
    pub(crate) fn wants(self) -> &'static str {
        match self {
            Self::Digits => "expected digits, single spaces or hyphens between groups of them",
            Self::DigitsAndX => "expected digits or X, single spaces or hyphens between groups of them",
            Self::Letters => "expected letters A to Z",
            Self::LettersAndDigits => {
                "expected letters A to Z and digits, single spaces or hyphens between groups of them"
            }
        }
    }
}

/// The values of the characters of `text`, at least one; `None` where a character is foreign or a separator is
/// not between two others.
pub(crate) fn read(text: String, alphabet: Alphabet) -> Option<Vec<u8>> {
    // Written over the text itself: a value takes the place of its character or of one before it.
    let mut values = text.into_bytes();
    let mut count = 0;
    let mut in_group = false;
    for at in 0..values.len() {
        match values[at] {
            b' ' | b'-' if in_group => in_group = false,
            byte => {
                values[count] = alphabet.value(byte)?;
                count += 1;
                in_group = true;
            }
        }
    }
    values.truncate(count);
    in_group.then_some(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use alloc::vec;

    #[test]
    fn values_of_groups_are_joined() {
        assert_eq!(
            read("1-2 34".to_string(), Alphabet::Digits),
            Some(vec![1, 2, 3, 4])
        );
        assert_eq!(
            read("aZ-09".to_string(), Alphabet::LettersAndDigits),
            Some(vec![10, 35, 0, 9])
        );
        assert_eq!(read("0X".to_string(), Alphabet::DigitsAndX), Some(vec![0, 10]));
    }

    #[test]
    fn what_is_foreign_or_out_of_place_has_no_values() {
        for text in [
            "",
            "-",
            " 1",
            "1 ",
            "1--2",
            "1- 2",
            "1\t2",
            "1a",
            "\u{ff11}",
            "1\u{2010}2",
            "1/2",
            "1:",
            "X",
        ] {
            assert_eq!(read(text.to_string(), Alphabet::Digits), None, "{:?}", text);
        }
        for text in ["x", "1@", "1[", "1`", "1{"] {
            assert_eq!(read(text.to_string(), Alphabet::DigitsAndX), None, "{:?}", text);
        }
        for text in ["1", "@", "[", "`", "{", "\u{e9}"] {
            assert_eq!(read(text.to_string(), Alphabet::Letters), None, "{:?}", text);
        }
    }
}
