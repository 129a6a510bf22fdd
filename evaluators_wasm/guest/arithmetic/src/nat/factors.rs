//! The factors of numbers that come from powers.
//!
//! A common divisor of two numbers of 1,024 digits is dear to find, and nearly always one of them is a product of
//! powers: what else would be so long? What the other has of such factors is counted by divisions, or known too.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::{kernel, Nat};

/// The primes below 100.
const PRIMES: [u32; 25] = [
    2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97,
];

/// What has no prime factor below 100 is 1 or a prime below this, the square of the next prime.
const CERTAIN: u32 = 101 * 101;

/// The most factors whose multiplicity is counted: more, as two factorials share, cost more than Euclid's algorithm.
const MOST_COUNTED: usize = 6;

/// Primes, ascending, each with the number of times that it is a factor, which is not 0.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Factors(Vec<(u32, u32)>);

impl Factors {
    /// Those of a word, which is not 0. `None` where what small primes leave of it is too large to be sure.
    #[inline(never)]
    pub fn of_word(mut word: u32) -> Option<Self> {
        let mut factors = Vec::new();
        for prime in PRIMES {
            if word == 1 {
                break;
            }
            let mut times = 0;
            while word % prime == 0 {
                word /= prime;
                times += 1;
            }
            if times > 0 {
                factors.push((prime, times));
            }
        }
        if word >= CERTAIN {
            return None;
        }
        if word > 1 {
            factors.push((word, 1));
        }
        Some(Self(factors))
    }

    /// Those of 2^`times`.
    pub fn twos(times: u32) -> Self {
        Self(if times == 0 { Vec::new() } else { vec![(2, times)] })
    }

    /// Whether these are the factors of 1.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those of the power; the exponent is not 0.
    pub fn power(mut self, exponent: u32) -> Self {
        self.0.iter_mut().for_each(|(_, times)| *times *= exponent);
        self
    }

    /// Those of the square root, if it is a natural number.
    pub fn root(&self) -> Option<Self> {
        let halved = |(prime, times): &(u32, u32)| {
            if times % 2 == 0 {
                Some((*prime, times / 2))
            } else {
                None
            }
        };
        self.0.iter().map(halved).collect::<Option<_>>().map(Self)
    }

    /// Those of the product.
    pub fn product(&self, other: &Self) -> Self {
        self.merged(other, |a, b| a + b)
    }

    /// Those of the greatest common divisor.
    pub fn common(&self, other: &Self) -> Self {
        self.merged(other, u32::min)
    }

    /// Those of the quotient by a divisor that has these.
    pub fn quotient(&self, divisor: &Self) -> Self {
        self.merged(divisor, |a, b| a - b)
    }

    #[inline(never)]
    fn merged(&self, other: &Self, times: fn(u32, u32) -> u32) -> Self {
        let mut factors = Vec::with_capacity(self.0.len() + other.0.len());
        let (mut left, mut right) = (self.0.iter().peekable(), other.0.iter().peekable());
        loop {
            let prime = match (left.peek(), right.peek()) {
                (Some((a, _)), Some((b, _))) => *a.min(b),
                (Some((prime, _)), None) | (None, Some((prime, _))) => *prime,
                (None, None) => return Self(factors),
            };
            let is_prime = |factor: &&(u32, u32)| factor.0 == prime;
            let in_left = left.next_if(is_prime).map_or(0, |(_, times)| *times);
            let in_right = right.next_if(is_prime).map_or(0, |(_, times)| *times);
            let times = times(in_left, in_right);
            if times > 0 {
                factors.push((prime, times));
            }
        }
    }

    /// Their product.
    pub fn value(&self) -> Nat {
        let (mut product, mut word, mut twos) = (Nat::one(), 1_u32, 0);
        for (prime, times) in self.0.iter().copied() {
            if prime == 2 {
                twos = times;
                continue;
            }
            // What is short is collected in a limb.
            match prime.checked_pow(times) {
                Some(power) => match word.checked_mul(power) {
                    Some(both) => word = both,
                    None => {
                        product = product.mul_small(word);
                        word = power;
                    }
                },
                None => product = product.product(Nat::from(u64::from(prime)).pow(times)),
            }
        }
        product.mul_small(word).shl(twos).with_factors(Some(self.clone()))
    }
}

impl Nat {
    /// Its factors, where they are known.
    pub fn factors(&self) -> Option<&Factors> {
        self.factors.as_deref()
    }

    /// The same number, whose factors are these.
    pub(super) fn with_factors(mut self, factors: Option<Factors>) -> Self {
        *self.factors = factors.map(Box::new);
        self
    }

    /// What it shares with a number of these factors, `None` where Euclid's algorithm is as quick; it is not 0.
    pub fn shared_with(&self, factors: &Factors) -> Option<Factors> {
        if let Some(own) = self.factors() {
            return Some(own.common(factors));
        }
        let mut common = Vec::new();
        let mut left = factors.0.as_slice();
        while let Some((first, _)) = left.first() {
            // As many primes at a time as fit in one limb.
            let (mut product, mut end) = (*first, 1);
            while let Some(next) = left.get(end).and_then(|(prime, _)| product.checked_mul(*prime)) {
                product = next;
                end += 1;
            }
            let remainder = kernel::rem_small(&self.limbs, product);
            for (prime, most) in &left[..end] {
                if remainder % prime == 0 {
                    if common.len() == MOST_COUNTED {
                        return None;
                    }
                    common.push((*prime, self.multiplicity(*prime, *most)));
                }
            }
            left = &left[end..];
        }
        Some(Factors(common))
    }

    /// How often a prime divides it, up to `most`; it is not 0.
    pub fn multiplicity(&self, prime: u32, most: u32) -> u32 {
        if prime == 2 {
            return self.trailing_zeros().min(most);
        }
        // Powers, each the square of the one before, for as long as they divide; then the smaller ones again. Where
        // one does not divide, what it leaves is divisible as often; and it is shorter.
        let mut powers = vec![Self::from(u64::from(prime))];
        let (mut rest, mut count, mut grows) = (self.clone(), 0, true);
        while let Some(power) = powers.pop() {
            let times = 1 << powers.len();
            if times > most - count {
                grows = false;
                continue;
            }
            let (quotient, remainder) = rest.div_rem(&power);
            let divides = remainder.is_zero();
            rest = if divides { quotient } else { remainder };
            if divides {
                count += times;
            }
            grows &= divides;
            if grows {
                let square = power.square();
                powers.push(power);
                powers.push(square);
            }
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn power(base: u64, exponent: u32) -> Nat {
        Nat::from(base).pow(exponent)
    }

    #[test]
    fn factors_make_the_number() {
        for number in [
            power(6, 50).mul(&power(7, 40)),
            power(6, 50).mul_small(35),
            power(10, 50).shl(7),
            power(6, 50).shr_exact(20),
            power(6, 50).mul(&power(7, 40)).div(&power(6, 50)),
            power(6, 50).gcd(&power(10, 30)),
            power(10_193 * 97, 20),
            Nat::one(),
        ] {
            assert_eq!(number.factors().unwrap().value(), number);
        }
        let six = power(6, 50);
        for number in [
            six.clone().add(&Nat::one()),
            six.clone().sub(&Nat::one()),
            six.div(&power(7, 40)),
            six.shr(90),
            six.rem(&power(7, 40)),
            Nat::from_digits(b"123456789012345678901".iter().copied()),
            // 101^2 has no prime factor below 100.
            power(10_201, 30),
        ] {
            assert!(number.factors().is_none());
        }
    }

    #[test]
    fn the_root_of_known_factors_is_that_of_the_number() {
        for root in [power(6, 50).mul_small(35), power(101, 7), Nat::one()] {
            let square = root.mul(&root);
            assert!(square.factors().is_some());
            assert_eq!(square.exact_sqrt(), Some(root.clone()));
            assert_eq!(square.mul_small(6).exact_sqrt(), None);
        }
        assert_eq!(power(103 * 103, 7).exact_sqrt(), Some(power(103, 7)));
    }

    #[test]
    fn multiplicities_are_counted() {
        for base in [3, 5, 101, 0xffff_fffb] {
            for exponent in [0, 1, 2, 3, 4, 7, 8, 31, 32, 33, 100] {
                let number = power(u64::from(base), exponent).mul_small(2);
                for most in [0, 1, 5, 32, 100, 200] {
                    assert_eq!(number.multiplicity(base, most), exponent.min(most));
                }
            }
        }
    }

    #[test]
    fn the_divisor_does_not_depend_on_what_is_known() {
        let unknown = |number: &Nat| number.clone().with_factors(None);
        let numbers = [
            power(3, 200),
            power(15, 300),
            power(21, 100).mul(&power(5, 77)),
            power(1_000_003, 9).mul(&power(45, 60)),
            power(10_403, 30),
            power(101, 20).mul_small(6),
            power(0xffff_fffb, 3).mul(&power(9, 33)),
            power(10, 100),
            Nat::from(105),
            Nat::one(),
        ];
        for a in &numbers {
            for b in &numbers {
                let expected = unknown(a).gcd(&unknown(b));
                assert_eq!(a.gcd(b), expected);
                assert_eq!(unknown(a).gcd(b), expected);
                assert_eq!(a.gcd(&unknown(b)), expected);
                let (mut x, mut y) = (a.clone(), b.clone());
                Nat::cancel(&mut x, &mut y);
                assert_eq!((x.mul(&expected), y.mul(&expected)), (a.clone(), b.clone()));
            }
        }
    }
}
