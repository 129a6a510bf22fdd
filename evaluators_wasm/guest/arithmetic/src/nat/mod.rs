//! Natural numbers of any size: 32-bit limbs, the lowest first, no zero limb on top.
//!
//! The limb is half of what WebAssembly multiplies and divides, so that no step needs more than 64 bits.

mod decimal;
mod divide;
mod gcd;
mod kernel;
mod multiply;
mod root;

use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Ordering;

pub use gcd::gcd_words;

/// Bits of a limb.
const LIMB_BITS: u32 = u32::BITS;

/// A natural number; 0 has no limbs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Nat {
    limbs: Vec<u32>,
}

impl Nat {
    /// 0.
    pub fn zero() -> Self {
        Self { limbs: Vec::new() }
    }

    /// 1.
    pub fn one() -> Self {
        Self { limbs: vec![1] }
    }

    /// The limbs as they are, zero limbs on top removed.
    fn from_limbs(mut limbs: Vec<u32>) -> Self {
        while limbs.last() == Some(&0) {
            limbs.pop();
        }
        Self { limbs }
    }

    /// The value as a word, if it is below 2^64.
    pub fn to_u64(&self) -> Option<u64> {
        match *self.limbs.as_slice() {
            [] => Some(0),
            [low] => Some(u64::from(low)),
            [low, high] => Some(u64::from(high) << LIMB_BITS | u64::from(low)),
            _ => None,
        }
    }

    /// Whether it is 0.
    pub fn is_zero(&self) -> bool {
        self.limbs.is_empty()
    }

    /// Whether it is 1.
    pub fn is_one(&self) -> bool {
        self.limbs.as_slice() == [1]
    }

    /// Whether it is odd.
    pub fn is_odd(&self) -> bool {
        self.limbs.first().map_or(false, |low| low & 1 == 1)
    }

    /// The number of bits; 0 for 0.
    pub fn bits(&self) -> u32 {
        match self.limbs.last() {
            Some(top) => self.limbs.len() as u32 * LIMB_BITS - top.leading_zeros(),
            None => 0,
        }
    }

    /// How often 2 divides it; 0 for 0.
    pub fn trailing_zeros(&self) -> u32 {
        match self.limbs.iter().position(|limb| *limb != 0) {
            Some(index) => index as u32 * LIMB_BITS + self.limbs[index].trailing_zeros(),
            None => 0,
        }
    }

    /// The sum.
    pub fn add(mut self, other: &Self) -> Self {
        if self.limbs.len() < other.limbs.len() {
            self.limbs.resize(other.limbs.len(), 0);
        }
        let carry = kernel::add(&mut self.limbs, &other.limbs);
        if carry != 0 {
            self.limbs.push(carry);
        }
        self
    }

    /// The difference; `other` is not larger.
    pub fn sub(mut self, other: &Self) -> Self {
        kernel::sub(&mut self.limbs, &other.limbs);
        Self::from_limbs(self.limbs)
    }

    /// The value times 2^`bits`.
    pub fn shl(&self, bits: u32) -> Self {
        if self.is_zero() {
            return Self::zero();
        }
        let (whole, part) = ((bits / LIMB_BITS) as usize, bits % LIMB_BITS);
        let mut limbs = Vec::with_capacity(self.limbs.len() + whole + 1);
        limbs.resize(whole, 0);
        limbs.extend_from_slice(&self.limbs);
        if part != 0 {
            let carry = kernel::shl(&mut limbs[whole..], part);
            if carry != 0 {
                limbs.push(carry);
            }
        }
        Self { limbs }
    }

    /// The value divided by 2^`bits`, rounded down.
    pub fn shr(&self, bits: u32) -> Self {
        let (whole, part) = ((bits / LIMB_BITS) as usize, bits % LIMB_BITS);
        let mut limbs = self.limbs.get(whole..).unwrap_or(&[]).to_vec();
        if part != 0 {
            kernel::shr(&mut limbs, part);
        }
        Self::from_limbs(limbs)
    }
}

impl From<u64> for Nat {
    fn from(value: u64) -> Self {
        match (value as u32, (value >> LIMB_BITS) as u32) {
            (0, 0) => Self::zero(),
            (low, 0) => Self { limbs: vec![low] },
            (low, high) => Self {
                limbs: vec![low, high],
            },
        }
    }
}

impl Ord for Nat {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_length = self.limbs.len().cmp(&other.limbs.len());
        by_length.then_with(|| self.limbs.iter().rev().cmp(other.limbs.iter().rev()))
    }
}

impl PartialOrd for Nat {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers with everything that has ever broken a big-integer division: limbs of all zeros and all
    /// ones, powers of two and their neighbours, and a fixed pseudorandom sequence up to 110 limbs (more
    /// than 1,024 digits).
    pub fn samples() -> Vec<Nat> {
        let mut samples: Vec<Nat> = (0..4).map(Nat::from).collect();
        for bits in [31, 32, 33, 63, 64, 65, 95, 96, 127, 128, 500] {
            let power = Nat::one().shl(bits);
            samples.push(power.clone().sub(&Nat::one()));
            samples.push(power.clone().add(&Nat::one()));
            samples.push(power);
        }
        for pattern in 0..81_u32 {
            let limb = |place: u32| [0, 0x8000_0000, u32::MAX][(pattern / 3_u32.pow(place) % 3) as usize];
            samples.push(Nat::from_limbs((0..4).map(limb).collect()));
        }
        let mut state = 1_u64;
        for length in [1, 2, 3, 4, 5, 8, 13, 54, 107, 110] {
            let mut limb = || {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                (state >> 32) as u32
            };
            samples.push(Nat::from_limbs((0..length).map(|_| limb()).collect()));
        }
        samples
    }

    #[test]
    fn what_is_added_can_be_taken_away() {
        let samples = samples();
        for a in &samples {
            for b in &samples {
                let sum = a.clone().add(b);
                assert!(sum >= *a && sum >= *b);
                assert_eq!(sum.sub(b), *a);
            }
        }
    }

    #[test]
    fn shifts_are_products_with_powers_of_two() {
        for number in samples() {
            for bits in [0, 1, 31, 32, 33, 70] {
                let shifted = number.shl(bits);
                assert_eq!(shifted, number.mul(&Nat::one().shl(bits)));
                assert_eq!(shifted.shr(bits), number);
                assert_eq!(number.shr(bits), number.div(&Nat::one().shl(bits)));
            }
        }
    }

    #[test]
    fn an_order_is_by_value() {
        let samples = samples();
        for a in &samples {
            for b in &samples {
                let larger = a.clone().add(b).add(&Nat::one());
                assert!(*a < larger && larger > *b);
            }
            assert_eq!(a.cmp(a), Ordering::Equal);
        }
    }

    #[test]
    fn words_survive_the_way_in_and_out() {
        for word in [0, 1, u64::from(u32::MAX), 1 << 32, u64::MAX] {
            assert_eq!(Nat::from(word).to_u64(), Some(word));
        }
        assert_eq!(Nat::one().shl(64).to_u64(), None);
    }
}
