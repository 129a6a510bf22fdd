//! The response of a value, written in place.

use alloc::vec::Vec;

use crate::{Code, Error};

/// Byte 0 of a value that its text equals.
const EXACT: u8 = 0;

/// Byte 0 of a value that was rounded.
const ROUNDED: u8 = 1;

/// The text of a value as it is written, and whether it is exact.
#[derive(Debug)]
pub struct Response {
    bytes: Vec<u8>,
}

impl Response {
    /// An empty, exact text.
    #[must_use]
    #[allow(clippy::new_without_default)] // an empty response is a step, not a value to default to
    pub fn new() -> Self {
        // 64 bytes hold the usual result, so that the buffer does not move while it is written.
        let mut bytes = Vec::with_capacity(64);
        bytes.push(EXACT);
        Self { bytes }
    }

    /// States that the text is not the value itself, or that a rounding came before it.
    pub fn mark_rounded(&mut self) {
        self.bytes[0] = ROUNDED;
    }

    /// Whether the text equals the value.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.bytes[0] == EXACT
    }

    /// Appends a text.
    pub fn push_str(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// Appends a character.
    pub fn push(&mut self, character: char) {
        let mut buffer = [0; 4];
        self.push_str(character.encode_utf8(&mut buffer));
    }

    /// Appends an unsigned integer in decimal.
    pub fn push_u64(&mut self, mut number: u64) {
        let start = self.bytes.len();
        loop {
            self.bytes.push(b'0' + (number % 10) as u8);
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self.bytes[start..].reverse();
    }

    /// Appends an unsigned integer in decimal, with zeros before it up to `width` digits.
    pub fn push_padded(&mut self, number: u64, width: usize) {
        let start = self.bytes.len();
        self.push_u64(number);
        let missing = width.saturating_sub(self.bytes.len() - start);
        self.bytes.extend(core::iter::repeat(b'0').take(missing));
        self.bytes[start..].rotate_right(missing);
    }

    /// Bytes of the text so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len() - 1
    }

    /// Whether the text is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The text so far, as bytes.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.bytes[1..]
    }

    /// Refuses a text of `length` bytes where the limit is less; to be called before the text is made.
    ///
    /// # Errors
    /// `too_large`, at the start of the input.
    pub fn check_size(length: usize, limit: u32) -> Result<(), Error> {
        if length <= limit as usize {
            return Ok(());
        }
        Err(Error::new(
            Code::TooLarge,
            0,
            "the result has more bytes than max_result_bytes",
        ))
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_text_follow_the_tag_byte() {
        let mut response = Response::new();
        response.push_str("é=");
        response.push_u64(u64::MAX);
        response.push('€');
        response.push_padded(7, 3);
        response.push_padded(1234, 3);
        assert_eq!(response.text(), "é=18446744073709551615€0071234".as_bytes());
        response.mark_rounded();
        assert_eq!(response.into_bytes()[..2], [1, 0xc3]);
    }

    #[test]
    fn a_result_of_exactly_the_limit_fits() {
        assert!(Response::check_size(4, 4).is_ok());
        assert_eq!(Response::check_size(5, 4).unwrap_err().code, Code::TooLarge);
    }
}
