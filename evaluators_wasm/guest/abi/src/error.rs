//! A typed error: code, place, piece and message.

use alloc::borrow::Cow;
use alloc::vec::Vec;

/// The most bytes of the input that an error may point at.
pub const PIECE_BYTES: usize = 32;

/// The most bytes of a message.
pub const MESSAGE_BYTES: usize = 200;

/// Byte 0 of an error response.
const TAG: u8 = 2;

/// Why there is no value; the numbers are the ABI's.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum Code {
    /// The input is not of the operator's language, a wrong number or type of arguments included.
    Syntax = 1,
    /// The operation has no answer for this value.
    Domain = 2,
    /// A divisor is zero.
    DivisionByZero = 3,
    /// A field is outside its calendar or clock range.
    Range = 4,
    /// The input has more bytes than `max_input_bytes`.
    TooLong = 5,
    /// Constructs nest deeper than `max_depth`.
    TooDeep = 6,
    /// An intermediate value or the result is over its limit.
    TooLarge = 7,
    /// A known name that this operator leaves out on purpose.
    Unsupported = 8,
}

/// A typed error. The message never echoes the input: the host appends the piece where policy allows.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Error {
    /// Why.
    pub code: Code,
    /// Byte offset into the raw input.
    pub offset: usize,
    /// Bytes of the offending piece at `offset`: at most [`PIECE_BYTES`], on character boundaries.
    pub piece: usize,
    /// What is wrong and what would be right, at most [`MESSAGE_BYTES`] bytes.
    pub message: Cow<'static, str>,
}

impl Error {
    /// An error at a byte offset, without a piece.
    #[must_use]
    pub fn new(code: Code, offset: usize, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            offset,
            piece: 0,
            message: message.into(),
        }
    }

    /// A `syntax` error at a byte offset, without a piece.
    #[must_use]
    pub fn syntax(offset: usize, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::Syntax, offset, message)
    }

    /// The same error, pointing at the input from its offset up to `end`, as much of it as fits a piece.
    ///
    /// Where the input is no UTF-8 there, the piece ends before the first bad byte.
    #[must_use]
    pub fn piece(mut self, input: &[u8], end: usize) -> Self {
        let end = end.min(input.len()).min(self.offset.saturating_add(PIECE_BYTES));
        let piece = input.get(self.offset..end).unwrap_or(&[]);
        self.piece = match core::str::from_utf8(piece) {
            Ok(text) => text.len(),
            Err(error) => error.valid_up_to(),
        };
        self
    }

    /// The response that the host reads.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut cut = self.message.len().min(MESSAGE_BYTES);
        while !self.message.is_char_boundary(cut) {
            cut -= 1;
        }
        let mut bytes = Vec::with_capacity(7 + cut);
        bytes.push(TAG);
        bytes.push(self.code as u8);
        bytes.extend_from_slice(&(self.offset as u32).to_le_bytes());
        bytes.push(self.piece.min(PIECE_BYTES) as u8);
        bytes.extend_from_slice(self.message[..cut].as_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    #[test]
    fn an_error_is_encoded_as_code_offset_piece_and_message() {
        let error = Error::new(Code::TooLarge, 0x0102, "big").piece(&[b'a'; 0x0110], 0x0105);
        assert_eq!(error.encode(), [2, 7, 2, 1, 0, 0, 3, b'b', b'i', b'g']);
    }

    #[test]
    fn a_piece_is_cut_to_whole_characters_within_32_bytes() {
        let input = "é".repeat(40);
        assert_eq!(Error::syntax(0, "").piece(input.as_bytes(), 80).piece, 32);
        let shifted = alloc::format!("a{}", input);
        assert_eq!(Error::syntax(0, "").piece(shifted.as_bytes(), 81).piece, 31);
        assert_eq!(Error::syntax(1, "").piece(b"a\xff", 2).piece, 0);
        assert_eq!(Error::syntax(9, "").piece(b"a", 12).piece, 0);
    }

    #[test]
    fn a_long_message_is_cut_on_a_character_boundary() {
        let message: String = "€".repeat(100);
        assert_eq!(Error::syntax(0, message).encode().len(), 7 + 198);
    }
}
