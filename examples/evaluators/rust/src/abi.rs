//! ABI 1 of evalspan: the bytes between the host and this module. Not specific to any evaluator; nothing to edit.
//!
//! The host writes the options and the input at `evalspan_request`, calls `evalspan_evaluate`, and reads the
//! response from memory. Each evaluation has fresh memory, so that nothing needs to be freed.

// Only for its handlers of panics and of failed allocations, both of which end in a trap. The module itself is
// without the standard library: there is no clock, file or thread that it could use.
extern crate std;

use alloc::borrow::Cow;
use alloc::vec::Vec;

/// Most bytes of the input that an error points at.
const PIECE_BYTES: usize = 32;

/// Most bytes of a message.
const MESSAGE_BYTES: usize = 200;

/// What one evaluation is asked.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The values of the options, in the order of `manifest.json`.
    pub options: &'a [u32],
    /// The bytes inside the span; whether they are UTF-8 is not checked.
    pub input: &'a [u8],
}

impl Request<'_> {
    /// Refuses an input of more than `limit` bytes.
    ///
    /// # Errors
    /// `too_long`, at the first byte too many.
    pub fn check_length(&self, limit: u32) -> Result<(), Error> {
        let limit = limit as usize;
        if self.input.len() > limit {
            return Err(Error::new(
                Code::TooLong,
                limit,
                "the input is longer than max_input_bytes",
            ));
        }
        Ok(())
    }
}

/// A result.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Value {
    text: Cow<'static, str>,
    exact: bool,
}

#[allow(dead_code)] // an evaluator that never rounds uses one of the two
impl Value {
    /// A text that is the value itself.
    pub fn exact(text: impl Into<Cow<'static, str>>) -> Self {
        Self {
            text: text.into(),
            exact: true,
        }
    }

    /// A text that is the value rounded, or a value that was computed from a rounded one.
    pub fn rounded(text: impl Into<Cow<'static, str>>) -> Self {
        Self {
            text: text.into(),
            exact: false,
        }
    }
}

/// Why there is no value. The numbers are the ABI's.
#[allow(dead_code)] // few evaluators need all of them
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum Code {
    /// The input is not of the evaluator's language.
    Syntax = 1,
    /// There is no answer for this value.
    Domain = 2,
    /// A divisor is zero.
    DivisionByZero = 3,
    /// A number is outside the range that has a meaning.
    Range = 4,
    /// The input has more bytes than `max_input_bytes`.
    TooLong = 5,
    /// The input nests deeper than `max_depth`.
    TooDeep = 6,
    /// A value on the way, or the result, is over its limit.
    TooLarge = 7,
    /// A known name that is left out on purpose.
    Unsupported = 8,
}

/// A typed error: why, where, and which piece of the input.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Error {
    /// Why.
    pub code: Code,
    /// Byte offset into the input.
    pub offset: usize,
    /// Bytes of the offending piece at that offset, 0 for none.
    pub piece: usize,
    /// What would be right. It never repeats the input: the host adds the piece where its policy allows.
    pub message: Cow<'static, str>,
}

impl Error {
    /// An error at a byte offset, without a piece.
    pub fn new(code: Code, offset: usize, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            offset,
            piece: 0,
            message: message.into(),
        }
    }

    /// The same error about the input from its offset to `end`: whole characters, at most 32 bytes of them.
    ///
    /// A character that begins before `end` is taken whole; bytes that are no UTF-8 are left out.
    pub fn piece(mut self, input: &[u8], end: usize) -> Self {
        let rest = input.get(self.offset..).unwrap_or(&[]);
        let rest = &rest[..rest.len().min(PIECE_BYTES)];
        let valid = match core::str::from_utf8(rest) {
            Ok(text) => text,
            Err(error) => core::str::from_utf8(&rest[..error.valid_up_to()]).unwrap_or(""),
        };
        let wanted = end.saturating_sub(self.offset);
        let characters = valid
            .char_indices()
            .take_while(|&(start, _)| start < wanted);
        let ends = characters.map(|(start, character)| start + character.len_utf8());
        self.piece = ends.last().unwrap_or(0);
        self
    }
}

/// The bytes of a response, as docs/abi.md has them.
#[cfg_attr(not(target_arch = "wasm32"), allow(dead_code))]
fn response(answer: Result<Value, Error>) -> Vec<u8> {
    let mut bytes = Vec::new();
    match answer {
        Ok(value) => {
            bytes.push(u8::from(!value.exact));
            bytes.extend_from_slice(value.text.as_bytes());
        }
        Err(error) => {
            let mut length = error.message.len().min(MESSAGE_BYTES);
            while !error.message.is_char_boundary(length) {
                length -= 1;
            }
            bytes.extend_from_slice(&[2, error.code as u8]);
            bytes.extend_from_slice(&(error.offset as u32).to_le_bytes());
            bytes.push(error.piece as u8);
            bytes.extend_from_slice(&error.message.as_bytes()[..length]);
        }
    }
    bytes
}

#[cfg(target_arch = "wasm32")]
mod exports {
    use core::cell::UnsafeCell;

    use super::Request;

    const MANIFEST: &[u8] = include_bytes!("../manifest.json");
    const REQUEST_BYTES: usize = super::manifest::number_of(MANIFEST, b"\"request_bytes\"");
    const OPTIONS: usize = super::manifest::count_of(MANIFEST, b"\"default\"");

    #[link_section = "evalspan"]
    #[used]
    static SECTION: [u8; MANIFEST.len()] = *include_bytes!("../manifest.json");

    /// What the host writes a request to.
    #[repr(C, align(4))]
    pub struct Buffer(UnsafeCell<[u8; REQUEST_BYTES]>);

    // SAFETY: a module has one thread, and the host writes only between calls.
    unsafe impl Sync for Buffer {}

    #[export_name = "evalspan_request"]
    pub static REQUEST: Buffer = Buffer(UnsafeCell::new([0; REQUEST_BYTES]));

    /// Evaluates the request, whose input has `length` bytes; answers `length << 32 | address` of the response.
    #[export_name = "evalspan_evaluate"]
    pub extern "C" fn evaluate(length: u32) -> u64 {
        // SAFETY: nothing in this module writes the buffer, and the host does so only between calls.
        let buffer = unsafe { &*REQUEST.0.get() };
        let (words, input) = buffer.split_at(4 * OPTIONS);
        let mut options = [0; OPTIONS];
        for (option, word) in options.iter_mut().zip(words.chunks_exact(4)) {
            *option = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
        }
        let answer = crate::evaluate(&Request {
            options: &options,
            input: &input[..length as usize],
        });
        let bytes = super::response(answer).leak();
        (bytes.len() as u64) << 32 | bytes.as_ptr() as u64
    }
}

/// Reads `manifest.json` at compile time, so that its numbers stand in one place.
#[cfg_attr(not(target_arch = "wasm32"), allow(dead_code))]
mod manifest {
    /// The number that follows a key, which is written with its quotes.
    pub const fn number_of(json: &[u8], key: &[u8]) -> usize {
        let mut at = 0;
        while at < json.len() {
            if let Some(mut digit) = after_key(json, at, key) {
                let mut value = 0;
                while digit < json.len() && json[digit].is_ascii_digit() {
                    value = value * 10 + (json[digit] - b'0') as usize;
                    digit += 1;
                }
                return value;
            }
            at += 1;
        }
        panic!("manifest.json lacks a key")
    }

    /// How often a key is there.
    pub const fn count_of(json: &[u8], key: &[u8]) -> usize {
        let mut count = 0;
        let mut at = 0;
        while at < json.len() {
            if after_key(json, at, key).is_some() {
                count += 1;
            }
            at += 1;
        }
        count
    }

    /// Where the value of the key at `at` begins; `None` where there is no such key.
    const fn after_key(json: &[u8], at: usize, key: &[u8]) -> Option<usize> {
        let mut i = 0;
        while i < key.len() {
            if at + i >= json.len() || json[at + i] != key[i] {
                return None;
            }
            i += 1;
        }
        let mut at = after_space(json, at + i);
        if at >= json.len() || json[at] != b':' {
            return None; // a string of that text, but no key
        }
        at = after_space(json, at + 1);
        Some(at)
    }

    const fn after_space(json: &[u8], mut at: usize) -> usize {
        while at < json.len() && json[at].is_ascii_whitespace() {
            at += 1;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_a_byte_and_its_text() {
        assert_eq!(response(Ok(Value::exact("42"))), b"\x0042");
        assert_eq!(response(Ok(Value::rounded("0.3"))), b"\x010.3");
    }

    #[test]
    fn an_error_is_its_code_offset_piece_and_message() {
        let error = Error::new(Code::Range, 0x0102, "big").piece(&[b'9'; 0x0110], 0x0105);
        assert_eq!(
            response(Err(error)),
            [2, 4, 2, 1, 0, 0, 3, b'b', b'i', b'g']
        );
    }

    #[test]
    fn a_message_is_cut_between_characters() {
        let error = Error::new(Code::Syntax, 0, "€".repeat(100));
        assert_eq!(response(Err(error)).len(), 7 + 198);
    }

    #[test]
    fn a_piece_has_whole_characters_and_at_most_32_bytes() {
        let piece = |input: &[u8], end| Error::new(Code::Syntax, 1, "").piece(input, end).piece;
        assert_eq!(piece("aé€".as_bytes(), 1), 0);
        assert_eq!(piece("aé€".as_bytes(), 2), 2);
        assert_eq!(piece("aé€".as_bytes(), 6), 5);
        assert_eq!(piece("aé€".as_bytes(), 9), 5);
        assert_eq!(piece(b"ab\xff", 3), 1);
        assert_eq!(piece(b"a\xff", 2), 0);
        assert_eq!(piece(b"a", 2), 0);
        assert_eq!(piece(&[b'9'; 50], 50), 32);
    }

    #[test]
    fn the_manifest_has_the_numbers() {
        let json = br#"{"request_bytes" : 520, "options": [{"name": "default", "default": 1}, {"default":2}]}"#;
        assert_eq!(manifest::number_of(json, b"\"request_bytes\""), 520);
        assert_eq!(manifest::count_of(json, b"\"default\""), 2);
    }
}
