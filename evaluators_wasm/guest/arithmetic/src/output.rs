//! The text of a value.

use alloc::vec::Vec;
use core::cmp::Ordering;

use evalspan_abi::Response;

use crate::machine::Value;
use crate::nat::Nat;
use crate::rational::{Fraction, Rational, Rounding};

/// The most fractional digits of an exact decimal that is written in full.
const FULL_DIGITS: u32 = 30;

/// Writes a value: in full where it is exact and short enough, else rounded to `precision` significant
/// digits but never left of the point.
pub fn write(value: Value, precision: u32, response: &mut Response) {
    let Value { number, inexact } = value;
    if inexact {
        response.mark_rounded();
    }
    if let (Rational::Small { num, den: 1 }, false) = (&number, inexact) {
        if *num < 0 {
            response.push_str("-");
        }
        response.push_u64(num.unsigned_abs());
        return;
    }
    let number = number.settled();
    let full = if inexact { None } else { full_digits(&number) };
    let negative = number.is_negative();
    let Decimal {
        digits,
        places,
        exact,
    } = short_decimal(&number, full, precision).unwrap_or_else(|| long_decimal(number, full, precision));
    if !exact {
        response.mark_rounded();
    }
    if negative && digits.iter().any(|digit| *digit != b'0') {
        response.push_str("-");
    }
    write_decimal(&digits, places as usize, response);
}

/// The magnitude of a rounded value.
struct Decimal {
    digits: Vec<u8>,
    /// How many of the digits are fractional.
    places: u32,
    /// Whether this is the value itself.
    exact: bool,
}

/// The decimal of a value in lowest terms.
fn long_decimal(number: Rational, full: Option<u32>, precision: u32) -> Decimal {
    let Fraction {
        negative, num, den, ..
    } = number.into_fraction();
    let places = full.unwrap_or_else(|| places_for(magnitude(&num, &den), precision));
    let scaled = if places == 0 {
        num
    } else {
        num.mul(&Nat::power_of_ten(places))
    };
    let rounded = scaled.div_rounded(&den, negative, Rounding::HalfEven);
    Decimal {
        digits: rounded.to_digits(),
        places,
        exact: rounded.mul(&den) == scaled,
    }
}

/// The same in words, where they are large enough.
fn short_decimal(number: &Rational, full: Option<u32>, precision: u32) -> Option<Decimal> {
    let (num, den) = match number {
        Rational::Small { num, den } => (num.unsigned_abs(), *den as u64),
        Rational::Big(_) => return None,
    };
    let places = match full {
        Some(places) => places,
        None => places_for(magnitude_of_words(num, den)?, precision),
    };
    let scaled = 10_u64.checked_pow(places)?.checked_mul(num)?;
    let (quotient, rest) = (scaled / den, scaled % den);
    // Neither is over i64::MAX: a denominator never is, and a remainder is below it.
    let up = match (2 * rest).cmp(&den) {
        Ordering::Less => 0,
        Ordering::Equal => quotient & 1,
        Ordering::Greater => 1,
    };
    let mut left = quotient + up;
    let mut digits = Vec::with_capacity(20);
    while left > 0 {
        digits.push(b'0' + (left % 10) as u8);
        left /= 10;
    }
    digits.reverse();
    Some(Decimal {
        digits,
        places,
        exact: rest == 0,
    })
}

/// The number of fractional digits of a value that is written in full.
fn full_digits(number: &Rational) -> Option<u32> {
    // 10^30, the largest denominator of such a value, has 100 bits.
    match number {
        Rational::Big(fraction) if fraction.den.bits() > 100 => None,
        _ => number.fractional_digits().filter(|digits| *digits <= FULL_DIGITS),
    }
}

/// How many fractional digits a value rounded to `precision` digits keeps, by its magnitude.
fn places_for(magnitude: i64, precision: u32) -> u32 {
    (i64::from(precision) - 1 - magnitude).max(0) as u32
}

/// The integer e with 10^e <= n/d < 10^(e + 1); any for 0, which has no digits to keep.
fn magnitude(num: &Nat, den: &Nat) -> i64 {
    if num.is_zero() {
        return i64::MAX;
    }
    let above = i64::from(num.digit_count()) - i64::from(den.digit_count());
    let power = Nat::power_of_ten(above.unsigned_abs() as u32);
    let reached = if above >= 0 {
        *num >= den.mul(&power)
    } else {
        num.mul(&power) >= *den
    };
    if reached {
        above
    } else {
        above - 1
    }
}

/// The same for words; `None` where they do not hold what has to be compared.
fn magnitude_of_words(num: u64, den: u64) -> Option<i64> {
    if num == 0 {
        return Some(i64::MAX);
    }
    let mut magnitude = 0;
    let mut quotient = num / den;
    while quotient >= 10 {
        quotient /= 10;
        magnitude += 1;
    }
    let mut scaled = num;
    while scaled < den {
        scaled = scaled.checked_mul(10)?;
        magnitude -= 1;
    }
    Some(magnitude)
}

/// Writes digits with a point `places` from the right, without trailing zeros after it.
fn write_decimal(digits: &[u8], places: usize, response: &mut Response) {
    let mut padded = Vec::new();
    // At least one digit stands left of the point.
    padded.resize((places + 1).saturating_sub(digits.len()), b'0');
    padded.extend_from_slice(digits);
    let (whole, fraction) = padded.split_at(padded.len() - places);
    let kept = fraction
        .iter()
        .rposition(|digit| *digit != b'0')
        .map_or(0, |last| last + 1);
    for part in [whole, &fraction[..kept]] {
        if !core::ptr::eq(part, whole) && kept > 0 {
            response.push_str(".");
        }
        response.push_str(core::str::from_utf8(part).unwrap_or(""));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_large_numbers_round_alike() {
        let mut compared = 0;
        for num in [0, 1, 2, 5, 25, 333, 99_995, 1_000_000_007, -7, -10_005] {
            for den in [2, 3, 7, 8, 40, 1000, 999_999, 1 << 40] {
                for precision in [1, 2, 5, 15, 17] {
                    let number = Rational::reduced_words(num, den);
                    for full in [None, full_digits(&number)] {
                        if let Some(short) = short_decimal(&number, full, precision) {
                            let long = long_decimal(number.clone(), full, precision);
                            let text = |decimal: &Decimal| {
                                let mut response = Response::new();
                                write_decimal(&decimal.digits, decimal.places as usize, &mut response);
                                response.text().to_vec()
                            };
                            assert_eq!(text(&short), text(&long), "{}/{} to {}", num, den, precision);
                            assert_eq!(short.exact, long.exact);
                            compared += 1;
                        }
                    }
                }
            }
        }
        assert!(compared > 500);
    }
}
