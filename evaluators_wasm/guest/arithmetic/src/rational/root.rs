//! Square roots.

use super::{Fraction, Rational};
use crate::nat::Nat;

/// Significant digits of a rounded root.
const ROOT_DIGITS: i64 = 34;

impl Rational {
    /// The square root of a value in lowest terms that is not negative, and whether it is exact. It is
    /// where the value is the square of a rational; otherwise it is rounded to 34 significant digits.
    pub fn sqrt(self) -> (Self, bool) {
        let Fraction { num, den, .. } = self.into_fraction();
        // In lowest terms, both sides have to be squares.
        if let Some(root) = num.exact_sqrt() {
            if let Some(den_root) = den.exact_sqrt() {
                return (Self::from_parts(false, root, den_root), true);
            }
        }
        (rounded_root(&num, &den), false)
    }
}

/// floor(sqrt(4 * n/d * 100^`places`)): twice the root in units of 10^-`places`.
#[inline(never)]
fn twice_the_root(num: &Nat, den: &Nat, places: i64) -> Nat {
    let scale = Nat::power_of_ten(2 * places.unsigned_abs() as u32).shl(2);
    if places >= 0 {
        num.mul(&scale).div(den).sqrt()
    } else {
        num.shl(4).div(&den.mul(&scale)).sqrt()
    }
}

/// The root of a value that is no square, rounded to 34 significant digits. It is irrational: there are no
/// ties.
fn rounded_root(num: &Nat, den: &Nat) -> Rational {
    // n/d lies between 10^magnitude and 10^(magnitude + 2), so the root has 34 or 35 digits in these units.
    let magnitude = i64::from(num.digit_count()) - i64::from(den.digit_count()) - 1;
    let mut places = ROOT_DIGITS - 1 - magnitude.div_euclid(2);
    let mut twice = twice_the_root(num, den, places);
    while i64::from(twice.shr(1).digit_count()) > ROOT_DIGITS {
        places -= 1;
        twice = twice_the_root(num, den, places);
    }
    let root = twice.add(&Nat::one()).shr(1);
    if places >= 0 {
        Rational::decimal(false, root, places as u32)
    } else {
        let unit = Nat::power_of_ten(places.unsigned_abs() as u32);
        Rational::from_parts(false, root.mul(&unit), Nat::one())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::fraction;
    use super::*;

    #[test]
    fn squares_of_rationals_have_exact_roots() {
        for (num, den) in [(0, 1), (1, 1), (4, 9), (225, 256), (1, 1_000_000)] {
            let value = fraction(num, den);
            assert_eq!(value.clone().mul(value.clone()).sqrt(), (value, true));
        }
    }

    #[test]
    fn other_roots_have_34_digits() {
        for (value, digits, places) in [
            (fraction(2, 1), "1414213562373095048801688724209698", 33),
            (fraction(1, 2), "7071067811865475244008443621048490", 34),
            (fraction(99, 1), "9949874371066199547344798210012060", 33),
            (fraction(101, 1), "1004987562112089027021926491275958", 32),
            (fraction(1, 10), "3162277660168379331998893544432719", 34),
            (fraction(10, 1), "3162277660168379331998893544432719", 33),
            (
                fraction(1_000_000_007, 10),
                "1000000003499999993875000021437500",
                29,
            ),
        ] {
            let root = Nat::from_digits(digits.bytes());
            let expected = Rational::decimal(false, root, places);
            assert_eq!(value.sqrt(), (expected, false), "{}", digits);
        }
    }

    #[test]
    fn a_root_scales_with_its_argument() {
        let hundredth = Rational::from_parts(false, Nat::one(), Nat::power_of_ten(200));
        let (small, _) = fraction(2, 1).mul(hundredth.clone()).sqrt();
        let (large, _) = fraction(2, 1).div(hundredth).sqrt();
        let (two, _) = fraction(2, 1).sqrt();
        let scale = Rational::from_parts(false, Nat::power_of_ten(100), Nat::one());
        assert_eq!(small.mul(scale.clone()), two);
        assert_eq!(large.div(scale), two);
    }
}
