//! Natural numbers of any size: 32-bit limbs, the lowest first, no zero limb on top.
//!
//! The limb is half of what WebAssembly multiplies and divides, so that no step needs more than 64 bits.

mod blocks;
mod columns;
mod decimal;
mod divide;
mod factors;
mod gcd;
mod kernel;
mod multiply;
mod root;

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::mem::{self, ManuallyDrop};

pub use factors::Factors;
pub use gcd::gcd_words;

/// Bits of a limb.
const LIMB_BITS: u32 = u32::BITS;

/// A natural number; 0 has no limbs.
#[derive(Debug)]
pub struct Nat {
    limbs: ManuallyDrop<Vec<u32>>,
    /// Its factors, where they are known.
    factors: ManuallyDrop<Option<Box<Factors>>>,
}

impl Drop for Nat {
    // Once in the module instead of wherever a number ends, which would make a tenth of the code.
    #[inline(never)]
    fn drop(&mut self) {
        drop(ManuallyDrop::into_inner(mem::take(&mut self.limbs)));
        drop(ManuallyDrop::into_inner(mem::take(&mut self.factors)));
    }
}

impl Nat {
    /// 0.
    pub fn zero() -> Self {
        Self::with(Vec::new(), None)
    }

    /// 1.
    pub fn one() -> Self {
        Self::with(vec![1], Some(Box::default()))
    }

    /// The limbs as they are, zero limbs on top removed.
    #[inline(never)]
    fn from_limbs(mut limbs: Vec<u32>) -> Self {
        while limbs.last() == Some(&0) {
            limbs.pop();
        }
        Self::with(limbs, None)
    }

    fn with(limbs: Vec<u32>, factors: Option<Box<Factors>>) -> Self {
        Self {
            limbs: ManuallyDrop::new(limbs),
            factors: ManuallyDrop::new(factors),
        }
    }

    /// The limbs of a number that is not needed any more.
    fn into_limbs(mut self) -> Vec<u32> {
        mem::take(&mut *self.limbs)
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

    /// The leading 32 bits, zeros after the last where it has fewer; it is not 0.
    pub fn leading_limb(&self) -> u64 {
        let limb = |from_top: usize| match self.limbs.len().checked_sub(from_top) {
            Some(index) => self.limbs[index],
            None => 0,
        };
        let (high, low) = (limb(1), limb(2));
        let word = u64::from(high) << LIMB_BITS | u64::from(low);
        word << high.leading_zeros() >> LIMB_BITS
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
        self.with_factors(None)
    }

    /// The difference; `other` is not larger.
    pub fn sub(mut self, other: &Self) -> Self {
        kernel::sub(&mut self.limbs, &other.limbs);
        Self::from_limbs(self.into_limbs())
    }

    /// The value times 2^`bits`.
    pub fn shl(&self, bits: u32) -> Self {
        if self.is_zero() {
            return Self::zero();
        }
        let (whole, part) = ((bits / LIMB_BITS) as usize, bits % LIMB_BITS);
        let mut limbs = Vec::with_capacity(self.limbs.len() + whole + 1);
        limbs.resize(whole, 0);
        if part == 0 {
            limbs.extend_from_slice(&self.limbs);
        } else {
            let mut carry = 0;
            limbs.extend(self.limbs.iter().map(|limb| {
                let shifted = limb << part | carry;
                carry = limb >> (LIMB_BITS - part);
                shifted
            }));
            if carry != 0 {
                limbs.push(carry);
            }
        }
        let factors = self
            .factors()
            .map(|factors| factors.product(&Factors::twos(bits)));
        Self::from_limbs(limbs).with_factors(factors)
    }

    /// The value divided by 2^`bits`, which divides it.
    pub fn shr_exact(&self, bits: u32) -> Self {
        let factors = self
            .factors()
            .map(|factors| factors.quotient(&Factors::twos(bits)));
        self.shr(bits).with_factors(factors)
    }

    /// The value divided by 2^`bits`, rounded down.
    pub fn shr(&self, bits: u32) -> Self {
        let (whole, part) = ((bits / LIMB_BITS) as usize, bits % LIMB_BITS);
        let kept = self.limbs.get(whole..).unwrap_or(&[]);
        if part == 0 {
            return Self::from_limbs(kept.to_vec());
        }
        // Each limb but the first, and 0 at the end, gives the one below its lower bits.
        let above = kept.iter().skip(1).chain(&[0]);
        let limbs = kept
            .iter()
            .zip(above)
            .map(|(limb, above)| limb >> part | above << (LIMB_BITS - part))
            .collect();
        Self::from_limbs(limbs)
    }
}

impl Nat {
    /// The remainder of division by 2^`bits`.
    pub fn low_bits(&self, bits: u32) -> Self {
        let (whole, part) = ((bits / LIMB_BITS) as usize, bits % LIMB_BITS);
        if whole >= self.limbs.len() {
            return self.clone();
        }
        let mut limbs = self.limbs[..whole + usize::from(part > 0)].to_vec();
        if part > 0 {
            limbs[whole] &= (1 << part) - 1;
        }
        Self::from_limbs(limbs)
    }
}

impl PartialEq for Nat {
    fn eq(&self, other: &Self) -> bool {
        self.limbs == other.limbs
    }
}

impl Eq for Nat {}

impl Clone for Nat {
    // Once in the module instead of at every use.
    #[inline(never)]
    fn clone(&self) -> Self {
        // With room for what a sum or a small product carries over.
        let mut limbs = Vec::with_capacity(self.limbs.len() + 1);
        limbs.extend_from_slice(&self.limbs);
        Self::with(limbs, Option::clone(&self.factors))
    }
}

impl From<u64> for Nat {
    fn from(value: u64) -> Self {
        Self::from_limbs(vec![value as u32, (value >> LIMB_BITS) as u32])
    }
}

impl Ord for Nat {
    #[inline(never)]
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
                assert_eq!(number.low_bits(bits), number.rem(&Nat::one().shl(bits)));
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
