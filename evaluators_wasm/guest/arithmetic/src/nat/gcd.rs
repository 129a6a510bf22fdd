//! Greatest common divisor: Lehmer's algorithm, with the exact stopping condition of Jebelean.

use super::{kernel, Nat, LIMB_BITS};

/// Bits of the leading parts that the quotients are guessed from. The cofactors stay below the square root
/// of 2^62, which is what `kernel::combine` takes.
const LEADING_BITS: u32 = 62;

/// Euclid's algorithm on words; `gcd(0, n)` is n.
pub fn gcd_words(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        let rest = a % b;
        a = b;
        b = rest;
    }
    a
}

/// The cofactors of several steps of Euclid's algorithm at once:
/// the pair (a, b) becomes (x0*a - y0*b, y1*b - x1*a), both negated where `odd`.
struct Cofactors {
    x0: u64,
    y0: u64,
    x1: u64,
    y1: u64,
    odd: bool,
}

impl Cofactors {
    /// Runs Euclid's algorithm on leading parts, a >= b, for as long as its quotients are those of the
    /// whole numbers.
    fn guess(mut a: u64, mut b: u64) -> Self {
        let mut known = Self {
            x0: 1,
            y0: 0,
            x1: 0,
            y1: 1,
            odd: false,
        };
        while b != 0 {
            let quotient = a / b;
            let rest = a - quotient * b;
            // Both are below 2^62: `quotient` and the older cofactor are bounded by the leading part over
            // the newer one.
            let x = known.x0 + quotient * known.x1;
            let y = known.y0 + quotient * known.y1;
            // Jebelean's condition; y >= x as a >= b, so that testing y covers both parities.
            if rest < y || b - rest < y + known.y1 {
                break;
            }
            known = Self {
                x0: known.x1,
                y0: known.y1,
                x1: x,
                y1: y,
                odd: !known.odd,
            };
            a = b;
            b = rest;
        }
        known
    }

    /// The factors of `kernel::combine`.
    fn factors(&self) -> [i64; 4] {
        let sign = if self.odd { -1 } else { 1 };
        [self.x0, self.y0, self.x1, self.y1].map(|cofactor| sign * cofactor as i64)
    }
}

impl Nat {
    /// The 62 bits that end `bits` bits from below, 0 where the number is shorter.
    fn leading(&self, bits: u32) -> u64 {
        // Three limbs cover any 62 bits.
        let from = bits - LEADING_BITS;
        let (whole, part) = ((from / LIMB_BITS) as usize, from % LIMB_BITS);
        let limb = |index: usize| u64::from(self.limbs.get(index).copied().unwrap_or(0));
        let low = limb(whole) | limb(whole + 1) << LIMB_BITS;
        let high = limb(whole + 2);
        let word = if part == 0 {
            low
        } else {
            low >> part | high << (u64::BITS - part)
        };
        word & ((1 << LEADING_BITS) - 1)
    }

    /// The greatest common divisor; that of 0 and n is n.
    pub fn gcd(&self, other: &Self) -> Self {
        let (mut a, mut b) = if self < other {
            (other.clone(), self.clone())
        } else {
            (self.clone(), other.clone())
        };
        while b.limbs.len() > 2 {
            let bits = a.bits();
            let cofactors = Cofactors::guess(a.leading(bits), b.leading(bits));
            if cofactors.y0 == 0 {
                // The quotient is too long to guess: divide.
                let rest = a.rem(&b);
                a = b;
                b = rest;
            } else {
                b.limbs.resize(a.limbs.len(), 0);
                kernel::combine(&mut a.limbs, &mut b.limbs, cofactors.factors());
                a = Self::from_limbs(a.limbs);
                b = Self::from_limbs(b.limbs);
            }
        }
        match b.to_u64() {
            Some(0) | None => a,
            Some(small) => {
                let rest = a.rem(&b).to_u64().unwrap_or(0);
                Self::from(gcd_words(small, rest))
            }
        }
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
                let factor = Nat::from(0xffff_ffff_ffff_fffb);
                assert_eq!(a.mul(&factor).gcd(&b.mul(&factor)), expected.mul(&factor));
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
