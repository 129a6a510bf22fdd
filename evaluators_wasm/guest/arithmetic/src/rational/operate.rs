//! Sum, product, quotient, floored quotient and remainder.
//!
//! Words where both operands are short; otherwise by the rules of The Art of Computer Programming, volume
//! 2, section 4.5.1, which find common divisors of short numbers before the multiplication instead of one
//! of a long product after it.

use alloc::boxed::Box;
use core::cmp::Ordering;

use super::compare::compare_magnitudes;
use super::shared::{stays_loose, with_shared};
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

impl Fraction {
    /// Brings it to lowest terms.
    pub fn settle(&mut self) {
        if !self.lowest {
            Nat::cancel(&mut self.num, &mut self.den);
            self.lowest = true;
        }
    }

    fn inverse(self) -> Self {
        Self {
            num: self.den,
            den: self.num,
            ..self
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
        mul_fractions(self.into_fraction(), other.into_fraction().inverse())
    }

    /// 1 divided by the value, which is not 0.
    pub fn inverse(self) -> Self {
        let Fraction {
            negative,
            num,
            den,
            lowest,
        } = self.into_fraction().inverse();
        Self::new(negative, num, den, lowest)
    }

    /// The quotient, rounded down; the divisor is not 0.
    pub fn floor_div(self, other: Self) -> Self {
        if let Some([an, ad, bn, bd]) = short(&self, &other) {
            let (a, b) = (an * bd * bn.signum(), ad * bn.abs());
            return Self::integer(a.div_euclid(b));
        }
        let (mut a, mut b) = (self.into_fraction(), other.into_fraction());
        Nat::cancel_known(&mut a.den, &mut b.den);
        let (quotient, rest) = a.num.product(b.den).div_rem(&b.num.product(a.den));
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
        if a.num.is_zero() || (a.negative == b.negative && compare_magnitudes(&a, &b) == Ordering::Less) {
            // Nothing to take away.
            return if a.lowest {
                Self::from_parts(a.negative, a.num, a.den)
            } else {
                Self::Big(Box::new(a))
            };
        }
        let (a, b, shared) = with_shared(a, b, |_, b, shared| stays_loose(&b.num, &shared.a_rest));
        let (dividend, divisor) = (a.num.mul(&shared.b_rest), b.num.mul(&shared.a_rest));
        let mut num = dividend.rem(&divisor);
        if a.negative != b.negative && !num.is_zero() {
            num = divisor.sub(&num);
        }
        // As in a sum, only what the denominators share can divide it, if the multiple of b that was taken away is
        // in lowest terms too.
        let lowest = a.lowest && b.lowest && b.den.is_one();
        shared.finish(b.negative, num, lowest)
    }
}

fn add_fractions(a: Fraction, b: Fraction) -> Rational {
    if a.den.is_one() && b.den.is_one() {
        let (negative, sum) = signed_sum(a.negative, a.num, b.negative, b.num);
        return Rational::from_parts(negative && !sum.is_zero(), sum, a.den);
    }
    let (a, b, shared) = with_shared(a, b, |a, b, shared| {
        stays_loose(&a.num, &shared.b_rest) && stays_loose(&b.num, &shared.a_rest)
    });
    let (a_num, b_num) = (a.num.mul(&shared.b_rest), b.num.mul(&shared.a_rest));
    let (negative, num) = signed_sum(a.negative, a_num, b.negative, b_num);
    shared.finish(negative, num, a.lowest && b.lowest)
}

fn mul_fractions(mut a: Fraction, mut b: Fraction) -> Rational {
    if a.num.is_zero() || b.num.is_zero() {
        return Rational::integer(0);
    }
    let negative = a.negative != b.negative;
    let is_loose = |a: &Fraction, b: &Fraction| stays_loose(&a.num, &b.num) && stays_loose(&a.den, &b.den);
    let a_cancelled = Nat::cancel_known(&mut a.num, &mut b.den);
    let b_cancelled = Nat::cancel_known(&mut b.num, &mut a.den);
    let mut cancelled = a_cancelled && b_cancelled;
    if !is_loose(&a, &b) {
        if !a_cancelled {
            Nat::cancel(&mut a.num, &mut b.den);
        }
        if !b_cancelled {
            Nat::cancel(&mut b.num, &mut a.den);
        }
        cancelled = true;
        if !is_loose(&a, &b) {
            a.settle();
            b.settle();
        }
    }
    let lowest = cancelled && a.lowest && b.lowest;
    let (num, den) = (a.num.product(b.num), a.den.product(b.den));
    Rational::new(negative, num, den, lowest)
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
                assert!(quotient.clone().whole().is_some());
                assert!(rest.is_zero() || rest.is_negative() == b.is_negative());
                assert!(rest.clone().magnitude() < b.clone().magnitude());
                assert_eq!(b.mul(quotient).add(rest), a);
            }
        }
    }

    /// A number of which no factors are known.
    fn unknown(number: &Nat) -> Nat {
        Nat::from_digits(number.to_digits().into_iter())
    }

    #[test]
    fn what_is_called_lowest_terms_and_factors_is_that() {
        let power = |base: u64, exponent| Nat::from(base).pow(exponent);
        let mut values = samples();
        for (num, den) in [
            (power(15, 20).mul(&power(7, 3)), power(10, 25)),
            (power(21, 12).add(&Nat::one()), power(15, 14)),
            (Nat::from(4), power(10, 21)),
            (power(101, 9), power(10_403, 8)),
            (power(9797, 7), power(6, 20).add(&Nat::from(1))),
            (power(14, 30), power(9797, 2).mul(&power(45, 9))),
            (Nat::factorial(40, 4000).unwrap(), power(33, 15)),
        ] {
            values.push(Rational::unreduced(false, num.clone(), den.clone()));
            values.push(Rational::unreduced(true, num, den).settled());
        }
        let mut seen = 0;
        for a in &values {
            for b in values.iter().filter(|b| !b.is_zero()) {
                let (a, b) = (|| a.clone(), || b.clone());
                for result in [
                    a().add(b()),
                    a().sub(b()),
                    a().mul(b()),
                    a().div(b()),
                    a().modulo(b()),
                    a().floor_div(b()),
                ] {
                    if let Rational::Big(fraction) = result {
                        let Fraction { num, den, lowest, .. } = *fraction;
                        for part in [&num, &den] {
                            assert!(part.factors().map_or(true, |factors| factors.value() == *part));
                        }
                        if lowest {
                            assert!(unknown(&num).gcd(&unknown(&den)).is_one());
                            seen += 1;
                        }
                    }
                }
            }
        }
        assert!(seen > 1000);
    }

    #[test]
    fn lowest_terms_are_found_where_they_are_asked_for() {
        let [big, half] = [Nat::from(7).pow(100), Nat::from(7).pow(99).mul_small(14)];
        let value = Rational::unreduced(false, big, half);
        assert!(matches!(value, Rational::Big(_)));
        assert!(matches!(value.settled(), Rational::Small { num: 1, den: 2 }));
    }
}
