//! The functions by name.

use crate::characters::Alphabet;
use crate::{adler, crc, damm, fnv, iban, luhn, md5, sha1, sha2, trade, verhoeff};

/// A function of the operator.
#[derive(Clone, Copy)]
pub(crate) enum Function {
    /// One with one argument.
    Unary(Unary),
    /// `iban_digits`, the only one with two.
    IbanDigits,
}

/// A function with one argument.
#[derive(Clone, Copy)]
pub(crate) enum Unary {
    /// `hash` writes the digest of a text to a buffer of `bytes` bytes, most significant byte first.
    Hash {
        bytes: usize,
        hash: fn(&[u8], &mut [u8]),
    },
    /// The check digit of a payload.
    Digit(Scheme),
    /// Whether a number of these characters is valid.
    Valid(Alphabet, fn(&[u8]) -> bool),
    /// The remainder on division by 97.
    Mod97,
    /// A family of functions, left out on purpose: the message names its members.
    Family(&'static str),
}

/// A check-digit scheme over the values of digits.
#[derive(Clone, Copy)]
pub(crate) struct Scheme {
    /// The check digit to write behind a payload, 10 for `X`; `None` where the payload is of a wrong form.
    pub(crate) digit: fn(&[u8]) -> Option<u8>,
    /// The form of a payload, as a message.
    pub(crate) wants: &'static str,
}

/// Whether the last value of a number is the check digit of those before it.
fn ends_with_digit(number: &[u8], digit: fn(&[u8]) -> Option<u8>) -> bool {
    match number.split_last() {
        Some((last, payload)) => digit(payload) == Some(*last),
        None => false,
    }
}

const CRC8: &str =
    "a family of CRCs, none of which is offered; use crc16_arc, crc16_modbus, crc16_ccitt_false, \
    crc16_xmodem, crc32 or crc32c instead";

const CRC16: &str =
    "a family of CRCs; use crc16_arc, crc16_modbus, crc16_ccitt_false or crc16_xmodem instead";

impl Function {
    /// The function of a name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(Self::Unary(match name {
            "crc32" => hash(4, |text, digest| {
                digest.copy_from_slice(&crc::crc32(text).to_be_bytes())
            }),
            "crc32c" => hash(4, |text, digest| {
                digest.copy_from_slice(&crc::crc32c(text).to_be_bytes())
            }),
            "crc16_arc" => hash(2, |text, digest| {
                digest.copy_from_slice(&crc::arc(text).to_be_bytes())
            }),
            "crc16_modbus" => hash(2, |text, digest| {
                digest.copy_from_slice(&crc::modbus(text).to_be_bytes())
            }),
            "crc16_ccitt_false" => hash(2, |text, digest| {
                digest.copy_from_slice(&crc::ccitt_false(text).to_be_bytes())
            }),
            "crc16_xmodem" => hash(2, |text, digest| {
                digest.copy_from_slice(&crc::xmodem(text).to_be_bytes())
            }),
            "crc8" => Unary::Family(CRC8),
            "crc16" => Unary::Family(CRC16),
            "adler32" => hash(4, |text, digest| {
                digest.copy_from_slice(&adler::adler32(text).to_be_bytes())
            }),
            "fnv1a32" => hash(4, |text, digest| {
                digest.copy_from_slice(&fnv::fnv1a32(text).to_be_bytes())
            }),
            "fnv1a64" => hash(8, |text, digest| {
                digest.copy_from_slice(&fnv::fnv1a64(text).to_be_bytes())
            }),
            "md5" => hash(16, md5::md5),
            "sha1" => hash(20, sha1::sha1),
            "sha256" => hash(32, sha2::sha256),
            "sha512" => hash(64, sha2::sha512),
            "luhn_digit" => digit(luhn::digit, "expected one or more digits"),
            "luhn_valid" => digits_valid(|number| ends_with_digit(number, luhn::digit)),
            "verhoeff_digit" => digit(verhoeff::digit, "expected one or more digits"),
            "verhoeff_valid" => digits_valid(|number| ends_with_digit(number, verhoeff::digit)),
            "damm_digit" => digit(damm::digit, "expected one or more digits"),
            "damm_valid" => digits_valid(|number| ends_with_digit(number, damm::digit)),
            "isbn10_digit" => digit(
                trade::isbn10_digit,
                "an ISBN-10 has 9 digits before its check digit",
            ),
            "isbn10_valid" => Unary::Valid(Alphabet::DigitsAndX, |number| {
                ends_with_digit(number, trade::isbn10_digit)
            }),
            "isbn13_digit" => digit(
                trade::isbn13_digit,
                "an ISBN-13 has 12 digits before its check digit, from 978 or 979 on",
            ),
            "isbn13_valid" => digits_valid(|number| ends_with_digit(number, trade::isbn13_digit)),
            "ean13_digit" => digit(
                trade::ean13_digit,
                "an EAN-13 has 12 digits before its check digit",
            ),
            "ean13_valid" => digits_valid(|number| ends_with_digit(number, trade::ean13_digit)),
            "iban_digits" => return Some(Self::IbanDigits),
            "iban_valid" => Unary::Valid(Alphabet::LettersAndDigits, iban::is_valid),
            "mod97" => Unary::Mod97,
            _ => return None,
        }))
    }
}

fn hash(bytes: usize, hash: fn(&[u8], &mut [u8])) -> Unary {
    Unary::Hash { bytes, hash }
}

fn digit(digit: fn(&[u8]) -> Option<u8>, wants: &'static str) -> Unary {
    Unary::Digit(Scheme { digit, wants })
}

fn digits_valid(valid: fn(&[u8]) -> bool) -> Unary {
    Unary::Valid(Alphabet::Digits, valid)
}
