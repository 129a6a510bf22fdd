//! Products, powers and factorials, by the schoolbook: limb by limb for short numbers, in columns of digits for
//! long ones. No legal operand is so long that Karatsuba's products of halves would be quicker.

use alloc::vec;

use super::{columns, kernel, Factors, Nat, LIMB_BITS};

/// From this many limbs of the shorter factor on, columns are quicker.
const LONG: usize = 10;

impl Nat {
    /// The product.
    pub fn mul(&self, other: &Self) -> Self {
        let (long, short) = if self.limbs.len() < other.limbs.len() {
            (other, self)
        } else {
            (self, other)
        };
        match *short.limbs.as_slice() {
            [] => return Self::zero(),
            [factor] => return long.clone().mul_small(factor),
            _ => {}
        }
        let factors = self
            .factors()
            .zip(other.factors())
            .map(|(factors, others)| factors.product(others));
        if (LONG..=columns::MOST_LIMBS).contains(&short.limbs.len()) {
            // Powers of ten end in zero limbs.
            let (a, a_zeros) = long.without_zero_limbs();
            let (b, b_zeros) = short.without_zero_limbs();
            let product = columns::product(&columns::split(a), &columns::split(b));
            return Self::from_limbs(product)
                .shl((a_zeros + b_zeros) as u32 * LIMB_BITS)
                .with_factors(factors);
        }
        let mut limbs = vec![0; long.limbs.len() + short.limbs.len()];
        for (start, factor) in short.limbs.iter().enumerate() {
            let end = start + long.limbs.len();
            limbs[end] = kernel::mul_add(&mut limbs[start..end], &long.limbs, *factor);
        }
        Self::from_limbs(limbs).with_factors(factors)
    }

    /// The limbs from the first that is not 0 on, and how many are below.
    fn without_zero_limbs(&self) -> (&[u32], usize) {
        let zeros = self.limbs.iter().take_while(|limb| **limb == 0).count();
        (&self.limbs[zeros..], zeros)
    }

    /// The product of two numbers that are not needed any more: in the limbs of one where the other has a
    /// single limb.
    pub fn product(self, other: Self) -> Self {
        match (self.limbs.as_slice(), other.limbs.as_slice()) {
            (_, &[factor]) => self.mul_small(factor),
            (&[factor], _) => other.mul_small(factor),
            _ => self.mul(&other),
        }
    }

    /// The product with one limb.
    pub fn mul_small(mut self, factor: u32) -> Self {
        if factor == 1 {
            return self;
        }
        let over = kernel::mul_small(&mut self.limbs, factor, 0);
        if over != 0 {
            self.limbs.push(over);
        }
        let factors = match self.factors() {
            Some(factors) if factor > 0 => Factors::of_word(factor).map(|others| factors.product(&others)),
            _ => None,
        };
        Self::from_limbs(self.into_limbs()).with_factors(factors)
    }

    /// `self * factor + add`, in place.
    pub(super) fn mul_add_small(&mut self, factor: u32, add: u32) {
        *self.factors = None;
        let over = kernel::mul_small(&mut self.limbs, factor, add);
        if over != 0 {
            self.limbs.push(over);
        }
    }

    /// The square.
    pub(super) fn square(&self) -> Self {
        if (LONG..=columns::MOST_LIMBS).contains(&self.limbs.len()) {
            Self::from_limbs(columns::square(&columns::split(&self.limbs)))
        } else {
            self.mul(self)
        }
    }

    /// The power. The caller has made sure that the result is of a size it wants.
    pub fn pow(&self, exponent: u32) -> Self {
        if self.is_zero() && exponent != 0 {
            return Self::zero();
        }
        // Powers of two are shifts; without them, the rest is the shorter to square.
        let twos = self.trailing_zeros();
        let odd = self.shr_exact(twos);
        if odd.is_one() || exponent == 0 {
            return Self::one().shl(twos * exponent);
        }
        // The leading bits of the exponent as far as words go.
        let mut bits = u32::BITS - exponent.leading_zeros();
        let (mut power, word) = match *odd.limbs.as_slice() {
            [word] => {
                let mut power = 1_u64;
                while bits > 0 {
                    let factor = if exponent >> (bits - 1) & 1 == 1 { word } else { 1 };
                    let square = power.checked_mul(power);
                    match square.and_then(|square| square.checked_mul(u64::from(factor))) {
                        Some(next) => power = next,
                        None => break,
                    }
                    bits -= 1;
                }
                (Self::from(power), Some(word))
            }
            _ => {
                bits -= 1;
                (odd.clone(), None)
            }
        };
        for bit in (0..bits).rev() {
            power = power.square();
            if exponent >> bit & 1 == 1 {
                power = match word {
                    Some(word) => power.mul_small(word),
                    None => power.mul(&odd),
                };
            }
        }
        let factors = match (odd.factors(), word) {
            (Some(factors), _) => Some(factors.clone()),
            (None, Some(word)) => Factors::of_word(word),
            _ => None,
        };
        power
            .with_factors(factors.map(|factors| factors.power(exponent)))
            .shl(twos * exponent)
    }

    /// 10^`exponent`.
    pub fn power_of_ten(exponent: u32) -> Self {
        Self::from(10).pow(exponent)
    }

    /// The factorial of `n`, or `None` where it is certain to have more than `bits` bits, before anything
    /// is multiplied.
    pub fn factorial(n: u32, bits: u32) -> Option<Self> {
        // Each factor k contributes at least floor(log2(k)) bits.
        let mut least = 0;
        for factor in 2..=n {
            least += u32::BITS - 1 - factor.leading_zeros();
            if least > bits {
                return None;
            }
        }
        let mut product = Self::one();
        let mut factor = 1_u32;
        for next in 2..=n {
            match factor.checked_mul(next) {
                Some(both) => factor = both,
                None => {
                    product.mul_add_small(factor, 0);
                    factor = next;
                }
            }
        }
        Some(product.mul_small(factor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_limbs_multiply_without_loss() {
        // (2^k - 1)^2 = 2^2k - 2^(k+1) + 1
        for bits in [32, 64, 96, 1000] {
            let ones = Nat::one().shl(bits).sub(&Nat::one());
            let expected = Nat::one()
                .shl(2 * bits)
                .sub(&Nat::one().shl(bits + 1))
                .add(&Nat::one());
            assert_eq!(ones.mul(&ones), expected);
            assert_eq!(ones.square(), expected);
        }
    }

    #[test]
    fn powers_and_factorials_are_products() {
        let mut product = Nat::one();
        for exponent in 0..200 {
            assert_eq!(Nat::from(12).pow(exponent), product);
            product = product.mul_small(12);
        }
        let mut product = Nat::one();
        for n in 1..300 {
            product = product.mul_small(n);
            assert_eq!(Nat::factorial(n, 4000), Some(product.clone()));
        }
        assert_eq!(Nat::factorial(0, 8), Some(Nat::one()));
        assert_eq!(Nat::factorial(1_000_000_000, 4000), None);
        assert!(Nat::zero().pow(3).is_zero() && Nat::zero().pow(0).is_one());
    }
}
