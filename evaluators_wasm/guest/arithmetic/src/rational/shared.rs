//! What two denominators share, and the size up to which common divisors are left in.

use super::{Fraction, Rational};
use crate::nat::{Factors, Nat};

/// The size of a part, in bits, up to which common divisors are left in: that of 10^1024, the largest limit
/// there is.
const LOOSE_BITS: u32 = 3402;

/// Whether a product is short enough for common divisors to be left in. It has as many bits as its factors
/// together, or one less.
pub fn stays_loose(a: &Nat, b: &Nat) -> bool {
    a.bits() + b.bits() - 1 <= LOOSE_BITS
}

/// Whether a number is a word.
fn is_short(number: &Nat) -> bool {
    number.bits() <= u64::BITS
}

/// What two denominators share, what each has besides, and their product: a multiple of both.
pub struct Shared {
    common: Common,
    /// What the first has besides.
    pub a_rest: Nat,
    /// What the second has besides.
    pub b_rest: Nat,
    total: Nat,
}

/// What the denominators of a sum share, which is all that can divide the sum of what is in lowest terms.
enum Common {
    /// Just these factors.
    Factors(Factors),
    /// Just these in one.
    Number(Nat),
    /// Anything: 1 was taken instead, since that was quicker.
    Unknown,
}

impl Shared {
    /// `loose` says that 1 will do.
    fn new(a: &Nat, b: &Nat, loose: bool) -> Self {
        if let Some(shared) = Self::by_factors(a, b) {
            return shared;
        }
        if a < b {
            let shared = Self::ordered(b, a, loose);
            return Self {
                a_rest: shared.b_rest,
                b_rest: shared.a_rest,
                ..shared
            };
        }
        Self::ordered(a, b, loose)
    }

    /// The same where the factors of both are known.
    fn by_factors(a: &Nat, b: &Nat) -> Option<Self> {
        let (a_factors, b_factors) = (a.factors()?, b.factors()?);
        let common = a_factors.common(b_factors);
        let (a_rest, b_rest) = (a_factors.quotient(&common), b_factors.quotient(&common));
        let rest = |number: &Nat, rest: &Factors| {
            if common.is_empty() {
                number.clone()
            } else {
                rest.value()
            }
        };
        let (a_rest, b_rest) = (rest(a, &a_rest), rest(b, &b_rest));
        let total = if a_rest.is_one() {
            b.clone()
        } else {
            a.mul(&b_rest)
        };
        Some(Self {
            common: Common::Factors(common),
            a_rest,
            b_rest,
            total,
        })
    }

    /// The same for a >= b.
    fn ordered(a: &Nat, b: &Nat, loose: bool) -> Self {
        let (quotient, rest) = a.div_rem(b);
        if rest.is_zero() {
            return Self {
                common: Common::Number(b.clone()),
                a_rest: quotient,
                b_rest: Nat::one(),
                total: a.clone(),
            };
        }
        let (common, divisor) = if loose && !is_short(b) {
            (Common::Unknown, Nat::one())
        } else {
            let divisor = a.gcd(b);
            (Common::Number(divisor.clone()), divisor)
        };
        let (a_rest, b_rest) = (a.div(&divisor), b.div(&divisor));
        Self {
            total: a.mul(&b_rest),
            common,
            a_rest,
            b_rest,
        }
    }

    /// The result with this numerator, from operands that are in lowest terms where `lowest` says so.
    pub fn finish(mut self, negative: bool, mut num: Nat, lowest: bool) -> Rational {
        if num.is_zero() {
            return Rational::integer(0);
        }
        match self.common {
            Common::Factors(factors) => {
                if let Some(factors) = num.shared_with(&factors) {
                    if !factors.is_empty() {
                        let common = factors.value();
                        num = num.div(&common);
                        self.total = self.total.div(&common);
                    }
                    return Rational::new(negative, num, self.total, lowest);
                }
            }
            Common::Number(mut common) => {
                let before = common.clone();
                let mut cancelled = Nat::cancel_known(&mut num, &mut common);
                if !cancelled && self.total.bits() > LOOSE_BITS {
                    Nat::cancel(&mut num, &mut common);
                    cancelled = true;
                }
                if cancelled {
                    self.total = self.total.div(&before.div(&common));
                    return Rational::new(negative, num, self.total, lowest);
                }
            }
            Common::Unknown => {}
        }
        Rational::unreduced(negative, num, self.total)
    }
}

/// Two operands and what their denominators share. `fits` says whether the numerator of the result, as it would
/// then be, is of a size that common divisors may be left in; where it is not or the denominator is not, the
/// operands are brought to lowest terms.
pub fn with_shared(
    mut a: Fraction,
    mut b: Fraction,
    fits: impl Fn(&Fraction, &Fraction, &Shared) -> bool,
) -> (Fraction, Fraction, Shared) {
    let share = |a: &Fraction, b: &Fraction| {
        let is_lowest = a.lowest && b.lowest;
        let short = stays_loose(&a.den, &b.den) && stays_loose(&a.num, &b.den) && stays_loose(&b.num, &a.den);
        Shared::new(&a.den, &b.den, short || !is_lowest)
    };
    let mut shared = share(&a, &b);
    let is_lowest = a.lowest && b.lowest;
    if !is_lowest && (shared.total.bits() > LOOSE_BITS || !fits(&a, &b, &shared)) {
        a.settle();
        b.settle();
        shared = share(&a, &b);
    }
    (a, b, shared)
}
