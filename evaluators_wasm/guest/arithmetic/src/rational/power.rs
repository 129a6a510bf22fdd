//! Powers with whole exponents.

use evalspan_abi::Code;

use super::{Fraction, Rational};
use crate::limits::Limits;
use crate::nat::Nat;

impl Rational {
    /// The value to a power. A size over the limit is told from the number of
    /// bits before anything is multiplied; what passes has at most twice as many bits as the limit.
    ///
    /// # Errors
    /// `domain` where the exponent is not a whole number, `division_by_zero` where it is negative and the
    /// value 0, `too_large`.
    pub fn power(self, exponent: Self, limits: &Limits) -> Result<Self, Code> {
        let exponent = exponent.whole().ok_or(Code::Domain)?;
        let inverse = exponent.is_negative();
        if self.is_zero() && inverse {
            return Err(Code::DivisionByZero);
        }
        if exponent.is_zero() {
            return Ok(Self::integer(1));
        }
        let (odd, times) = match &exponent {
            Self::Small { num, .. } => (num % 2 != 0, u32::try_from(num.unsigned_abs()).ok()),
            Self::Big(fraction) => (fraction.num.is_odd(), None),
        };
        let negative = self.is_negative() && odd;
        if times == Some(1) {
            return Ok(if inverse { self.inverse() } else { self });
        }
        // Lowest terms also tell a large fraction that is 1 or -1.
        let base = self.settled();
        if let Self::Small {
            num: num @ (-1..=1),
            den: 1,
        } = base
        {
            return Ok(Self::integer(if odd { num } else { num * num }));
        }
        let times = times.ok_or(Code::TooLarge)?;
        let Fraction { num, den, .. } = base.into_fraction();
        // A number of b bits is at least 2^(b - 1).
        let least = |number: &Nat| u64::from(number.bits() - 1) * u64::from(times);
        if least(&num).max(least(&den)) >= u64::from(limits.bits()) {
            return Err(Code::TooLarge);
        }
        let (num, den) = (num.pow(times), den.pow(times));
        // A power of a fraction in lowest terms is in lowest terms.
        Ok(if inverse {
            Self::from_parts(negative, den, num)
        } else {
            Self::from_parts(negative, num, den)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::fraction;
    use super::*;

    fn power(base: Rational, exponent: Rational) -> Result<Rational, Code> {
        base.power(exponent, &Limits::new(1024))
    }

    #[test]
    fn signs_and_inverses_follow_the_exponent() {
        for (base, exponent, expected) in [
            (fraction(-2, 3), 3, fraction(-8, 27)),
            (fraction(-2, 3), -3, fraction(-27, 8)),
            (fraction(-2, 3), -2, fraction(9, 4)),
            (fraction(0, 1), 0, fraction(1, 1)),
            (fraction(0, 1), 9, fraction(0, 1)),
            (fraction(-1, 1), i64::MAX, fraction(-1, 1)),
            (fraction(1, 1), i64::MAX, fraction(1, 1)),
        ] {
            assert_eq!(power(base, Rational::integer(exponent)), Ok(expected));
        }
    }

    #[test]
    fn what_has_no_answer_says_why() {
        assert_eq!(power(fraction(0, 1), fraction(-1, 2)), Err(Code::Domain));
        assert_eq!(power(fraction(1, 1), fraction(1, 2)), Err(Code::Domain));
        assert_eq!(power(fraction(0, 1), fraction(-1, 1)), Err(Code::DivisionByZero));
        assert_eq!(
            power(fraction(9, 1), fraction(387_420_489, 1)),
            Err(Code::TooLarge)
        );
        assert_eq!(power(fraction(1, 2), fraction(i64::MAX, 1)), Err(Code::TooLarge));
        let huge = Rational::from_parts(false, Nat::power_of_ten(30), Nat::one());
        assert_eq!(power(fraction(-1, 1), huge.clone()), Ok(fraction(1, 1)));
        assert_eq!(power(fraction(2, 1), huge.clone()), Err(Code::TooLarge));
        let number = Nat::from(3).pow(500).add(&Nat::one());
        let one = Rational::unreduced(true, number.clone(), number);
        assert_eq!(power(one.clone(), huge.clone()), Ok(fraction(1, 1)));
        assert_eq!(power(one, huge.add(fraction(1, 1))), Ok(fraction(-1, 1)));
    }
}
