//! The size of values: at most `max_digits` decimal digits on either side of the fraction bar.

use core::cell::RefCell;

use evalspan_abi::Code;

use crate::nat::Nat;
use crate::rational::Rational;

/// Decides whether a value is of a legal size, by its bits wherever they tell.
pub struct Limits {
    max_digits: u32,
    /// 10^`max_digits`, or more than any small value.
    word: u64,
    /// The number of bits of 10^`max_digits`.
    bits: u32,
    /// 10^`max_digits`, once the bits did not tell.
    power: RefCell<Option<Nat>>,
}

impl Limits {
    /// The limits for an option of 1 to 1,024 digits.
    pub fn new(max_digits: u32) -> Self {
        // 19 digits hold every i64.
        let word = if max_digits < 19 {
            10_u64.pow(max_digits)
        } else {
            u64::MAX
        };
        // log2(10) is 3,483,294 / 2^20 and a little more: right for all digits up to 1,024 (a test counts).
        let bits = ((max_digits * 3_483_294) >> 20) + 1;
        Self {
            max_digits,
            word,
            bits,
            power: RefCell::new(None),
        }
    }

    /// The most digits.
    pub fn max_digits(&self) -> u32 {
        self.max_digits
    }

    /// The least number of bits that a number over the limit can have: 2^`bits` is always over it.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Whether a natural number has at most `max_digits` digits.
    pub fn fits_nat(&self, number: &Nat) -> bool {
        let bits = number.bits();
        if bits != self.bits {
            return bits < self.bits;
        }
        let mut power = self.power.borrow_mut();
        *number < *power.get_or_insert_with(|| Nat::power_of_ten(self.max_digits))
    }

    /// Whether a word does.
    #[inline]
    pub fn fits_word(&self, word: i64) -> bool {
        word.unsigned_abs() < self.word
    }

    /// The value, if its size is legal. Lowest terms are sought only where the present ones are too large.
    ///
    /// # Errors
    /// `too_large`.
    #[inline]
    pub fn measured(&self, value: Rational) -> Result<Rational, Code> {
        if self.fits(&value) {
            return Ok(value);
        }
        self.measured_in_lowest_terms(value)
    }

    #[cold]
    fn measured_in_lowest_terms(&self, value: Rational) -> Result<Rational, Code> {
        let value = value.settled();
        if self.fits(&value) {
            Ok(value)
        } else {
            Err(Code::TooLarge)
        }
    }

    /// Whether the terms of a value, as they are, both do.
    #[inline]
    pub fn fits(&self, value: &Rational) -> bool {
        match value {
            Rational::Small { num, den } => self.fits_word(*num) && self.fits_word(*den),
            Rational::Big(fraction) => self.fits_nat(&fraction.num) && self.fits_nat(&fraction.den),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_of_the_power_of_ten() {
        for digits in 1..=1024 {
            assert_eq!(
                Limits::new(digits).bits(),
                Nat::power_of_ten(digits).bits(),
                "{}",
                digits
            );
        }
    }

    #[test]
    fn the_largest_legal_number_is_all_nines() {
        for digits in [1, 2, 18, 19, 20, 77, 1024] {
            let limits = Limits::new(digits);
            let power = Nat::power_of_ten(digits);
            let nines = power.clone().sub(&Nat::one());
            assert!(limits.fits_nat(&nines) && !limits.fits_nat(&power));
            assert!(limits.fits(&Rational::from_parts(true, nines, Nat::one())));
            assert!(!limits.fits(&Rational::from_parts(false, Nat::one(), power)));
        }
    }
}
