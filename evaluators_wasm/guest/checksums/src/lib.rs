//! checksums/1 (`docs/operators/checksums.md`): CRCs, digests and check digits of string literals.

#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

extern crate alloc;

mod adler;
mod blocks;
mod call;
mod characters;
mod crc;
mod damm;
mod fnv;
mod function;
mod iban;
mod luhn;
mod md5;
mod sha1;
mod sha2;
mod trade;
mod verhoeff;

use alloc::vec::Vec;

use evalspan_abi::{Code, Error, Request, Response};

use crate::call::{Call, Literal};
use crate::characters::Alphabet;
use crate::function::Unary;

evalspan_abi::evaluator! {
    manifest: include_bytes!("../manifest.json"),
    evaluate: evaluate,
}

/// The widest digest, SHA-512's, in bytes.
const MAX_DIGEST_BYTES: usize = 64;

/// Answers one call.
///
/// # Errors
/// `too_long`, `syntax`, `unsupported`, `domain`, `too_large`, as the page has them.
pub fn evaluate(request: &Request<'_>, response: &mut Response) -> Result<(), Error> {
    // The second option, max_depth, is at least 1, and a call is all that there is.
    let (max_input_bytes, max_result_bytes) = (request.options[0], request.options[2]);
    request.check_length(max_input_bytes)?;
    let input = request.input;
    match call::parse(input)? {
        Call::IbanDigits { country, account } => {
            iban_digits(input, country, account, max_result_bytes, response)
        }
        Call::Unary {
            function,
            name,
            argument,
        } => match function {
            Unary::Hash { bytes, hash } => {
                Response::check_size(2 * bytes, max_result_bytes)?;
                let mut digest = [0; MAX_DIGEST_BYTES];
                hash(argument.text.as_bytes(), &mut digest[..bytes]);
                push_hex(&digest[..bytes], response);
                Ok(())
            }
            Unary::Digit(scheme) => {
                let (start, end) = (argument.start, argument.end);
                let payload = characters(input, argument, Alphabet::Digits)?;
                let digit = (scheme.digit)(&payload)
                    .ok_or_else(|| Error::new(Code::Domain, start, scheme.wants).piece(input, end))?;
                Response::check_size(1, max_result_bytes)?;
                response.push(if digit == 10 { 'X' } else { (b'0' + digit) as char });
                Ok(())
            }
            Unary::Valid(alphabet, valid) => {
                let number = characters(input, argument, alphabet)?;
                let text = if valid(&number) { "true" } else { "false" };
                Response::check_size(text.len(), max_result_bytes)?;
                response.push_str(text);
                Ok(())
            }
            Unary::Mod97 => {
                let remainder = iban::mod97(&characters(input, argument, Alphabet::Digits)?);
                response.push_u64(u64::from(remainder));
                Response::check_size(response.len(), max_result_bytes)
            }
            Unary::Family(message) => {
                Err(Error::new(Code::Unsupported, name.start, message).piece(input, name.end))
            }
        },
    }
}

fn iban_digits(
    input: &[u8],
    country: Literal,
    account: Literal,
    max_result_bytes: u32,
    response: &mut Response,
) -> Result<(), Error> {
    let wrong_length = |start, end, message| Error::new(Code::Domain, start, message).piece(input, end);
    let (start, end) = (country.start, country.end);
    let country = characters(input, country, Alphabet::Letters)?;
    if country.len() != iban::COUNTRY {
        return Err(wrong_length(start, end, "a country has two letters"));
    }
    let (start, end) = (account.start, account.end);
    let account = characters(input, account, Alphabet::LettersAndDigits)?;
    if account.len() > iban::MAX_ACCOUNT {
        return Err(wrong_length(
            start,
            end,
            "an account number has at most 30 characters",
        ));
    }
    Response::check_size(2, max_result_bytes)?;
    response.push_padded(u64::from(iban::check_digits(&country, &account)), 2);
    Ok(())
}

/// The values of an argument's characters.
fn characters(input: &[u8], argument: Literal, alphabet: Alphabet) -> Result<Vec<u8>, Error> {
    let (start, end) = (argument.start, argument.end);
    characters::read(argument.text, alphabet)
        .ok_or_else(|| Error::new(Code::Domain, start, alphabet.wants()).piece(input, end))
}

fn push_hex(digest: &[u8], response: &mut Response) {
    let mut digits = [0; 2 * MAX_DIGEST_BYTES];
    for (pair, byte) in digits.chunks_exact_mut(2).zip(digest) {
        pair[0] = b"0123456789abcdef"[usize::from(byte >> 4)];
        pair[1] = b"0123456789abcdef"[usize::from(byte & 15)];
    }
    // ASCII, so it is always a text.
    response.push_str(core::str::from_utf8(&digits[..2 * digest.len()]).unwrap_or_default());
}

#[cfg(test)]
mod tests;
