//! Square roots.

use super::Nat;

impl Nat {
    /// The square root, rounded down.
    ///
    /// Newton's iteration from above, which stops at the rounded root, started from the root of the upper
    /// half.
    pub fn sqrt(&self) -> Self {
        let bits = self.bits();
        let mut root = match self.to_u64() {
            // From above here too: 2^ceil(bits / 2) is larger than the root.
            Some(word) => return Self::from(sqrt_word(word)),
            None => {
                let half = bits / 4;
                self.shr(2 * half).sqrt().add(&Self::one()).shl(half)
            }
        };
        loop {
            let next = root.clone().add(&self.div(&root)).shr(1);
            if next >= root {
                return root;
            }
            root = next;
        }
    }

    /// The square root, if it is a natural number.
    pub fn exact_sqrt(&self) -> Option<Self> {
        // Of the remainders of division by 64, 12 are squares: most other numbers stop here.
        const SQUARES: u64 = 0x0202_0212_0203_0213;
        let low = self.limbs.first().copied().unwrap_or(0) % 64;
        if SQUARES >> low & 1 == 0 {
            return None;
        }
        let root = self.sqrt();
        if root.mul(&root) == *self {
            Some(root)
        } else {
            None
        }
    }
}

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
            let root = number.sqrt();
            let above = root.clone().add(&Nat::one());
            assert!(root.mul(&root) <= number && number < above.mul(&above));
        }
    }

    #[test]
    fn exactly_the_squares_have_an_exact_root() {
        for root in samples() {
            let square = root.mul(&root);
            assert_eq!(square.exact_sqrt(), Some(root.clone()));
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
        }
    }

    #[test]
    fn the_largest_word_has_a_root() {
        assert_eq!(sqrt_word(u64::MAX), 0xffff_ffff);
        assert_eq!(sqrt_word(0xffff_fffe_0000_0001), 0xffff_ffff);
        assert_eq!(sqrt_word(0xffff_fffe_0000_0000), 0xffff_fffe);
    }
}
