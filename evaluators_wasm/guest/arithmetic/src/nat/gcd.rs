//! Greatest common divisor: Lehmer's algorithm, with the exact stopping condition of Jebelean.

use core::mem;

use super::{kernel, Factors, Nat, LIMB_BITS};

/// Bits of the leading parts that the quotients are guessed from.
const LEADING_BITS: u32 = 62;

/// Remainders of leading parts from here on are exact enough for the next quotient. The cofactors stay below
/// 2^62 divided by it, which is what `kernel::combine` takes.
const LEAST_REMAINDER: u64 = 1 << (LEADING_BITS / 2);

/// Euclid's algorithm on words; `gcd(0, n)` is n.
pub fn gcd_words(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        let rest = a % b;
        a = b;
        b = rest;
    }
    a
}

/// The factors [a, b, c, d] of several steps of Euclid's algorithm at once, as `kernel::combine` takes them:
/// the pair (x, y) becomes (a*x - b*y, d*y - c*x), the larger first. `None` where not even one step is certain.
///
/// `x` and `y` are leading parts, x >= y; the factors are right for all numbers that begin with these.
fn factors(mut x: u64, mut y: u64) -> Option<[i64; 4]> {
    // Of the parts X and Y at the start, x is x0*X - y0*Y and y is y1*Y - x1*X.
    let (mut x0, mut y0, mut x1, mut y1) = (1_u64, 0_u64, 0_u64, 1_u64);
    // The last quotients of either kind of step.
    let (mut x_quotient, mut y_quotient) = (0, 0);
    if y < LEAST_REMAINDER {
        return None;
    }
    let mut y_is_less = loop {
        let quotient = x / y;
        let rest = x - quotient * y;
        if rest < LEAST_REMAINDER {
            break true;
        }
        x = rest;
        x0 += quotient * x1;
        y0 += quotient * y1;
        x_quotient = quotient;
        let quotient = y / x;
        let rest = y - quotient * x;
        if rest < LEAST_REMAINDER {
            break false;
        }
        y = rest;
        x1 += quotient * x0;
        y1 += quotient * y0;
        y_quotient = quotient;
    };
    // Jebelean's condition: what is left out of X and Y keeps the order. The other half of it, that it keeps the
    // sign, follows from the least remainder. Where this one fails it holds a step earlier.
    if x.abs_diff(y) < y0 + y1 {
        if y_is_less {
            x1 -= y_quotient * x0;
            y1 -= y_quotient * y0;
        } else {
            x0 -= x_quotient * x1;
            y0 -= x_quotient * y1;
        }
        y_is_less = !y_is_less;
    }
    if y0 == 0 {
        return None;
    }
    let [x0, y0, x1, y1] = [x0, y0, x1, y1].map(|cofactor| cofactor as i64);
    Some(if y_is_less {
        [x0, y0, x1, y1]
    } else {
        [-x1, -y1, -x0, -y0]
    })
}

/// The leading bits of two numbers of the same number of limbs, 3 or more; those of the first are all there.
fn leading_parts(a: &[u32], b: &[u32]) -> (u64, u64) {
    let shift = a[a.len() - 1].leading_zeros();
    let leading = |limbs: &[u32]| {
        let limb = |from_top: usize| u64::from(limbs[limbs.len() - from_top]);
        let word = (limb(1) << LIMB_BITS | limb(2)) << shift | limb(3) << shift >> LIMB_BITS;
        word >> (u64::BITS - LEADING_BITS)
    };
    (leading(a), leading(b))
}

impl Nat {
    /// The greatest common divisor; that of 0 and n is n.
    pub fn gcd(&self, other: &Self) -> Self {
        if self.is_zero() || other.is_zero() {
            return if self.is_zero() {
                other.clone()
            } else {
                self.clone()
            };
        }
        let (less, more) = if self < other {
            (self, other)
        } else {
            (other, self)
        };
        if (less.factors().is_none() || more.factors().is_none()) && more.rem(less).is_zero() {
            return less.clone();
        }
        if let Some(factors) = self.shared_factors(other) {
            return self.divisor_of(other, &factors);
        }
        let (self_twos, other_twos) = (self.trailing_zeros(), other.trailing_zeros());
        let odd = Self::odd_gcd(self.shr(self_twos), other.shr(other_twos));
        match self_twos.min(other_twos) {
            0 => odd,
            twos => odd.shl(twos),
        }
    }

    /// The factors of the greatest common divisor, if those of one number are known; neither is 0.
    pub fn shared_factors(&self, other: &Self) -> Option<Factors> {
        if let Some(shared) = self.factors().and_then(|factors| other.shared_with(factors)) {
            return Some(shared);
        }
        other.factors().and_then(|factors| self.shared_with(factors))
    }

    /// The common divisor of these factors: often it is one of the numbers.
    fn divisor_of(&self, other: &Self, factors: &Factors) -> Self {
        match Some(factors) {
            all if all == self.factors() => self.clone(),
            all if all == other.factors() => other.clone(),
            _ => factors.value(),
        }
    }

    /// Takes the greatest common divisor out of two numbers; neither is 0.
    #[inline(never)]
    pub fn cancel(a: &mut Self, b: &mut Self) {
        if !a.is_one() && !b.is_one() {
            let common = a.gcd(b);
            Self::take_out(a, b, &common);
        }
    }

    /// The same, if it is quick to find; whether it is.
    #[inline(never)]
    pub fn cancel_known(a: &mut Self, b: &mut Self) -> bool {
        if a.is_one() || b.is_one() {
            return true;
        }
        let common = match a.shared_factors(b) {
            Some(factors) => a.divisor_of(b, &factors),
            None if a.limbs.len().min(b.limbs.len()) <= 2 => a.gcd(b),
            None => return false,
        };
        Self::take_out(a, b, &common);
        true
    }

    fn take_out(a: &mut Self, b: &mut Self, common: &Self) {
        if !common.is_one() {
            *a = a.div(common);
            *b = b.div(common);
        }
    }

    /// The greatest common divisor of two odd numbers.
    fn odd_gcd(mut a: Self, mut b: Self) -> Self {
        if a < b {
            mem::swap(&mut a, &mut b);
        }
        // The first quotient may be long, and often there is no remainder.
        let rest = a.rem(&b);
        if rest.is_zero() {
            return b;
        }
        a = b;
        b = rest;
        b.limbs.resize(a.limbs.len(), 0);
        while a.limbs.len() > 2 {
            let (x, y) = leading_parts(&a.limbs, &b.limbs);
            match factors(x, y) {
                Some(factors) => kernel::combine(&mut a.limbs, &mut b.limbs, factors),
                None => {
                    // The quotient is too long to guess: divide.
                    let length = a.limbs.len();
                    let divisor = Self::from_limbs(b.into_limbs());
                    if divisor.is_zero() {
                        return a;
                    }
                    b = a.rem(&divisor);
                    a = divisor;
                    a.limbs.resize(length, 0);
                    b.limbs.resize(length, 0);
                }
            }
            while a.limbs.len() > 2 && a.limbs.last() == Some(&0) {
                a.limbs.pop();
                b.limbs.pop();
            }
        }
        let word = |number: &Self| match *number.limbs.as_slice() {
            [low, high] => u64::from(high) << LIMB_BITS | u64::from(low),
            [low] => u64::from(low),
            _ => 0,
        };
        Self::from(gcd_words(word(&a), word(&b)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nat::tests::samples;

    /// Euclid's algorithm as it stands in the Elements.
    fn euclid(a: &Nat, b: &Nat) -> Nat {
        let (mut a, mut b) = (a.clone(), b.clone());
        while !b.is_zero() {
            let rest = a.rem(&b);
            a = b;
            b = rest;
        }
        a
    }

    #[test]
    fn lehmer_agrees_with_euclid() {
        let samples = samples();
        for a in &samples {
            for b in &samples {
                let expected = euclid(a, b);
                assert_eq!(a.gcd(b), expected);
                for factor in [Nat::from(0xffff_ffff_ffff_fffb), Nat::from(3).pow(400).shl(50)] {
                    assert_eq!(a.mul(&factor).gcd(&b.mul(&factor)), expected.mul(&factor));
                }
            }
        }
    }

    #[test]
    fn neighbouring_fibonacci_numbers_have_no_common_divisor() {
        // All quotients are 1: the longest run of Euclid's algorithm there is.
        let (mut a, mut b) = (Nat::one(), Nat::one());
        for _ in 0..4900 {
            let sum = a.add(&b);
            a = b;
            b = sum;
        }
        assert_eq!(a.gcd(&b), Nat::one());
        assert_eq!(a.mul(&b).gcd(&b.mul(&b)), b);
    }
}
