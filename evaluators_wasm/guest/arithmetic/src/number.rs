//! Number literals: their syntax, what to say where it is broken, and their value.

use evalspan_abi::{Code, Error};
use evalspan_syntax::Cursor;

use crate::limits::Limits;
use crate::nat::Nat;
use crate::rational::Rational;

/// Digits that always fit in an `i64`.
const WORD_DIGITS: usize = 18;

/// Consumes the literal that begins at the cursor with a digit or a point.
///
/// # Errors
/// `syntax` at its first byte, where the word that begins there is no literal.
#[inline]
pub fn scan(cursor: &mut Cursor<'_>) -> Result<(), Error> {
    let start = cursor.at();
    if scan_literal(cursor) && !cursor.peek().map_or(false, continues_word) {
        return Ok(());
    }
    cursor.go_to(start);
    Err(broken(*cursor))
}

fn continues_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.'
}

fn scan_literal(cursor: &mut Cursor<'_>) -> bool {
    if !cursor.eat(b'0') && cursor.skip_digits() == 0 && cursor.peek() != Some(b'.') {
        return false;
    }
    if cursor.eat(b'.') && cursor.skip_digits() == 0 {
        return false;
    }
    if cursor.eat(b'e') || cursor.eat(b'E') {
        let _ = cursor.eat(b'+') || cursor.eat(b'-');
        return cursor.skip_digits() > 0;
    }
    true
}

/// The error of a word that is no literal.
#[cold]
fn broken(cursor: Cursor<'_>) -> Error {
    let start = cursor.at();
    let mut rest = cursor;
    let word = rest.take_while(continues_word);
    let digits = word.trim_start_matches(|character: char| character.is_ascii_digit());
    let message = if word.len() > 1 && word.starts_with('0') && word.as_bytes()[1].is_ascii_digit() {
        "no leading zeros: write 16, not 016"
    } else if word.contains('_') {
        "no separators between digits: write 1000, not 1_000"
    } else if word.starts_with('0') && digits.starts_with(['x', 'X', 'b', 'B', 'o', 'O']) {
        "decimal numbers only: write 31, not 0x1f"
    } else if word.ends_with('.') {
        "digits follow a decimal point: write 5 or 5.0, not 5."
    } else if word.ends_with(['e', 'E']) {
        "digits follow an exponent's e: write 1e3"
    } else if word.matches('.').count() > 1 {
        "a number has one decimal point"
    } else {
        "a number ends with a digit: write 2 * ... for a product"
    };
    Error::syntax(start, message).piece(cursor.input(), rest.at())
}

/// The value of a literal of a few digits and nothing else.
#[inline]
pub fn word(literal: &[u8]) -> Option<i64> {
    if literal.len() > WORD_DIGITS {
        return None;
    }
    let mut word = 0_i64;
    for byte in literal {
        if !byte.is_ascii_digit() {
            return None;
        }
        word = word * 10 + i64::from(byte - b'0');
    }
    Some(word)
}

/// The value of a literal.
///
/// # Errors
/// `too_large`, before any work on digits that cannot fit.
pub fn value(literal: &[u8], limits: &Limits) -> Result<Rational, Code> {
    if literal.len() <= WORD_DIGITS {
        if let Some(value) = short_value(literal) {
            return Ok(value);
        }
    }
    long_value(literal, limits)
}

/// The value of a literal without exponent whose digits fit a word.
fn short_value(literal: &[u8]) -> Option<Rational> {
    let mut digits = 0_i64;
    let mut unit = None;
    for byte in literal {
        match byte {
            b'.' => unit = Some(1),
            b'0'..=b'9' => {
                digits = digits * 10 + i64::from(byte - b'0');
                unit = unit.map(|unit: i64| unit * 10);
            }
            _ => return None,
        }
    }
    Some(match unit {
        None => Rational::integer(digits),
        Some(unit) => Rational::reduced_words(digits, unit),
    })
}

/// The value of any literal: its significant digits times a power of ten.
#[inline(never)]
fn long_value(literal: &[u8], limits: &Limits) -> Result<Rational, Code> {
    let end = literal
        .iter()
        .position(|byte| byte | 0x20 == b'e')
        .unwrap_or(literal.len());
    let (mantissa, exponent) = (&literal[..end], exponent(literal.get(end + 1..).unwrap_or(&[])));
    let point = mantissa.iter().position(|byte| *byte == b'.').unwrap_or(end);
    let significant = |byte: &u8| *byte != b'0' && *byte != b'.';
    let (first, last) = match (
        mantissa.iter().position(significant),
        mantissa.iter().rposition(significant),
    ) {
        (Some(first), Some(last)) => (first, last),
        _ => return Ok(Rational::integer(0)),
    };
    let digits = || {
        mantissa[first..=last]
            .iter()
            .copied()
            .filter(|byte| *byte != b'.')
    };
    let count = digits().count() as i64;
    // The place of the last significant digit, counted from the one left of the point.
    let place = if last < point { point - 1 - last } else { 0 } as i64 - last.saturating_sub(point) as i64;
    let place = place.saturating_add(exponent);
    let most = i64::from(limits.max_digits());
    if place >= 0 {
        if place.saturating_add(count) > most {
            return Err(Code::TooLarge);
        }
        let number = Nat::from_digits(digits()).mul(&Nat::power_of_ten(place as u32));
        return Ok(Rational::from_parts(false, number, Nat::one()));
    }
    let places = place.unsigned_abs();
    // The last digit is not 0, so that reducing takes out twos or fives but not both. What stays of
    // 10^places is at least 2^places, and what stays of the digits at least their number divided by
    // 5^places, which is below 10^(0.7 * places).
    let surplus = (10 * (count - 1)).saturating_sub(places.saturating_mul(7) as i64);
    if places >= u64::from(limits.bits()) || surplus >= 10 * most {
        return Err(Code::TooLarge);
    }
    Ok(Rational::decimal(
        false,
        Nat::from_digits(digits()),
        places as u32,
    ))
}

/// The value of an exponent, `[+-]` and digits; beyond a billion only its sign matters.
fn exponent(text: &[u8]) -> i64 {
    // More than any literal has digits and any limit allows.
    const FAR: i64 = 1_000_000_000;
    let negative = text.first() == Some(&b'-');
    let magnitude = text
        .iter()
        .filter(|byte| byte.is_ascii_digit())
        .fold(0_i64, |magnitude, digit| {
            (magnitude * 10 + i64::from(digit - b'0')).min(FAR)
        });
    if negative {
        -magnitude
    } else {
        magnitude
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::String;

    fn of(literal: &str) -> Result<Rational, Code> {
        value(literal.as_bytes(), &Limits::new(1024))
    }

    fn scanned(input: &str) -> Result<usize, Error> {
        let mut cursor = Cursor::new(input.as_bytes());
        scan(&mut cursor).map(|()| cursor.at())
    }

    #[test]
    fn literals_end_where_their_word_does() {
        for (input, end) in [
            ("12", 2),
            ("12.50+", 5),
            (".5)", 2),
            ("1.2e3 ", 5),
            ("0", 1),
            ("0.0", 3),
            ("0e-07,", 5),
            ("1E+9", 4),
        ] {
            assert_eq!(scanned(input).unwrap(), end, "{}", input);
        }
    }

    #[test]
    fn a_word_that_is_no_literal_is_refused_at_its_start() {
        for input in [
            "5.", "016", "00", "1_000", "0x1f", "1.2.3", "2x", "1e", "1e+", ".", ".e5", "1.e5", "1e5e3",
            "1e5.0", "1..2",
        ] {
            assert_eq!(scanned(input).unwrap_err().offset, 0, "{}", input);
        }
        assert_eq!(scanned("1_000+").unwrap_err().piece, 5);
    }

    #[test]
    fn short_and_long_literals_have_the_same_value() {
        let zeros: String = "0".repeat(30);
        for literal in [
            "0",
            "7",
            "12.50",
            ".5",
            "1.25",
            "999999999999999999",
            "0.000000000000001",
        ] {
            let (whole, fraction) = literal.split_once('.').unwrap_or((literal, ""));
            let longer = format!("{}.{}{}", whole, fraction, zeros);
            assert_eq!(of(literal), of(&longer), "{}", literal);
            assert_eq!(of(literal), of(&format!("{}e0", literal)));
            assert_eq!(
                of(literal),
                of(&format!("{}e-5", literal)).map(|v| v.mul(Rational::integer(100_000)))
            );
            assert_eq!(
                of(literal),
                of(&format!("{}e+5", literal)).map(|v| v.div(Rational::integer(100_000)))
            );
        }
    }

    #[test]
    fn size_is_that_of_the_reduced_value() {
        assert_eq!(of("1e1024"), Err(Code::TooLarge));
        assert!(of("1e1023").is_ok() && of("10e1022").is_ok());
        assert!(of("5e-1024").is_ok());
        let limits = Limits::new(1024);
        assert!(!limits.fits(&of("1e-1024").unwrap()) && limits.fits(&of("1e-1023").unwrap()));
        assert_eq!(of("1e-99999999999999999999"), Err(Code::TooLarge));
        assert_eq!(of("0e99999999999999999999"), Ok(Rational::integer(0)));
        assert_eq!(of(&format!("1.{}", "0".repeat(3000))), Ok(Rational::integer(1)));
        // 2^-3000 in full: 3,000 digits of which the value keeps none on top.
        let power = Nat::from(5).pow(3000).to_digits();
        let literal = format!(".{:0>3000}", String::from_utf8(power).unwrap());
        assert_eq!(
            of(&literal),
            Ok(Rational::from_parts(false, Nat::one(), Nat::one().shl(3000)))
        );
    }
}
