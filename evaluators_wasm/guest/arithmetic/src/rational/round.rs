//! Rounding to a multiple of a power of ten.

use alloc::boxed::Box;
use core::cmp::Ordering;

use super::{Fraction, Rational};
use crate::limits::Limits;
use crate::nat::Nat;

/// Where a value goes that lies between two candidates.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Rounding {
    /// Down.
    Floor,
    /// Up.
    Ceiling,
    /// Towards zero.
    Truncate,
    /// To the nearest, a tie away from zero.
    HalfAway,
    /// To the nearest, a tie to the even.
    HalfEven,
}

impl Nat {
    /// The quotient, rounded; `negative` is the sign that the magnitudes stand for. The divisor is not 0.
    pub fn div_rounded(&self, divisor: &Self, negative: bool, rounding: Rounding) -> Self {
        let (quotient, rest) = self.div_rem(divisor);
        quotient.rounded(&rest, divisor, negative, rounding)
    }

    /// A quotient with the remainder `rest`, rounded.
    fn rounded(self, rest: &Self, divisor: &Self, negative: bool, rounding: Rounding) -> Self {
        let up = !rest.is_zero()
            && match rounding {
                Rounding::Floor => negative,
                Rounding::Ceiling => !negative,
                Rounding::Truncate => false,
                Rounding::HalfAway => rest.shl(1) >= *divisor,
                Rounding::HalfEven => match rest.shl(1).cmp(divisor) {
                    Ordering::Less => false,
                    Ordering::Equal => self.is_odd(),
                    Ordering::Greater => true,
                },
            };
        if up {
            self.add(&Self::one())
        } else {
            self
        }
    }
}

impl Rational {
    /// The whole number next to the value.
    pub fn into_integer(self, rounding: Rounding) -> Self {
        if let Self::Small { den: 1, .. } = self {
            return self;
        }
        let Fraction {
            negative, num, den, ..
        } = self.into_fraction();
        let rounded = num.div_rounded(&den, negative, rounding);
        Self::from_parts(negative && !rounded.is_zero(), rounded, Nat::one())
    }

    /// The multiple of 10^-`places` next to the value, `None` where it is certain to have more than
    /// the limit's digits; `places` is any whole number.
    pub fn round(self, places: &Self, rounding: Rounding, limits: &Limits) -> Option<Self> {
        let far = match places {
            Self::Small { num, .. } => u32::try_from(num.unsigned_abs()).ok(),
            Self::Big(_) => None,
        };
        if places.is_negative() {
            Some(self.round_left(far, rounding))
        } else {
            self.round_right(far, rounding, limits)
        }
    }

    /// Rounds to 10^`far`; `None` is more than any word.
    fn round_left(self, far: Option<u32>, rounding: Rounding) -> Self {
        let Fraction {
            negative, num, den, ..
        } = self.into_fraction();
        // Where 3 * far is more than the bits, the value is below half of 8^far.
        let far = match far {
            Some(far) if far <= num.bits() / 3 => far,
            _ => return Self::integer(0),
        };
        let unit = Nat::power_of_ten(far);
        let multiple = num.div_rounded(&den.mul(&unit), negative, rounding);
        Self::from_parts(negative && !multiple.is_zero(), multiple.mul(&unit), Nat::one())
    }

    /// Rounds to 10^-`far`; `None` is more than any word.
    fn round_right(self, far: Option<u32>, rounding: Rounding, limits: &Limits) -> Option<Self> {
        // Both the value, n/d, and a multiple m that differs from it have denominators below 10^max_digits,
        // so that they are at least 10^(-2 * max_digits) apart; but the multiple is nearer than 10^-far.
        let near = match far {
            Some(far) if far <= 2 * limits.max_digits() => far,
            _ => {
                // A reduced fraction with no more fractional digits is a multiple already.
                let reduced = self.settled();
                let digits = reduced.fractional_digits()?;
                return Some(reduced).filter(|_| far.map_or(true, |far| digits <= far));
            }
        };
        let is_multiple = match &self {
            Self::Small { .. } => self.fractional_digits().map_or(false, |digits| digits <= near),
            Self::Big(fraction) => fraction.den.is_one(),
        };
        if is_multiple {
            return Some(self);
        }
        let fraction = self.into_fraction();
        let unit = Nat::power_of_ten(near);
        let (quotient, rest) = fraction.num.mul(&unit).div_rem(&fraction.den);
        if rest.is_zero() {
            return Some(Self::Big(Box::new(fraction)));
        }
        let negative = fraction.negative;
        let multiple = quotient.rounded(&rest, &fraction.den, negative, rounding);
        Some(if near < limits.max_digits() {
            Self::unreduced(negative, multiple, unit)
        } else {
            Self::decimal(negative, multiple, near)
        })
    }

    /// The number of digits after the point of the decimal expansion, `None` where it does not end; the
    /// value is in lowest terms.
    pub fn fractional_digits(&self) -> Option<u32> {
        match self {
            Self::Small { den: 1, .. } => Some(0),
            Self::Small { den, .. } => {
                let twos = den.trailing_zeros();
                let (mut rest, mut fives) = (den >> twos, 0);
                while rest % 5 == 0 {
                    rest /= 5;
                    fives += 1;
                }
                if rest == 1 {
                    Some(twos.max(fives))
                } else {
                    None
                }
            }
            Self::Big(fraction) => {
                let twos = fraction.den.trailing_zeros();
                let (fives, rest) = fraction.den.shr_exact(twos).without_fives(u32::MAX);
                if rest.is_one() {
                    Some(twos.max(fives))
                } else {
                    None
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::fraction;
    use super::*;

    fn rounded(num: i64, den: i64, places: i64, rounding: Rounding) -> Rational {
        fraction(num, den)
            .round(&Rational::integer(places), rounding, &Limits::new(1024))
            .unwrap()
    }

    #[test]
    fn ties_go_away_from_zero_or_to_the_even() {
        for (num, away, even) in [(1, 1, 0), (3, 2, 2), (5, 3, 2), (-1, -1, 0), (-5, -3, -2)] {
            assert_eq!(rounded(num, 2, 0, Rounding::HalfAway), Rational::integer(away));
            assert_eq!(rounded(num, 2, 0, Rounding::HalfEven), Rational::integer(even));
        }
        assert_eq!(rounded(1250, 1, -2, Rounding::HalfEven), Rational::integer(1200));
        assert_eq!(rounded(1250, 1, -2, Rounding::HalfAway), Rational::integer(1300));
    }

    #[test]
    fn floor_ceiling_and_truncation_know_the_sign() {
        for (num, floor, ceiling, truncated) in [(5, 2, 3, 2), (-5, -3, -2, -2), (4, 2, 2, 2)] {
            let value = fraction(num, 2);
            assert_eq!(
                value.clone().into_integer(Rounding::Floor),
                Rational::integer(floor)
            );
            assert_eq!(
                value.clone().into_integer(Rounding::Ceiling),
                Rational::integer(ceiling)
            );
            assert_eq!(
                value.into_integer(Rounding::Truncate),
                Rational::integer(truncated)
            );
        }
    }

    #[test]
    fn far_places_leave_a_value_or_make_it_zero() {
        assert_eq!(rounded(3, 2, 1_000_000_000, Rounding::HalfAway), fraction(3, 2));
        assert_eq!(
            rounded(5, 1, -1_000_000_000, Rounding::HalfAway),
            Rational::integer(0)
        );
        assert_eq!(rounded(5, 1, -1, Rounding::HalfAway), Rational::integer(10));
        assert_eq!(rounded(-49, 1, -2, Rounding::HalfAway), Rational::integer(0));
        let places = Rational::integer(1_000_000_000);
        assert_eq!(
            fraction(1, 3).round(&places, Rounding::HalfAway, &Limits::new(1024)),
            None
        );
    }

    #[test]
    fn fractional_digits_are_counted_where_they_end() {
        for (num, den, digits) in [
            (1, 8, Some(3)),
            (1, 5, Some(1)),
            (1, 6, None),
            (7, 1, Some(0)),
            (1, 40, Some(3)),
        ] {
            assert_eq!(fraction(num, den).fractional_digits(), digits);
            let big = fraction(num, den).div(Rational::from_parts(false, Nat::power_of_ten(30), Nat::one()));
            assert_eq!(big.fractional_digits(), digits.map(|digits| digits + 30));
        }
    }
}
