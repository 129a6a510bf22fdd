//! roman/1: decimal numbers as Roman numerals, and Roman numerals as decimal numbers, from 1 to 3999.
//!
//! The specification is `../README.md`; the evaluators in C and WAT beside this one answer the same.

#![no_std]
#![deny(unsafe_code)]
#![warn(missing_docs)]

extern crate alloc;

#[allow(unsafe_code)]
mod abi;

use alloc::string::{String, ToString};

pub use crate::abi::{Code, Error, Request, Value};

/// Where `max_input_bytes` is among the options of `manifest.json`.
const MAX_INPUT_BYTES: usize = 0;

/// The largest number that has a numeral in standard form.
const LARGEST: u32 = 3999;

/// The letters for 1, 5 and 10 of each decimal place. Thousands have only the first.
const PLACES: [(u32, &[u8]); 4] = [(1000, b"M"), (100, b"CDM"), (10, b"XLC"), (1, b"IVX")];

/// Which of a place's letters make each digit.
const DIGITS: [&[usize]; 10] = [
    &[],
    &[0],
    &[0, 0],
    &[0, 0, 0],
    &[0, 1],
    &[1],
    &[1, 0],
    &[1, 0, 0],
    &[1, 0, 0, 0],
    &[0, 2],
];

/// Answers one span.
///
/// # Errors
/// `too_long`; `syntax`, at the first byte that cannot be there; `range`, at the number.
pub fn evaluate(request: &Request<'_>) -> Result<Value, Error> {
    request.check_length(request.options[MAX_INPUT_BYTES])?;
    let input = request.input;
    let start = after_space(input, 0);
    let is_decimal = input.get(start).map_or(false, u8::is_ascii_digit);
    let (number, end) = if is_decimal {
        decimal(input, start)?
    } else {
        roman(input, start)
    };
    if end == start {
        return Err(unexpected(
            input,
            start,
            "expected a decimal number or a Roman numeral in capitals",
        ));
    }
    let rest = after_space(input, end);
    if rest < input.len() {
        return Err(unexpected(
            input,
            rest,
            "expected the end, after one number or one numeral in standard form",
        ));
    }
    if !is_decimal {
        return Ok(Value::exact(number.to_string()));
    }
    if !(1..=LARGEST).contains(&number) {
        return Err(
            Error::new(Code::Range, start, "Roman numerals go from 1 to 3999").piece(input, end),
        );
    }
    Ok(Value::exact(numeral(number)))
}

/// The number at `start` and the offset after it; beyond `LARGEST` it is only known to be too large.
fn decimal(input: &[u8], start: usize) -> Result<(u32, usize), Error> {
    let mut number = 0;
    let mut end = start;
    while let Some(digit) = input.get(end).filter(|byte| byte.is_ascii_digit()) {
        number = (number * 10 + u32::from(digit - b'0')).min(LARGEST + 1);
        end += 1;
    }
    if input[start] == b'0' && end - start > 1 {
        return Err(Error::new(
            Code::Syntax,
            start,
            "write the number without leading zeros",
        )
        .piece(input, end));
    }
    Ok((number, end))
}

/// The value of the longest numeral in standard form at `start`, and the offset after it.
fn roman(input: &[u8], start: usize) -> (u32, usize) {
    let mut at = start;
    let mut number = 0;
    for (value, letters) in PLACES {
        let is = |at: usize, letter: usize| {
            input.get(at).is_some() && input.get(at) == letters.get(letter)
        };
        let mut digit = 0;
        if is(at, 0) && is(at + 1, 1) {
            digit = 4;
            at += 2;
        } else if is(at, 0) && is(at + 1, 2) {
            digit = 9;
            at += 2;
        } else {
            if is(at, 1) {
                digit = 5;
                at += 1;
            }
            let ones = (0..3).take_while(|ones| is(at + ones, 0)).count();
            digit += ones as u32;
            at += ones;
        }
        number += digit * value;
    }
    (number, at)
}

/// The numeral of a number from 1 to `LARGEST`.
fn numeral(number: u32) -> String {
    let mut text = String::new();
    for (value, letters) in PLACES {
        let digit = number / value % 10;
        text.extend(
            DIGITS[digit as usize]
                .iter()
                .map(|&letter| char::from(letters[letter])),
        );
    }
    text
}

/// A byte that cannot be there; it is quoted where it is ASCII.
fn unexpected(input: &[u8], at: usize, message: &'static str) -> Error {
    let ascii = input.get(at).map_or(false, u8::is_ascii);
    Error::new(Code::Syntax, at, message).piece(input, at + usize::from(ascii))
}

fn after_space(input: &[u8], at: usize) -> usize {
    let space = input[at..]
        .iter()
        .take_while(|byte| b" \t\r\n".contains(byte));
    at + space.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(input: &str) -> Result<Value, Error> {
        evaluate(&Request {
            options: &[64],
            input: input.as_bytes(),
        })
    }

    fn error_of(input: &str) -> (Code, usize, usize) {
        let error = ask(input).unwrap_err();
        (error.code, error.offset, error.piece)
    }

    #[test]
    fn every_number_survives_the_way_there_and_back() {
        for number in 1..=LARGEST {
            let text = numeral(number);
            assert_eq!(ask(&text), Ok(Value::exact(number.to_string())), "{}", text);
            assert_eq!(ask(&number.to_string()), Ok(Value::exact(text)));
        }
    }

    #[test]
    fn only_the_standard_form_is_a_numeral() {
        assert_eq!(error_of("IIII"), (Code::Syntax, 3, 1));
        assert_eq!(error_of("IC"), (Code::Syntax, 1, 1));
        assert_eq!(error_of("MMMM"), (Code::Syntax, 3, 1));
        assert_eq!(error_of("ix"), (Code::Syntax, 0, 1));
    }

    #[test]
    fn a_number_without_a_numeral_is_out_of_range_once_the_rest_is_right() {
        assert_eq!(error_of(" 4000 "), (Code::Range, 1, 4));
        assert_eq!(error_of("0"), (Code::Range, 0, 1));
        assert_eq!(error_of("4000 x"), (Code::Syntax, 5, 1));
    }
}
