//! Square roots.

use super::{Fraction, Rational};
use crate::nat::Nat;

/// Significant digits of a rounded root.
const ROOT_DIGITS: i64 = 34;

impl Rational {
    /// The square root of a value that is not negative, and whether it is exact. It is where the value is the
    /// square of a rational; otherwise it is rounded to 34 significant digits.
    pub fn sqrt(self) -> (Self, bool) {
        let Fraction {
            mut num,
            mut den,
            mut lowest,
            ..
        } = self.into_fraction();
        if !lowest {
            lowest = Nat::cancel_known(&mut num, &mut den);
        }
        // n/d is a square where n*d is; in lowest terms, where both are.
        if num.may_make_square(&den) {
            if lowest {
                if let (Some(num), Some(den)) = (num.exact_sqrt(), den.exact_sqrt()) {
                    return (Self::from_parts(false, num, den), true);
                }
            } else if let Some(root) = num.mul(&den).exact_sqrt() {
                return (Self::unreduced(false, root, den), true);
            }
        }
        (rounded_root(&num, &den), false)
    }
}

/// The root of a value that is no square, rounded to 34 significant digits. It is irrational: there are no ties.
#[inline(never)]
fn rounded_root(num: &Nat, den: &Nat) -> Rational {
    // The root is above 2^(half - 1), which log10(2), a little more than 1233 / 4096, turns into digits: it has
    // 34 to 37 in these units.
    let half = (i64::from(num.bits()) - i64::from(den.bits())).div_euclid(2);
    let mut places = ROOT_DIGITS - ((half - 1) * 1233).div_euclid(4096);
    let scale = Nat::power_of_ten(2 * places.unsigned_abs() as u32);
    // floor(2 * sqrt(x)) is floor(sqrt(floor(4 * x))).
    let square = if places >= 0 {
        num.mul(&scale).shl(2).div(den)
    } else {
        num.shl(2).div(&den.mul(&scale))
    };
    let mut twice = square.sqrt();
    let limit = Nat::power_of_ten(ROOT_DIGITS as u32).shl(1);
    while twice >= limit {
        // The floor of a tenth is the same before and after the root is rounded down.
        twice.div_small(10);
        places -= 1;
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
    fn roots_next_to_a_tie_are_told_apart() {
        // 1 + 5 * 10^-34 lies between two roots of 34 digits.
        let tie = Rational::decimal(false, Nat::power_of_ten(34).add(&Nat::from(5)), 34);
        let square = tie.clone().mul(tie);
        let tiny = Rational::from_parts(false, Nat::one(), Nat::power_of_ten(900));
        let one = Rational::integer(1);
        let next = Rational::decimal(false, Nat::power_of_ten(33).add(&Nat::one()), 33);
        assert_eq!(square.clone().add(tiny.clone()).sqrt(), (next, false));
        assert_eq!(square.sub(tiny.clone()).sqrt(), (one.clone(), false));
        assert_eq!(one.clone().add(tiny.clone()).sqrt(), (one.clone(), false));
        assert_eq!(one.clone().sub(tiny).sqrt(), (one, false));
    }

    #[test]
    fn a_common_divisor_hides_no_square() {
        let (root, factor) = (Nat::from(3).pow(500), Nat::from(7).pow(100));
        let value = Rational::unreduced(false, root.mul(&root).mul(&factor), factor.mul_small(4));
        let expected = Rational::from_parts(false, root, Nat::from(2));
        assert_eq!(value.sqrt(), (expected, true));
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
