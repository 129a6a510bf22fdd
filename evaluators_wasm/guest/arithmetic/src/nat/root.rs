//! Square roots.

use super::{kernel, Nat};

/// The product of the odd primes below 20, in one limb.
const PRIMES_PRODUCT: u32 = 4_849_845;

/// These primes, each with its squares as a set of bits.
const PRIMES: [(u32, u32); 7] = [
    (3, squares(3)),
    (5, squares(5)),
    (7, squares(7)),
    (11, squares(11)),
    (13, squares(13)),
    (17, squares(17)),
    (19, squares(19)),
];

/// The squares modulo a number up to 32, as a set of bits.
const fn squares(modulus: u32) -> u32 {
    let (mut set, mut root) = (0, 0);
    while root < modulus {
        set |= 1 << (root * root % modulus);
        root += 1;
    }
    set
}

impl Nat {
    /// The square root, rounded down, and what the number has over its square.
    ///
    /// Zimmermann's recursion (Karatsuba Square Root, 1999): the root of the upper half, and a division that
    /// gives as many bits again.
    pub fn sqrt_rem(&self) -> (Self, Self) {
        if let Some(word) = self.to_u64() {
            let root = sqrt_word(word);
            return (Self::from(root), Self::from(word - root * root));
        }
        // The upper part has 2 * `quarter` bits or more.
        let quarter = self.bits() / 4;
        let (root, rest) = self.shr(2 * quarter).sqrt_rem();
        let dividend = rest.shl(quarter).add(&self.low_bits(2 * quarter).shr(quarter));
        let (quotient, rest) = dividend.div_rem(&root.shl(1));
        let mut root = root.shl(quarter).add(&quotient);
        let mut rest = rest.shl(quarter).add(&self.low_bits(quarter));
        let square = quotient.square();
        while rest < square {
            // 2 * root - 1, and the root is one less.
            let before = root.clone();
            root = root.sub(&Self::one());
            rest = rest.add(&before).add(&root);
        }
        (root, rest.sub(&square))
    }

    /// The square root, rounded down.
    pub fn sqrt(&self) -> Self {
        self.sqrt_rem().0
    }

    /// The square root, if it is a natural number.
    pub fn exact_sqrt(&self) -> Option<Self> {
        if let Some(factors) = self.factors() {
            return factors.root().map(|root| root.value());
        }
        match self.sqrt_rem() {
            (root, rest) if rest.is_zero() => Some(root),
            _ => None,
        }
    }

    /// Whether the product of two numbers can be a square, by remainders: of those that are none, one in
    /// hundreds passes.
    pub fn may_make_square(&self, other: &Self) -> bool {
        // Of the remainders of division by 64, 12 are squares.
        const SQUARES: u64 = 0x0202_0212_0203_0213;
        let low = |number: &Self| number.limbs.first().copied().unwrap_or(0);
        if SQUARES >> (low(self).wrapping_mul(low(other)) % 64) & 1 == 0 {
            return false;
        }
        let a = kernel::rem_small(&self.limbs, PRIMES_PRODUCT);
        let b = kernel::rem_small(&other.limbs, PRIMES_PRODUCT);
        PRIMES
            .iter()
            .all(|(prime, squares)| squares >> (a % prime * (b % prime) % prime) & 1 == 1)
    }
}

/// The square root of a word, rounded down: Newton's iteration from above, which stops at the rounded root.
fn sqrt_word(word: u64) -> u64 {
    if word == 0 {
        return 0;
    }
    let mut root = 1_u64 << ((u64::BITS - word.leading_zeros() + 1) / 2);
    loop {
        let next = (root + word / root) / 2;
        if next >= root {
            return root;
        }
        root = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nat::tests::samples;

    #[test]
    fn a_root_is_the_largest_number_whose_square_fits() {
        for number in samples() {
            let (root, rest) = number.sqrt_rem();
            assert_eq!(root.mul(&root).add(&rest), number);
            let above = root.clone().add(&Nat::one());
            assert!(root.mul(&root) <= number && number < above.mul(&above));
        }
    }

    #[test]
    fn exactly_the_squares_have_an_exact_root() {
        for root in samples() {
            let square = root.mul(&root);
            assert_eq!(square.exact_sqrt(), Some(root.clone()));
            for factor in [1, 3, 64, 1_000_003] {
                let factor = Nat::from(factor);
                assert!(square.mul(&factor).may_make_square(&factor));
            }
            if !root.is_zero() {
                assert_eq!(square.clone().add(&Nat::one()).exact_sqrt(), None);
            }
            if root > Nat::one() {
                assert_eq!(square.sub(&Nat::one()).exact_sqrt(), None);
            }
        }
        for number in 0..1000_u64 {
            let is_square = (0..32).any(|root| root * root == number);
            assert_eq!(Nat::from(number).exact_sqrt().is_some(), is_square);
            assert!(!is_square || Nat::from(number).may_make_square(&Nat::one()));
        }
        for number in [2, 3, 8, 12, 1000, 4_000_000_007] {
            assert!(!Nat::from(number).may_make_square(&Nat::one()));
        }
    }

    #[test]
    fn the_largest_word_has_a_root() {
        assert_eq!(sqrt_word(u64::MAX), 0xffff_ffff);
        assert_eq!(sqrt_word(0xffff_fffe_0000_0001), 0xffff_ffff);
        assert_eq!(sqrt_word(0xffff_fffe_0000_0000), 0xffff_fffe);
    }
}
