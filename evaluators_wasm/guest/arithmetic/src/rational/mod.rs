//! Exact rational numbers.
//!
//! Small ones are in lowest terms. Large ones may not be: a common divisor of two numbers of 1,024 digits
//! costs more than all that is done with them, and many sums never need it. What depends on lowest terms
//! asks for them with `settled`.

mod compare;
mod operate;
mod power;
mod root;
mod round;
mod shared;

use alloc::boxed::Box;

use crate::nat::{gcd_words, Nat};

pub use round::Rounding;

/// A rational number: two words wherever they hold its lowest terms, as far as those are known, else two
/// natural numbers.
#[derive(Clone, Debug)]
pub enum Rational {
    /// Lowest terms: numerator, above `i64::MIN`, and denominator, above 0.
    Small {
        /// The numerator.
        num: i64,
        /// The denominator.
        den: i64,
    },
    /// A value of which one side needs more. Boxed, so that the small ones are quick to move.
    Big(Box<Fraction>),
}

/// Sign, numerator and denominator.
#[derive(Clone, Debug)]
pub struct Fraction {
    /// Whether the value is below 0.
    pub negative: bool,
    /// The magnitude of the numerator.
    pub num: Nat,
    /// The denominator, not 0.
    pub den: Nat,
    /// Whether these are known to be the lowest terms.
    pub lowest: bool,
}

/// The value of parts, with their common divisor taken out.
fn reduce(negative: bool, mut num: Nat, mut den: Nat) -> Rational {
    Nat::cancel(&mut num, &mut den);
    Rational::from_parts(negative, num, den)
}

/// A word as a numerator or denominator of a small value, if it is one.
fn small(word: Option<u64>) -> Option<i64> {
    word.and_then(|word| i64::try_from(word).ok())
}

impl Rational {
    /// A whole number; `i64::MIN` is not one of the small.
    #[inline]
    pub fn integer(num: i64) -> Self {
        Self::from_words(num, 1)
    }

    /// A fraction of words that is in lowest terms; the denominator is above 0.
    #[inline]
    fn from_words(num: i64, den: i64) -> Self {
        if num == i64::MIN {
            return Self::from_least(den);
        }
        Self::Small { num, den }
    }

    #[cold]
    fn from_least(den: i64) -> Self {
        Self::from_parts(true, Nat::from(i64::MIN.unsigned_abs()), Nat::from(den as u64))
    }

    /// The fraction of two words in lowest terms; the denominator is above 0.
    pub fn reduced_words(num: i64, den: i64) -> Self {
        let common = gcd_words(den as u64, num.unsigned_abs());
        if common == 1 {
            return Self::from_words(num, den);
        }
        // At most the denominator, so it fits.
        let common = common as i64;
        Self::from_words(num / common, den / common)
    }

    /// The value of parts that are in lowest terms.
    pub fn from_parts(negative: bool, num: Nat, den: Nat) -> Self {
        match (small(num.to_u64()), small(den.to_u64())) {
            (Some(num), Some(den)) => Self::Small {
                num: if negative { -num } else { num },
                den,
            },
            _ => Self::Big(Box::new(Fraction {
                negative,
                num,
                den,
                lowest: true,
            })),
        }
    }

    /// The value of any parts; the denominator is not 0.
    fn unreduced(negative: bool, num: Nat, den: Nat) -> Self {
        Self::new(negative, num, den, false)
    }

    /// The value of parts that are in lowest terms where `lowest` says so, apart from 0, which may have any
    /// denominator.
    fn new(negative: bool, num: Nat, den: Nat, lowest: bool) -> Self {
        if num.is_zero() {
            return Self::integer(0);
        }
        if lowest || den.is_one() || num.is_one() {
            return Self::from_parts(negative, num, den);
        }
        match (num.to_u64(), den.to_u64()) {
            (Some(_), Some(_)) => reduce(negative, num, den),
            _ => Self::Big(Box::new(Fraction {
                negative,
                num,
                den,
                lowest: false,
            })),
        }
    }

    /// The value in lowest terms.
    pub fn settled(self) -> Self {
        match self {
            Self::Big(fraction) if !fraction.lowest => reduce(fraction.negative, fraction.num, fraction.den),
            settled => settled,
        }
    }

    /// The value of `digits` with the point `places` digits from the right.
    pub fn decimal(negative: bool, digits: Nat, places: u32) -> Self {
        if digits.is_zero() {
            return Self::integer(0);
        }
        // Only 2 and 5 can be common divisors.
        let twos = digits.trailing_zeros().min(places);
        let (fives, num) = digits.shr_exact(twos).without_fives(places);
        let den = Nat::from(5).pow(places - fives).shl(places - twos);
        Self::from_parts(negative, num, den)
    }

    /// The parts of the value.
    pub fn into_fraction(self) -> Fraction {
        match self {
            Self::Small { num, den } => Fraction {
                negative: num < 0,
                num: Nat::from(num.unsigned_abs()),
                den: Nat::from(den as u64),
                lowest: true,
            },
            Self::Big(fraction) => *fraction,
        }
    }

    /// Whether it is 0.
    pub fn is_zero(&self) -> bool {
        matches!(self, Self::Small { num: 0, .. })
    }

    /// Whether it is below 0.
    pub fn is_negative(&self) -> bool {
        match self {
            Self::Small { num, .. } => *num < 0,
            Self::Big(fraction) => fraction.negative,
        }
    }

    /// The value in lowest terms, if it is a whole number.
    pub fn whole(self) -> Option<Self> {
        match self {
            Self::Small { den: 1, .. } => Some(self),
            Self::Small { .. } => None,
            Self::Big(fraction) if fraction.den.is_one() => Some(Self::Big(fraction)),
            Self::Big(fraction) if fraction.lowest => None,
            Self::Big(fraction) => {
                let (quotient, rest) = fraction.num.div_rem(&fraction.den);
                if rest.is_zero() {
                    Some(Self::from_parts(fraction.negative, quotient, Nat::one()))
                } else {
                    None
                }
            }
        }
    }

    /// The value with the other sign.
    pub fn negated(self) -> Self {
        match self {
            Self::Small { num, den } => Self::Small { num: -num, den },
            Self::Big(mut fraction) => {
                fraction.negative = !fraction.negative;
                Self::Big(fraction)
            }
        }
    }

    /// The magnitude.
    pub fn magnitude(self) -> Self {
        if self.is_negative() {
            self.negated()
        } else {
            self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fraction of two words, any sign.
    pub fn fraction(num: i64, den: i64) -> Rational {
        Rational::reduced_words(num, den)
    }

    #[test]
    fn each_value_has_one_form() {
        assert_eq!(fraction(-6, 4), fraction(-3, 2));
        assert_eq!(fraction(0, 7), Rational::integer(0));
        let most = Nat::from(i64::MAX as u64);
        assert_eq!(
            Rational::from_parts(true, most.clone(), Nat::one()),
            Rational::integer(-i64::MAX)
        );
        let least = Rational::integer(i64::MIN);
        assert_eq!(
            least,
            Rational::from_parts(true, most.add(&Nat::one()), Nat::one())
        );
        assert!(matches!(least, Rational::Big(_)));
        for digits in 0..300 {
            for places in 0..5 {
                let decimal = Rational::decimal(false, Nat::from(digits), places);
                assert_eq!(decimal, fraction(digits as i64, 10_i64.pow(places)));
            }
        }
    }

    #[test]
    fn a_sign_is_turned_and_taken() {
        let big = Rational::from_parts(false, Nat::one().shl(99), Nat::from(7));
        assert!(big.clone().negated().is_negative() && !big.is_negative());
        assert_eq!(big.clone().negated().magnitude(), big);
        assert_eq!(fraction(-1, 2).magnitude(), fraction(1, 2));
    }
}
