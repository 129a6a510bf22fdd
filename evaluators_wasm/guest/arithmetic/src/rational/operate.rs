//! Sum, product, quotient, floored quotient and remainder.
//!
//! Words where both operands are short; otherwise by the rules of The Art of Computer Programming, volume 2, section 4.5.1,
//! which find common divisors of short numbers before the multiplication instead of one of a long product after it.

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

/// Both numerators over the least common denominator, given as two factors: that of `a` without what
/// it shares with that of `b`, and that of `b`.
struct Aligned {
    a: Nat,
    b: Nat,
    rest: Nat,
    den: Nat,
}

impl Aligned {
    fn new(a: Fraction, b: Fraction) -> Self {
        let common = if a.den == b.den { a.den.clone() } else { a.den.gcd(&b.den) };
        let rest = a.den.div(&common);
        Self { a: a.num.mul(&b.den.div(&common)), b: b.num.mul(&rest), rest, den: b.den }
    }

    /// A numerator over the common denominator, in lowest terms.
    fn over(self, negative: bool, mut num: Nat) -> Rational {
        let (mut rest, mut den) = (self.rest, self.den);
        cancel(&mut num, &mut den);
        cancel(&mut num, &mut rest);
        Rational::from_parts(negative, num, den.mul(&rest))
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
        let Fraction { negative, num, den } = other.into_fraction();
        mul_fractions(self.into_fraction(), Fraction { negative, num: den, den: num })
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
        let (a_negative, b_negative) = (a.negative, b.negative);
        let aligned = Aligned::new(a, b);
        let mut rest = aligned.a.rem(&aligned.b);
        if a_negative != b_negative && !rest.is_zero() {
            rest = aligned.b.clone().sub(&rest);
        }
        aligned.over(b_negative && !rest.is_zero(), rest)
    }
}

fn add_fractions(a: Fraction, b: Fraction) -> Rational {
    let (a_negative, b_negative) = (a.negative, b.negative);
    if a.den.is_one() && b.den.is_one() {
        let (negative, sum) = signed_sum(a_negative, a.num, b_negative, b.num);
        return Rational::from_parts(negative, sum, a.den);
    }
    let common = if a.den == b.den { a.den.clone() } else { a.den.gcd(&b.den) };
    let a_rest = a.den.div(&common);
    let b_rest = b.den.div(&common);
    let (negative, sum) = signed_sum(a_negative, a.num.mul(&b_rest), b_negative, b.num.mul(&a_rest));
    if sum.is_zero() {
        return Rational::integer(0);
    }
    // Only what the denominators share can divide the sum.
    let mut common = common;
    let mut num = sum;
    cancel(&mut num, &mut common);
    Rational::from_parts(negative, num, a_rest.mul(&b_rest).mul(&common))
}

fn mul_fractions(mut a: Fraction, mut b: Fraction) -> Rational {
    if a.num.is_zero() || b.num.is_zero() {
        return Rational::integer(0);
    }
    cancel(&mut a.num, &mut b.den);
    cancel(&mut b.num, &mut a.den);
    Rational::from_parts(a.negative != b.negative, a.num.mul(&b.num), a.den.mul(&b.den))
}
