//! Products, powers and factorials, by the schoolbook: no legal operand is long enough for more.

use alloc::vec;

use super::{kernel, Nat, LIMB_BITS};

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
        let mut limbs = vec![0; long.limbs.len() + short.limbs.len()];
        for (start, factor) in short.limbs.iter().enumerate() {
            let end = start + long.limbs.len();
            limbs[end] = kernel::mul_add(&mut limbs[start..end], &long.limbs, *factor);
        }
        Self::from_limbs(limbs)
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
        Self::from_limbs(self.limbs)
    }

    /// `self * factor + add`, in place.
    pub(super) fn mul_add_small(&mut self, factor: u32, add: u32) {
        let over = kernel::mul_small(&mut self.limbs, factor, add);
        if over != 0 {
            self.limbs.push(over);
        }
    }

    /// The square: the products of different limbs once, doubled, then those of a limb with itself.
    fn square(&self) -> Self {
        let length = self.limbs.len();
        let mut limbs = vec![0; 2 * length];
        for start in 1..length {
            let others = &self.limbs[start..];
            let from = 2 * start - 1;
            let end = from + others.len();
            limbs[end] = kernel::mul_add(&mut limbs[from..end], others, self.limbs[start - 1]);
        }
        kernel::shl(&mut limbs, 1);
        let mut carry = 0;
        for (pair, limb) in limbs.chunks_exact_mut(2).zip(&self.limbs) {
            let square = u64::from(*limb) * u64::from(*limb);
            let low = u64::from(pair[0]) + (square & u64::from(u32::MAX)) + carry;
            let high = u64::from(pair[1]) + (square >> LIMB_BITS) + (low >> LIMB_BITS);
            pair[0] = low as u32;
            pair[1] = high as u32;
            carry = high >> LIMB_BITS;
        }
        Self::from_limbs(limbs)
    }

    /// The power. The caller has made sure that the result is of a size it wants.
    pub fn pow(&self, exponent: u32) -> Self {
        if self.is_zero() && exponent != 0 {
            return Self::zero();
        }
        // Powers of two are shifts; without them, the rest is the shorter to square.
        let twos = self.trailing_zeros();
        let odd = self.shr(twos);
        if odd.is_one() || exponent == 0 {
            return Self::one().shl(twos * exponent);
        }
        let mut power = odd.clone();
        for bit in (0..u32::BITS - 1 - exponent.leading_zeros()).rev() {
            power = power.square();
            if exponent >> bit & 1 == 1 {
                power = power.mul(&odd);
            }
        }
        power.shl(twos * exponent)
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
