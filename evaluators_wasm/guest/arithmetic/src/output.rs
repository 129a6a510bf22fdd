//! The text of a value.

use alloc::vec::Vec;

use evalspan_abi::Response;

use crate::machine::Value;
use crate::nat::Nat;
use crate::rational::{Fraction, Rational, Rounding};

/// The most fractional digits of an exact decimal that is written in full.
const FULL_DIGITS: u32 = 30;

/// Writes a value: in full where it is exact and short enough, else rounded to `precision` significant digits but never left
/// of the point.
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
    let full = if inexact { None } else { full_digits(&number) };
    let Fraction { negative, num, den } = number.into_fraction();
    let places = full.unwrap_or_else(|| fractional_places(&num, &den, precision));
    let scaled = if places == 0 { num } else { num.mul(&Nat::power_of_ten(places)) };
    let digits = scaled.div_rounded(&den, negative, Rounding::HalfEven);
    if digits.mul(&den) != scaled {
        response.mark_rounded();
    }
    if negative && !digits.is_zero() {
        response.push_str("-");
    }
    write_decimal(&digits.to_digits(), places as usize, response);
}

/// The number of fractional digits of a value that is written in full.
fn full_digits(number: &Rational) -> Option<u32> {
    // 10^30, the largest denominator of such a value, has 100 bits.
    match number {
        Rational::Big(fraction) if fraction.den.bits() > 100 => None,
        _ => number.fractional_digits().filter(|digits| *digits <= FULL_DIGITS),
    }
}

/// How many fractional digits a rounded value keeps.
fn fractional_places(num: &Nat, den: &Nat, precision: u32) -> u32 {
    if num.is_zero() {
        return 0;
    }
    let precision = i64::from(precision);
    (precision - 1 - magnitude(num, den)).max(0) as u32
}

/// The integer e with 10^e <= n/d < 10^(e + 1).
fn magnitude(num: &Nat, den: &Nat) -> i64 {
    let above = i64::from(num.digit_count()) - i64::from(den.digit_count());
    let power = Nat::power_of_ten(above.unsigned_abs() as u32);
    let reached = if above >= 0 { *num >= den.mul(&power) } else { num.mul(&power) >= *den };
    if reached {
        above
    } else {
        above - 1
    }
}

/// Writes digits with a point `places` from the right, without trailing zeros after it.
fn write_decimal(digits: &[u8], places: usize, response: &mut Response) {
    let mut padded = Vec::new();
    // At least one digit stands left of the point.
    padded.resize((places + 1).saturating_sub(digits.len()), b'0');
    padded.extend_from_slice(digits);
    let (whole, fraction) = padded.split_at(padded.len() - places);
    let kept = fraction.iter().rposition(|digit| *digit != b'0').map_or(0, |last| last + 1);
    for part in [whole, &fraction[..kept]] {
        if !core::ptr::eq(part, whole) && kept > 0 {
            response.push_str(".");
        }
        response.push_str(core::str::from_utf8(part).unwrap_or(""));
    }
}
