//! @SPEC@: adds whole numbers, as in `17 + 25`.
//!
//! `evaluate` is the function to replace. The numbers are below 2^64, and so is the sum; white space is free
//! between them.

#![no_std]
#![deny(unsafe_code)]
#![warn(missing_docs)]

extern crate alloc;

#[allow(unsafe_code)]
mod abi;

use alloc::string::ToString;
use alloc::vec::Vec;
use core::ops::Range;

pub use crate::abi::{Code, Error, Request, Value};

/// Where `max_input_bytes` is among the options of `manifest.json`.
const MAX_INPUT_BYTES: usize = 0;

/// Answers one span.
///
/// # Errors
/// `too_long`; `syntax`, at the first byte that cannot be there; `too_large`, at the number that makes the sum
/// too large.
pub fn evaluate(request: &Request<'_>) -> Result<Value, Error> {
    request.check_length(request.options[MAX_INPUT_BYTES])?;
    let input = request.input;
    let mut sum: u64 = 0;
    for number in parse(input)? {
        sum = value(&input[number.clone()])
            .and_then(|value| sum.checked_add(value))
            .ok_or_else(|| {
                Error::new(Code::TooLarge, number.start, "the sum must be below 2^64")
                    .piece(input, number.end)
            })?;
    }
    Ok(Value::exact(sum.to_string()))
}

/// Where the numbers of the whole input are.
fn parse(input: &[u8]) -> Result<Vec<Range<usize>>, Error> {
    let mut numbers = Vec::new();
    let mut at = after_space(input, 0);
    loop {
        let end = after_digits(input, at);
        if end == at {
            return Err(
                Error::new(Code::Syntax, at, "expected a whole number").piece(input, at + 1)
            );
        }
        numbers.push(at..end);
        at = after_space(input, end);
        match input.get(at) {
            None => return Ok(numbers),
            Some(b'+') => at = after_space(input, at + 1),
            Some(_) => {
                return Err(
                    Error::new(Code::Syntax, at, "expected + or the end").piece(input, at + 1)
                )
            }
        }
    }
}

fn after_space(input: &[u8], at: usize) -> usize {
    let space = input[at..]
        .iter()
        .take_while(|byte| b" \t\r\n".contains(byte));
    at + space.count()
}

fn after_digits(input: &[u8], at: usize) -> usize {
    at + input[at..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count()
}

/// The value of digits, `None` from 2^64 on.
fn value(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0u64, |value, digit| {
        value.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(input: &str) -> Result<Value, Error> {
        evaluate(&Request {
            options: &[512],
            input: input.as_bytes(),
        })
    }

    fn value_of(input: &str) -> Value {
        ask(input).unwrap()
    }

    /// Code, offset and length of the offending piece.
    fn error_of(input: &str) -> (Code, usize, usize) {
        let error = ask(input).unwrap_err();
        (error.code, error.offset, error.piece)
    }

    #[test]
    fn numbers_are_added() {
        assert_eq!(value_of("17 + 25"), Value::exact("42"));
        assert_eq!(value_of(" 1+2 +\t3\n"), Value::exact("6"));
        assert_eq!(
            value_of("18446744073709551614+1"),
            Value::exact("18446744073709551615")
        );
    }

    #[test]
    fn what_is_no_sum_is_a_syntax_error_where_it_stops_being_one() {
        assert_eq!(error_of(""), (Code::Syntax, 0, 0));
        assert_eq!(error_of("17 + x"), (Code::Syntax, 5, 1));
        assert_eq!(error_of("17 25"), (Code::Syntax, 3, 1));
        assert_eq!(error_of("17 + é"), (Code::Syntax, 5, 2));
    }

    #[test]
    fn a_sum_that_does_not_fit_is_an_error_of_the_number_that_makes_it_so() {
        assert_eq!(
            error_of("1 + 18446744073709551615"),
            (Code::TooLarge, 4, 20)
        );
        assert_eq!(error_of("99999999999999999999"), (Code::TooLarge, 0, 20));
        assert_eq!(error_of("99999999999999999999 + x"), (Code::Syntax, 23, 1));
    }

    #[test]
    fn a_long_input_is_refused_before_anything_else() {
        let request = Request {
            options: &[3],
            input: b"x + 1",
        };
        assert_eq!(evaluate(&request).unwrap_err().code, Code::TooLong);
    }
}
