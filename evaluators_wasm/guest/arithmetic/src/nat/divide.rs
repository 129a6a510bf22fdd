//! Division: Knuth's algorithm D (The Art of Computer Programming, volume 2, section 4.3.1), limb by limb for
//! short quotients and in blocks of digits for long ones.

use alloc::vec::Vec;
use core::cmp::Ordering;

use super::{kernel, Factors, Nat, LIMB_BITS};

/// From this many limbs of quotient and divisor on, blocks are quicker.
const LONG: usize = 8;

impl Nat {
    /// Quotient, rounded down, and remainder; the divisor is not 0.
    pub fn div_rem(&self, divisor: &Self) -> (Self, Self) {
        if let [divisor] = *divisor.limbs.as_slice() {
            if divisor == 1 {
                return (self.clone(), Self::zero());
            }
            let mut quotient = self.clone();
            let rest = quotient.div_small(divisor);
            if rest == 0 {
                let factors = self
                    .factors()
                    .zip(Factors::of_word(divisor))
                    .map(|(factors, others)| factors.quotient(&others));
                quotient = quotient.with_factors(factors);
            }
            return (quotient, Self::from(u64::from(rest)));
        }
        match self.cmp(divisor) {
            Ordering::Less => return (Self::zero(), self.clone()),
            Ordering::Equal => return (Self::one(), Self::zero()),
            Ordering::Greater => {}
        }
        let (quotient, rest) =
            if divisor.limbs.len() >= LONG && self.limbs.len() - divisor.limbs.len() >= LONG {
                self.div_rem_in_blocks(divisor)
            } else {
                self.div_rem_by_limbs(divisor)
            };
        if rest.is_zero() {
            let factors = self
                .factors()
                .zip(divisor.factors())
                .map(|(factors, others)| factors.quotient(others));
            return (quotient.with_factors(factors), rest);
        }
        (quotient, rest)
    }

    /// The same for a divisor of two limbs or more that is less.
    fn div_rem_by_limbs(&self, divisor: &Self) -> (Self, Self) {
        // The divisor's top bit is set: then a guess from two limbs is at most 2 too large.
        let shift = divisor.limbs[divisor.limbs.len() - 1].leading_zeros();
        let divisor = divisor.shl(shift);
        let mut rest = self.shl(shift).into_limbs();
        if rest.len() == self.limbs.len() {
            rest.push(0);
        }
        let quotient = divide_normalized(&mut rest, &divisor.limbs);
        (Self::from_limbs(quotient), Self::from_limbs(rest).shr(shift))
    }

    /// The quotient, rounded down; the divisor is not 0.
    pub fn div(&self, divisor: &Self) -> Self {
        if divisor.is_one() {
            return self.clone();
        }
        self.div_rem(divisor).0
    }

    /// The remainder; the divisor is not 0.
    pub fn rem(&self, divisor: &Self) -> Self {
        match *divisor.limbs.as_slice() {
            [divisor] => Self::from(u64::from(kernel::rem_small(&self.limbs, divisor))),
            _ => self.div_rem(divisor).1,
        }
    }

    /// Divides in place by one limb, which is not 0, and returns the remainder.
    pub fn div_small(&mut self, divisor: u32) -> u32 {
        let rest = kernel::div_small(&mut self.limbs, divisor);
        *self.factors = None;
        if self.limbs.last() == Some(&0) {
            self.limbs.pop();
        }
        rest
    }
}

/// Divides `rest` by `divisor`, of at least two limbs and with its top bit set; `rest` becomes the
/// remainder. The top limb of `rest` is below that of the divisor.
fn divide_normalized(rest: &mut [u32], divisor: &[u32]) -> Vec<u32> {
    let length = divisor.len();
    let (top, next) = (u64::from(divisor[length - 1]), u64::from(divisor[length - 2]));
    let places = rest.len() - length;
    let mut quotient = alloc::vec![0; places];
    for place in (0..places).rev() {
        let window = &mut rest[place..=place + length];
        let (high, low) = (u64::from(window[length]), u64::from(window[length - 1]));
        let third = u64::from(window[length - 2]);
        let head = high << LIMB_BITS | low;
        // `high` is at most `top`; where they are equal the guess is the largest limb.
        let mut guess = if high >= top {
            u64::from(u32::MAX)
        } else {
            head / top
        };
        let mut over = head - guess * top;
        while over <= u64::from(u32::MAX) && guess * next > (over << LIMB_BITS | third) {
            guess -= 1;
            over += top;
        }
        let owed = kernel::mul_sub(&mut window[..length], divisor, guess as u32);
        if window[length] < owed {
            guess -= 1;
            kernel::add(&mut window[..length], divisor);
        }
        window[length] = 0;
        quotient[place] = guess as u32;
    }
    quotient
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nat::tests::samples;

    #[test]
    fn quotient_times_divisor_plus_remainder_is_the_dividend() {
        let samples = samples();
        for dividend in &samples {
            for divisor in samples.iter().filter(|divisor| !divisor.is_zero()) {
                let (quotient, rest) = dividend.div_rem(divisor);
                assert!(rest < *divisor);
                assert_eq!(quotient.mul(divisor).add(&rest), *dividend);
                assert_eq!(dividend.rem(divisor), rest);
            }
        }
    }

    #[test]
    fn a_guess_that_is_too_large_is_added_back() {
        // The two limbs that the guess is made from say 2^32 - 1; the lowest limb of the divisor makes it
        // one less.
        let divisor = Nat::from_limbs(alloc::vec![1, 0, 0x8000_0000]);
        let dividend = Nat::from_limbs(alloc::vec![0, 0, 0x8000_0000, 0x7fff_ffff]);
        let (quotient, rest) = dividend.div_rem(&divisor);
        assert_eq!(quotient.to_u64(), Some(0xffff_fffe));
        assert_eq!(quotient.mul(&divisor).add(&rest), dividend);
    }
}
