//! Decimal digits in and out.

use alloc::vec::Vec;

use super::{kernel, Nat};

/// Digits that go through one limb at a time.
const CHUNK: usize = 9;

/// 10 to the power of `CHUNK`.
const CHUNK_POWER: u32 = 1_000_000_000;

/// Powers of ten of one limb.
const POWERS: [u32; CHUNK + 1] = [
    1,
    10,
    100,
    1000,
    10_000,
    100_000,
    1_000_000,
    10_000_000,
    100_000_000,
    CHUNK_POWER,
];

impl Nat {
    /// The number that ASCII digits spell; none spell 0.
    pub fn from_digits(digits: impl Iterator<Item = u8>) -> Self {
        let mut number = Self::zero();
        let (mut chunk, mut length) = (0, 0);
        for digit in digits {
            chunk = chunk * 10 + u32::from(digit - b'0');
            length += 1;
            if length == CHUNK {
                number.mul_add_small(CHUNK_POWER, chunk);
                chunk = 0;
                length = 0;
            }
        }
        if length > 0 {
            number.mul_add_small(POWERS[length], chunk);
        }
        number
    }

    /// The decimal digits in ASCII; `0` for 0.
    pub fn to_digits(&self) -> Vec<u8> {
        let mut rest = self.clone();
        // 32 bits are less than ten digits.
        let mut digits = Vec::with_capacity(10 * rest.limbs.len() + 1);
        while !rest.is_zero() {
            let mut chunk = rest.div_small(CHUNK_POWER);
            for _ in 0..CHUNK {
                digits.push(b'0' + (chunk % 10) as u8);
                chunk /= 10;
            }
        }
        while digits.last() == Some(&b'0') {
            digits.pop();
        }
        if digits.is_empty() {
            digits.push(b'0');
        }
        digits.reverse();
        digits
    }

    /// How often 5 divides it, up to `most`, and the value without these factors; it is not 0.
    pub fn without_fives(self, most: u32) -> (u32, Self) {
        if most == 0 || kernel::rem_small(&self.limbs, 5) != 0 {
            return (0, self);
        }
        let fives = self.multiplicity(5, most.min(self.bits() / 2));
        (fives, self.div(&Self::from(5).pow(fives)))
    }

    /// The number of decimal digits; 1 for 0.
    pub fn digit_count(&self) -> u32 {
        // log10(2) is a little more than 1233 / 4096, so that this is the count or, seldom, one less.
        let mut count = ((self.bits().saturating_sub(1) * 1233) >> 12) + 1;
        let mut power = Self::power_of_ten(count);
        while power <= *self {
            power = power.mul_small(10);
            count += 1;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nat::tests::samples;

    #[test]
    fn digits_survive_the_way_out_and_in() {
        for number in samples() {
            let digits = number.to_digits();
            assert_eq!(digits.len() as u32, number.digit_count());
            assert_eq!(Nat::from_digits(digits.into_iter()), number);
        }
    }

    #[test]
    fn powers_of_ten_have_one_digit_more_than_the_number_below() {
        for exponent in 1..1100 {
            let power = Nat::power_of_ten(exponent);
            assert_eq!(power.digit_count(), exponent + 1);
            assert_eq!(power.to_digits().len() as u32, exponent + 1);
            assert_eq!(power.sub(&Nat::one()).digit_count(), exponent);
        }
        assert_eq!(Nat::zero().to_digits(), b"0");
        assert_eq!(Nat::from_digits(b"000000000000".iter().copied()), Nat::zero());
    }

    #[test]
    fn factors_of_five_are_taken_out_up_to_the_number_asked_for() {
        for fives in [0, 1, 12, 13, 14, 25, 26, 38, 39, 40, 100, 700] {
            let number = Nat::from(5).pow(fives).mul_small(7 * 16);
            assert_eq!(number.clone().without_fives(u32::MAX), (fives, Nat::from(7 * 16)));
            for most in [0, 5, 12, 13, 14, 38, 39, 90, 600] {
                let (taken, rest) = number.clone().without_fives(most);
                assert_eq!(taken, fives.min(most));
                assert_eq!(rest.mul(&Nat::from(5).pow(taken)), number);
            }
        }
    }
}
