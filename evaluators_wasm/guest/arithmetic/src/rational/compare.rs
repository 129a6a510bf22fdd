//! Order.

use core::cmp::Ordering;

use super::{Fraction, Rational};

impl Ord for Rational {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Small { num: a, den: 1 }, Self::Small { num: b, den: 1 }) => a.cmp(b),
            _ => compare(&self.clone().into_fraction(), &other.clone().into_fraction()),
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

fn compare(a: &Fraction, b: &Fraction) -> Ordering {
    if a.negative != b.negative {
        return b.negative.cmp(&a.negative);
    }
    let magnitudes = if a.den == b.den {
        a.num.cmp(&b.num)
    } else {
        by_products(a, b)
    };
    if a.negative {
        magnitudes.reverse()
    } else {
        magnitudes
    }
}

/// Compares magnitudes by the products across, which are made only where their bits do not tell.
fn by_products(a: &Fraction, b: &Fraction) -> Ordering {
    if a.num.is_zero() || b.num.is_zero() {
        return a.num.cmp(&b.num);
    }
    by_bits(a, b).unwrap_or_else(|| a.num.mul(&b.den).cmp(&b.num.mul(&a.den)))
}

/// Compares magnitudes other than 0 by the bits of the products across, if they tell.
pub fn by_bits(a: &Fraction, b: &Fraction) -> Option<Ordering> {
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
            fraction(1, 1),
            huge,
        ];
        for (i, a) in ascending.iter().enumerate() {
            for (j, b) in ascending.iter().enumerate() {
                assert_eq!(a.cmp(b), i.cmp(&j), "{} {}", i, j);
            }
        }
    }
}
