//! A position in the raw input.

use alloc::vec::Vec;

use evalspan_abi::Error;

/// Reads the raw bytes of an input from left to right. UTF-8 is checked where it is read, so that of several
/// faults the first by position is found.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    input: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// The start of an input.
    #[must_use]
    pub fn new(input: &'a [u8]) -> Self {
        Self { input, at: 0 }
    }

    /// The whole raw input.
    #[must_use]
    pub fn input(&self) -> &'a [u8] {
        self.input
    }

    /// The byte offset of the next byte.
    #[must_use]
    pub fn at(&self) -> usize {
        self.at
    }

    /// Goes to a byte offset; on a character boundary, or the next read fails.
    pub fn go_to(&mut self, at: usize) {
        self.at = at;
    }

    /// Whether no byte is left.
    #[must_use]
    pub fn is_at_end(&self) -> bool {
        self.at >= self.input.len()
    }

    /// The next byte, not consumed.
    #[inline]
    #[must_use]
    pub fn peek(&self) -> Option<u8> {
        self.input.get(self.at).copied()
    }

    /// The byte `ahead` bytes after the next one, not consumed.
    #[must_use]
    pub fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.input.get(self.at + ahead).copied()
    }

    /// The next character, not consumed; `None` at the end and where the bytes are no UTF-8.
    #[must_use]
    pub fn peek_char(&self) -> Option<char> {
        let first = self.peek()?;
        if first.is_ascii() {
            return Some(first as char);
        }
        // No character has more than 4 bytes; what follows it may be cut or bad without making it so.
        let window = &self.input[self.at..self.input.len().min(self.at + 4)];
        let valid = match core::str::from_utf8(window) {
            Ok(text) => text,
            Err(error) => core::str::from_utf8(&window[..error.valid_up_to()]).unwrap_or(""),
        };
        valid.chars().next()
    }

    /// Consumes `bytes` bytes.
    pub fn advance(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// Consumes white space: space, tab, CR, LF.
    #[inline]
    pub fn skip_white(&mut self) {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.peek() {
            self.at += 1;
        }
    }

    /// Consumes a byte if it is the next one.
    #[inline]
    pub fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Consumes a text if it is next.
    pub fn eat_str(&mut self, text: &str) -> bool {
        let found = self.input[self.at.min(self.input.len())..].starts_with(text.as_bytes());
        if found {
            self.at += text.len();
        }
        found
    }

    /// Consumes bytes while `accept` does, ASCII only.
    pub fn take_while(&mut self, accept: impl Fn(u8) -> bool) -> &'a str {
        let start = self.at;
        let rest = self.input.get(start..).unwrap_or(&[]);
        self.at += rest
            .iter()
            .take_while(|byte| byte.is_ascii() && accept(**byte))
            .count();
        self.text(start, self.at)
    }

    /// Consumes ASCII digits and returns how many.
    #[inline]
    pub fn skip_digits(&mut self) -> usize {
        let digits = self
            .input
            .get(self.at..)
            .unwrap_or(&[])
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        self.at += digits;
        digits
    }

    /// Consumes ASCII digits, possibly none.
    pub fn digits(&mut self) -> &'a str {
        self.take_while(|byte| byte.is_ascii_digit())
    }

    /// Consumes a name: an ASCII letter or `_`, then letters, digits and `_`.
    pub fn name(&mut self) -> Option<&'a str> {
        match self.peek() {
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                Some(self.take_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
            }
            _ => None,
        }
    }

    /// The input between two byte offsets; empty where that is no text.
    #[must_use]
    pub fn text(&self, start: usize, end: usize) -> &'a str {
        core::str::from_utf8(&self.input[start..end]).unwrap_or("")
    }

    /// Requires that nothing but white space is left.
    ///
    /// # Errors
    /// `syntax`, at what follows.
    pub fn finish(&mut self) -> Result<(), Error> {
        self.skip_white();
        if self.is_at_end() {
            return Ok(());
        }
        Err(self.unexpected("expected the end of the input"))
    }

    /// The `syntax` error at the next character; `wanted` says what would be right where the character itself
    /// is no better explanation.
    #[must_use]
    pub fn unexpected(&self, wanted: &'static str) -> Error {
        match self.peek_char() {
            Some(next) => {
                let message = match next {
                    _ if next.is_control() => "a control character is not allowed",
                    _ if !next.is_ascii() && next.is_numeric() => "digits are 0 to 9 only",
                    _ if !next.is_ascii() && next.is_whitespace() => {
                        "white space is space, tab, CR and LF only"
                    }
                    _ => wanted,
                };
                Error::syntax(self.at, message).piece(self.input, self.at + next.len_utf8())
            }
            None if self.is_at_end() => Error::syntax(self.input.len(), wanted),
            None => Error::syntax(self.at, "the input is not UTF-8"),
        }
    }

    /// Reads `item (, item)* )` or `)`, the opening parenthesis being consumed: the arguments of a call.
    ///
    /// # Errors
    /// Those of `item`, and `syntax` where a comma or the closing parenthesis is missing.
    pub fn arguments<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let mut items = Vec::new();
        self.skip_white();
        if self.eat(b')') {
            return Ok(items);
        }
        loop {
            self.skip_white();
            items.push(item(self)?);
            self.skip_white();
            if self.eat(b')') {
                return Ok(items);
            }
            if !self.eat(b',') {
                return Err(self.unexpected("expected a comma or a closing parenthesis"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evalspan_abi::Code;

    fn digit(cursor: &mut Cursor<'_>) -> Result<u8, Error> {
        match cursor.peek() {
            Some(byte @ b'0'..=b'9') => {
                cursor.advance(1);
                Ok(byte - b'0')
            }
            _ => Err(cursor.unexpected("expected a digit")),
        }
    }

    #[test]
    fn white_space_is_free_between_arguments() {
        let mut cursor = Cursor::new(b" 1 ,\t2\r\n,3 )x");
        assert_eq!(cursor.arguments(digit).unwrap(), [1, 2, 3]);
        assert_eq!(cursor.peek(), Some(b'x'));
        assert!(Cursor::new(b"  )").arguments(digit).unwrap().is_empty());
    }

    #[test]
    fn an_argument_list_fails_at_the_first_byte_that_cannot_be_right() {
        for (input, at) in [("1,)", 2), ("1 2)", 2), (",1)", 0), ("1", 1), ("1,", 2)] {
            let error = Cursor::new(input.as_bytes()).arguments(digit).unwrap_err();
            assert_eq!((error.code, error.offset), (Code::Syntax, at), "{}", input);
        }
    }

    #[test]
    fn a_character_is_read_although_a_bad_byte_follows() {
        let cursor = Cursor::new(b"\xc3\x97\xff");
        assert_eq!(cursor.peek_char(), Some('\u{d7}'));
        let cursor = Cursor::new(b"\xc3");
        assert_eq!(cursor.peek_char(), None);
        assert_eq!(cursor.unexpected("").message, "the input is not UTF-8");
    }

    #[test]
    fn an_unexpected_character_is_explained() {
        for (input, piece, message) in [
            ("\u{ff11}", 3, "digits are 0 to 9 only"),
            ("\0", 1, "a control character is not allowed"),
            ("\u{a0}", 2, "white space is space, tab, CR and LF only"),
            ("x", 1, "wanted"),
            ("", 0, "wanted"),
        ] {
            let error = Cursor::new(input.as_bytes()).unexpected("wanted");
            assert_eq!((error.piece, &*error.message), (piece, message));
        }
    }

    #[test]
    fn names_start_with_a_letter() {
        let mut cursor = Cursor::new(b"crc32(");
        assert_eq!(cursor.name(), Some("crc32"));
        assert_eq!(cursor.name(), None);
        assert!(cursor.eat_str("(") && !cursor.eat_str("("));
        assert!(cursor.finish().is_ok());
    }
}
