//! Integer and string literals.

use alloc::string::String;

use evalspan_abi::Error;

use crate::Cursor;

/// An integer literal. A value that does not fit is the nearest `i64`: no index, count or width that an
/// operator could act on is that large, so only its sign matters.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Integer {
    /// The value, or the nearest one.
    pub value: i64,
    /// Whether the literal is that value.
    pub fits: bool,
}

impl<'a> Cursor<'a> {
    /// Reads an integer literal, `-` before it allowed: `0`, `12`, `-3`. `None` where none begins here.
    ///
    /// # Errors
    /// `syntax`, at a leading zero.
    pub fn integer(&mut self) -> Result<Option<Integer>, Error> {
        let negative = self.peek() == Some(b'-');
        if !self
            .peek_at(usize::from(negative))
            .map_or(false, |byte| byte.is_ascii_digit())
        {
            return Ok(None);
        }
        self.advance(usize::from(negative));
        let start = self.at();
        let digits = self.digits();
        if digits.len() > 1 && digits.starts_with('0') {
            let message = "an integer has no leading zeros: write 16, not 016";
            return Err(Error::syntax(start, message).piece(self.input(), self.at()));
        }
        // Counted below zero, where i64 has one more value.
        let below = digits.bytes().try_fold(0_i64, |below, digit| {
            below.checked_mul(10)?.checked_sub(i64::from(digit - b'0'))
        });
        let value = if negative {
            below
        } else {
            below.and_then(i64::checked_neg)
        };
        let nearest = if negative { i64::MIN } else { i64::MAX };
        Ok(Some(Integer {
            value: value.unwrap_or(nearest),
            fits: value.is_some(),
        }))
    }

    /// Reads a string literal in `"…"` or `'…'`, its quote being next: JSON's escapes and `\'`.
    ///
    /// # Errors
    /// `syntax`: an unknown escape or a lone surrogate at its backslash, a raw control character or a byte
    /// that is no UTF-8 where it is, a missing closing quote at the end of the input.
    pub fn string(&mut self) -> Result<String, Error> {
        let quote = match self.peek() {
            Some(quote @ (b'"' | b'\'')) => quote as char,
            _ => return Err(self.unexpected("expected a string literal")),
        };
        self.advance(1);
        let mut text = String::new();
        loop {
            text.push_str(self.plain(quote));
            match self.peek_char() {
                Some('\\') => text.push(self.escape()?),
                Some(next) if next == quote => {
                    self.advance(1);
                    return Ok(text);
                }
                Some(_) => return Err(self.unexpected("")),
                None => return Err(self.unexpected("the string literal has no closing quote")),
            }
        }
    }

    /// Consumes the characters that stand for themselves: up to a quote, a backslash, a control character
    /// or a byte that is no UTF-8.
    fn plain(&mut self, quote: char) -> &'a str {
        let rest = self.input().get(self.at()..).unwrap_or(&[]);
        let special = |byte: u8| byte.is_ascii_control() || byte == b'\\' || char::from(byte) == quote;
        let run = &rest[..rest.iter().position(|byte| special(*byte)).unwrap_or(rest.len())];
        let valid = match core::str::from_utf8(run) {
            Ok(text) => text,
            Err(error) => core::str::from_utf8(&run[..error.valid_up_to()]).unwrap_or(""),
        };
        // Of the control characters, U+0080 to U+009F are not ASCII.
        let plain = &valid[..valid.find(char::is_control).unwrap_or(valid.len())];
        self.advance(plain.len());
        plain
    }

    /// Reads one escape, its backslash being next.
    fn escape(&mut self) -> Result<char, Error> {
        let start = self.at();
        let simple = match self.peek_at(1) {
            Some(b'"') => '"',
            Some(b'\'') => '\'',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(start),
            Some(_) => return Err(self.bad_escape(start, 2, "unknown escape; write \\\\ for a backslash")),
            None => {
                self.advance(1);
                return Err(self.unexpected("the string literal has no closing quote"));
            }
        };
        self.advance(2);
        Ok(simple)
    }

    /// Reads `\uXXXX`, or two of them where the first is a high surrogate.
    fn unicode_escape(&mut self, start: usize) -> Result<char, Error> {
        let first = match self.code_unit() {
            Some(unit) => unit,
            None => return Err(self.bad_escape(start, 6, "\\u needs four hexadecimal digits")),
        };
        // A pair encodes 0x10000 + the ten low bits of the high surrogate, then those of the low one.
        let character = if first & 0xfc00 == 0xd800 {
            self.code_unit()
                .filter(|second| second & 0xfc00 == 0xdc00)
                .and_then(|second| char::from_u32(0x1_0000 + ((first & 0x3ff) << 10) + (second & 0x3ff)))
        } else {
            char::from_u32(first)
        };
        character.ok_or_else(|| self.bad_escape(start, 6, "a lone surrogate is no character"))
    }

    /// Reads `\uXXXX` as a number; `None`, nothing consumed, where that is not next.
    fn code_unit(&mut self) -> Option<u32> {
        if self.peek() != Some(b'\\') || self.peek_at(1) != Some(b'u') {
            return None;
        }
        let mut unit = 0;
        for ahead in 2..6 {
            unit = unit * 16 + (self.peek_at(ahead)? as char).to_digit(16)?;
        }
        self.advance(6);
        Some(unit)
    }

    fn bad_escape(&self, start: usize, bytes: usize, message: &'static str) -> Error {
        Error::syntax(start, message).piece(self.input(), start + bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn integers_saturate_and_keep_their_sign() {
        for (input, value, fits) in [
            ("0", 0, true),
            ("-12,", -12, true),
            ("9223372036854775807", i64::MAX, true),
            ("9223372036854775808", i64::MAX, false),
            ("-9223372036854775808", i64::MIN, true),
            ("-99999999999999999999", i64::MIN, false),
        ] {
            let read = Cursor::new(input.as_bytes()).integer().unwrap();
            assert_eq!(read, Some(Integer { value, fits }), "{}", input);
        }
        assert_eq!(Cursor::new(b"-x").integer().unwrap(), None);
        assert_eq!(Cursor::new(b"016").integer().unwrap_err().offset, 0);
    }

    #[test]
    fn string_literals_take_json_escapes_and_an_apostrophe() {
        for (input, text) in [
            (r#""a'b""#, "a'b"),
            (r#"'a"b\''"#, "a\"b'"),
            (r#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t"),
            (r#""\u00e9\uD83D\uDE00""#, "é😀"),
            ("'é😀'", "é😀"),
            ("''", ""),
        ] {
            let mut cursor = Cursor::new(input.as_bytes());
            assert_eq!(cursor.string().unwrap(), text.to_string());
            assert!(cursor.is_at_end());
        }
    }

    #[test]
    fn a_bad_string_literal_fails_where_it_is_bad() {
        for (input, offset, piece) in [
            (&b"\"ab"[..], 3, 0),
            (b"\"a\\", 3, 0),
            (b"\"a\\x\"", 2, 2),
            (b"\"a\\u12\"", 2, 5),
            (b"\"\\ud83d\"", 1, 6),
            (b"\"\\ud83d\\u0041\"", 1, 6),
            (b"\"\\ude00\"", 1, 6),
            (b"\"a\tb\"", 2, 1),
            (b"\"a\x7fb\"", 2, 1),
            (b"\"a\xffb\"", 2, 0),
        ] {
            let error = Cursor::new(input).string().unwrap_err();
            assert_eq!((error.offset, error.piece), (offset, piece), "{:?}", input);
        }
    }
}
