//! Sum, product, quotient, floored quotient and remainder.
//!
//! Words where both operands are short; otherwise by the rules of The Art of Computer Programming, volume
//! 2, section 4.5.1, which find common divisors of short numbers before the multiplication instead of one
//! of a long product after it.

use alloc::boxed::Box;
use core::cmp::Ordering;

use super::compare::by_bits;
use super::{Fraction, Rational};
use crate::nat::Nat;

/// Words below this multiply without leaving `i64`, and two such products add.
const SHORT: u64 = 1 << 31;

/// Numerators and denominators of two values, where all four are short.
fn short(a: &Rational, b: &Rational) -> Option<[i64; 4]> {
    match (a, b) {
        (Rational::Small { num: an, den: ad }, Rational::Small { num: bn, den: bd })
            if (an.unsigned_abs() | bn.unsigned_abs() | *ad as u64 | *bd as u64) < SHORT =>
        {
            Some([*an, *ad, *bn, *bd])
        }
        _ => None,
    }
}

/// The sum of two numbers with signs.
fn signed_sum(a_negative: bool, a: Nat, b_negative: bool, b: Nat) -> (bool, Nat) {
    if a_negative == b_negative {
        (a_negative, a.add(&b))
    } else if a >= b {
        (a_negative, a.sub(&b))
    } else {
        (b_negative, b.sub(&a))
    }
}

/// The size of a part, in bits, up to which common divisors are left in: that of 10^1024, the largest limit
/// there is.
const LOOSE_BITS: u32 = 3402;

/// Whether a product is short enough for common divisors to be left in. It has as many bits as its factors
/// together, or one less.
fn stays_loose(a: &Nat, b: &Nat) -> bool {
    a.bits() + b.bits() - 1 <= LOOSE_BITS
}

/// `a / b` without their greatest common divisor, which is 1 where either is.
fn cancel(a: &mut Nat, b: &mut Nat) {
    if a.is_one() || b.is_one() {
        return;
    }
    let common = a.gcd(b);
    if !common.is_one() {
        *a = a.div(&common);
        *b = b.div(&common);
    }
}

/// What two denominators share, what each has besides, and their product: a multiple of both.
struct Shared {
    common: Nat,
    a_rest: Nat,
    b_rest: Nat,
    total: Nat,
    /// Whether `common` is their greatest common divisor, or just 1 since that was quicker.
    greatest: bool,
}

impl Shared {
    fn new(a: Nat, b: Nat) -> Self {
        if a < b {
            let shared = Self::ordered(b, a);
            return Self {
                a_rest: shared.b_rest,
                b_rest: shared.a_rest,
                ..shared
            };
        }
        Self::ordered(a, b)
    }

    /// The same for a >= b.
    fn ordered(a: Nat, b: Nat) -> Self {
        if b.is_one() {
            return Self {
                common: b,
                a_rest: a.clone(),
                b_rest: Nat::one(),
                total: a,
                greatest: true,
            };
        }
        let (quotient, rest) = a.div_rem(&b);
        if rest.is_zero() {
            return Self {
                common: b,
                a_rest: quotient,
                b_rest: Nat::one(),
                total: a,
                greatest: true,
            };
        }
        let loose = b.to_u64().is_none() && stays_loose(&a, &b);
        let common = if loose { Nat::one() } else { b.gcd(&rest) };
        let (a_rest, b_rest) = if common.is_one() {
            (a.clone(), b)
        } else {
            (a.div(&common), b.div(&common))
        };
        Self {
            total: a.product(b_rest.clone()),
            common,
            a_rest,
            b_rest,
            greatest: !loose,
        }
    }
}

impl Rational {
    /// The sum.
    pub fn add(self, other: Self) -> Self {
        if let (Self::Small { num: a, den: 1 }, Self::Small { num: b, den: 1 }) = (&self, &other) {
            if let Some(sum) = a.checked_add(*b) {
                return Self::integer(sum);
            }
        }
        if let Some([an, ad, bn, bd]) = short(&self, &other) {
            if ad == bd {
                return Self::reduced_words(an + bn, ad);
            }
            return Self::reduced_words(an * bd + bn * ad, ad * bd);
        }
        add_fractions(self.into_fraction(), other.into_fraction())
    }

    /// The difference.
    pub fn sub(self, other: Self) -> Self {
        self.add(other.negated())
    }

    /// The product.
    pub fn mul(self, other: Self) -> Self {
        if let Some([an, ad, bn, bd]) = short(&self, &other) {
            if ad == 1 && bd == 1 {
                return Self::integer(an * bn);
            }
            return Self::reduced_words(an * bn, ad * bd);
        }
        if let (Self::Small { num: a, den: 1 }, Self::Small { num: b, den: 1 }) = (&self, &other) {
            if let Some(product) = a.checked_mul(*b) {
                return Self::integer(product);
            }
        }
        mul_fractions(self.into_fraction(), other.into_fraction())
    }

    /// The quotient; the divisor is not 0.
    pub fn div(self, other: Self) -> Self {
        if let Some([an, ad, bn, bd]) = short(&self, &other) {
            return Self::reduced_words(an * bd * bn.signum(), ad * bn.abs());
        }
        let Fraction {
            negative,
            num,
            den,
            lowest,
        } = other.into_fraction();
        mul_fractions(
            self.into_fraction(),
            Fraction {
                negative,
                num: den,
                den: num,
                lowest,
            },
        )
    }

    /// The quotient, rounded down; the divisor is not 0.
    pub fn floor_div(self, other: Self) -> Self {
        if let Some([an, ad, bn, bd]) = short(&self, &other) {
            let (a, b) = (an * bd * bn.signum(), ad * bn.abs());
            return Self::integer(a.div_euclid(b));
        }
        let (a, b) = (self.into_fraction(), other.into_fraction());
        let (quotient, rest) = a.num.mul(&b.den).div_rem(&b.num.mul(&a.den));
        let negative = a.negative != b.negative;
        let away = negative && !rest.is_zero();
        let quotient = if away { quotient.add(&Nat::one()) } else { quotient };
        Self::from_parts(negative, quotient, Nat::one())
    }

    /// What the floored quotient leaves: 0, or of the divisor's sign; the divisor is not 0.
    pub fn modulo(self, other: Self) -> Self {
        if let Some([an, ad, bn, bd]) = short(&self, &other) {
            let sign = bn.signum();
            let rest = (an * bd * sign).rem_euclid(bn.abs() * ad);
            return Self::reduced_words(rest * sign, ad * bd);
        }
        let (a, b) = (self.into_fraction(), other.into_fraction());
        if a.num.is_zero() || (a.negative == b.negative && by_bits(&a, &b) == Some(Ordering::Less)) {
            // Nothing to take away.
            return if a.lowest {
                Self::from_parts(a.negative, a.num, a.den)
            } else {
                Self::Big(Box::new(a))
            };
        }
        let shared = Shared::new(a.den, b.den);
        let (dividend, divisor) = (a.num.product(shared.b_rest), b.num.product(shared.a_rest));
        let mut num = dividend.rem(&divisor);
        if a.negative != b.negative && !num.is_zero() {
            num = divisor.sub(&num);
        }
        Self::unreduced(b.negative, num, shared.total)
    }
}

fn add_fractions(a: Fraction, b: Fraction) -> Rational {
    if a.den.is_one() && b.den.is_one() {
        let (negative, sum) = signed_sum(a.negative, a.num, b.negative, b.num);
        return Rational::from_parts(negative && !sum.is_zero(), sum, a.den);
    }
    let lowest = a.lowest && b.lowest;
    let Shared {
        mut common,
        a_rest,
        b_rest,
        mut total,
        greatest,
    } = Shared::new(a.den, b.den);
    let (a_num, b_num) = (a.num.product(b_rest), b.num.product(a_rest));
    let (negative, mut num) = signed_sum(a.negative, a_num, b.negative, b_num);
    // Only what the denominators share can divide the sum.
    if lowest && greatest && common.is_one() {
        return Rational::from_parts(negative, num, total);
    }
    if total.bits() > LOOSE_BITS {
        let before = common.clone();
        cancel(&mut num, &mut common);
        total = total.div(&before.div(&common));
    }
    Rational::unreduced(negative, num, total)
}

fn mul_fractions(mut a: Fraction, mut b: Fraction) -> Rational {
    if a.num.is_zero() || b.num.is_zero() {
        return Rational::integer(0);
    }
    let negative = a.negative != b.negative;
    let loose = stays_loose(&a.num, &b.num) && stays_loose(&a.den, &b.den);
    if !loose {
        cancel(&mut a.num, &mut b.den);
        cancel(&mut b.num, &mut a.den);
    }
    let (num, den) = (a.num.product(b.num), a.den.product(b.den));
    if !loose && a.lowest && b.lowest {
        return Rational::from_parts(negative, num, den);
    }
    Rational::unreduced(negative, num, den)
}

#[cfg(test)]
mod tests {
    use super::super::tests::fraction;
    use super::*;
    use alloc::vec::Vec;

    /// Values of every kind: words, large, and large with common divisors left in.
    fn samples() -> Vec<Rational> {
        let mut samples = Vec::new();
        for (num, den) in [
            (0, 1),
            (1, 1),
            (-7, 1),
            (1, 3),
            (-5, 6),
            (i64::MAX, 10),
            (1 << 40, 3),
            (-3, 1 << 40),
        ] {
            samples.push(fraction(num, den));
        }
        for (num, den) in [(300, 0), (300, 7), (0, 300), (200, 201), (700, 1500)] {
            let (num, den) = (Nat::from(3).pow(num), Nat::from(10).pow(den));
            samples.push(Rational::from_parts(true, num.clone(), den.clone()));
            samples.push(Rational::unreduced(false, num.mul_small(12), den.mul_small(30)));
        }
        samples
    }

    #[test]
    fn what_is_added_can_be_taken_away() {
        for a in samples() {
            for b in samples() {
                assert_eq!(a.clone().add(b.clone()).sub(b.clone()), a);
                assert_eq!(a.clone().add(b.clone()), b.clone().add(a.clone()));
            }
        }
    }

    #[test]
    fn a_product_is_undone_by_a_quotient_and_distributes() {
        for a in samples() {
            for b in samples().into_iter().filter(|b| !b.is_zero()) {
                assert_eq!(a.clone().mul(b.clone()).div(b.clone()), a);
                let sum = a.clone().add(Rational::integer(1));
                assert_eq!(sum.mul(b.clone()), a.clone().mul(b.clone()).add(b.clone()));
            }
        }
    }

    #[test]
    fn floored_quotient_and_remainder_make_the_dividend() {
        for a in samples() {
            for b in samples().into_iter().filter(|b| !b.is_zero()) {
                let quotient = a.clone().floor_div(b.clone());
                let rest = a.clone().modulo(b.clone());
                assert!(quotient.clone().settled().is_integer());
                assert!(rest.is_zero() || rest.is_negative() == b.is_negative());
                assert!(rest.clone().magnitude() < b.clone().magnitude());
                assert_eq!(b.mul(quotient).add(rest), a);
            }
        }
    }

    #[test]
    fn lowest_terms_are_found_where_they_are_asked_for() {
        let [big, half] = [Nat::from(7).pow(100), Nat::from(7).pow(99).mul_small(14)];
        let value = Rational::unreduced(false, big, half);
        assert!(matches!(value, Rational::Big(_)));
        assert!(matches!(value.settled(), Rational::Small { num: 1, den: 2 }));
    }
}
