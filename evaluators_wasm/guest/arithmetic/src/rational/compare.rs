//! Order.

use core::cmp::Ordering;

use super::{Fraction, Rational};

impl Ord for Rational {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Small { num: a, den: 1 }, Self::Small { num: b, den: 1 }) => a.cmp(b),
            _ => {
                let (mut a, mut b) = (None, None);
                compare(self.parts(&mut a), other.parts(&mut b))
            }
        }
    }
}

impl PartialEq for Rational {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Rational {}

impl PartialOrd for Rational {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Rational {
    /// The parts of the value where they are, or in `place` where it has none.
    fn parts<'a>(&'a self, place: &'a mut Option<Fraction>) -> &'a Fraction {
        match self {
            Self::Big(fraction) => fraction,
            Self::Small { .. } => place.get_or_insert_with(|| self.clone().into_fraction()),
        }
    }
}

fn compare(a: &Fraction, b: &Fraction) -> Ordering {
    if a.negative != b.negative {
        return b.negative.cmp(&a.negative);
    }
    let magnitudes = compare_magnitudes(a, b);
    if a.negative {
        magnitudes.reverse()
    } else {
        magnitudes
    }
}

/// Compares magnitudes: by the products across only where nothing that is quicker tells.
#[inline(never)]
pub fn compare_magnitudes(a: &Fraction, b: &Fraction) -> Ordering {
    if a.den == b.den || a.num.is_zero() || b.num.is_zero() {
        return a.num.cmp(&b.num);
    }
    by_bits(a, b)
        .or_else(|| by_leading_limbs(a, b))
        .unwrap_or_else(|| a.num.mul(&b.den).cmp(&b.num.mul(&a.den)))
}

/// Compares magnitudes other than 0 by the leading 32 bits of each number, if they tell; `by_bits` did not.
fn by_leading_limbs(a: &Fraction, b: &Fraction) -> Option<Ordering> {
    let left = a.num.leading_limb() * b.den.leading_limb();
    let right = b.num.leading_limb() * a.den.leading_limb();
    // In units that are the same or, where one product has a bit more, one twice the other. What is left out
    // makes either less than 2^33 larger.
    let left_bits = a.num.bits() + b.den.bits();
    let right_bits = b.num.bits() + a.den.bits();
    let left = left >> u32::from(left_bits < right_bits);
    let right = right >> u32::from(right_bits < left_bits);
    if left.abs_diff(right) > 1 << 33 {
        Some(left.cmp(&right))
    } else {
        None
    }
}

/// Compares magnitudes other than 0 by the bits of the products across, if they tell.
fn by_bits(a: &Fraction, b: &Fraction) -> Option<Ordering> {
    // A product has as many bits as its factors together, or one less.
    let left = a.num.bits() + b.den.bits();
    let right = b.num.bits() + a.den.bits();
    if left.abs_diff(right) > 1 {
        Some(left.cmp(&right))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::fraction;
    use super::*;
    use crate::nat::Nat;

    #[test]
    fn an_order_is_by_value() {
        let huge = Rational::from_parts(false, Nat::one().shl(200), Nat::from(3));
        let tiny = Rational::from_parts(false, Nat::from(3), Nat::one().shl(200));
        // 1 and a little more or less: -20 means 2^-20 less.
        let near = |bits: i64| {
            let power = Nat::one().shl(1000 - bits.unsigned_abs() as u32);
            let one = Nat::one().shl(1000);
            let num = if bits < 0 {
                one.clone().sub(&power)
            } else {
                one.clone().add(&power)
            };
            // Denominators of their own, so that they tell nothing.
            let factor = Nat::from((2 * bits + 5001) as u64);
            Rational::from_parts(false, num.mul(&factor), one.mul(&factor))
        };
        let ascending = [
            huge.clone().negated(),
            fraction(-7, 2),
            fraction(-3, 1),
            tiny.clone().negated(),
            fraction(0, 1),
            tiny,
            fraction(1, 1000),
            fraction(333, 1000),
            fraction(1, 3),
            fraction(2, 5),
            near(-20),
            near(-300),
            near(-900),
            fraction(1, 1),
            near(900),
            near(300),
            near(20),
            huge,
        ];
        for (i, a) in ascending.iter().enumerate() {
            for (j, b) in ascending.iter().enumerate() {
                assert_eq!(a.cmp(b), i.cmp(&j), "{} {}", i, j);
            }
        }
    }
}
