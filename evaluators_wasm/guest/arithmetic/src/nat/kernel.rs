//! The inner loops, over limbs. Their cost is the cost of everything large.

use super::LIMB_BITS;

/// How many limbs the longest loops take at a time: with fewer, a good part of the fuel is spent on
/// counting.
const STRIDE: usize = 4;

/// The low limb of a word.
#[inline]
fn low(word: u64) -> u32 {
    word as u32
}

/// `acc += other`, `other` not longer; returns the carry.
pub fn add(acc: &mut [u32], other: &[u32]) -> u32 {
    let (head, tail) = acc.split_at_mut(other.len());
    let mut carry = 0_u64;
    for (limb, add) in head.iter_mut().zip(other) {
        carry += u64::from(*limb) + u64::from(*add);
        *limb = low(carry);
        carry >>= LIMB_BITS;
    }
    for limb in tail {
        if carry == 0 {
            break;
        }
        carry += u64::from(*limb);
        *limb = low(carry);
        carry >>= LIMB_BITS;
    }
    low(carry)
}

/// `acc -= other`, `other` not longer; returns the borrow, 0 or 1.
pub fn sub(acc: &mut [u32], other: &[u32]) -> u32 {
    let (head, tail) = acc.split_at_mut(other.len());
    // 0 or -1, and the difference below it: two limbs never leave i64.
    let mut borrow = 0_i64;
    for (limb, take) in head.iter_mut().zip(other) {
        borrow += i64::from(*limb) - i64::from(*take);
        *limb = low(borrow as u64);
        borrow >>= LIMB_BITS;
    }
    for limb in tail {
        if borrow == 0 {
            break;
        }
        borrow += i64::from(*limb);
        *limb = low(borrow as u64);
        borrow >>= LIMB_BITS;
    }
    u32::from(borrow != 0)
}

/// `limbs = limbs * factor + carry`; returns the limb that runs over.
pub fn mul_small(limbs: &mut [u32], factor: u32, carry: u32) -> u32 {
    let factor = u64::from(factor);
    let mut carry = u64::from(carry);
    for limb in limbs {
        carry += u64::from(*limb) * factor;
        *limb = low(carry);
        carry >>= LIMB_BITS;
    }
    low(carry)
}

/// `acc += limbs * factor` over equal lengths; returns the limb that runs over.
pub fn mul_add(acc: &mut [u32], limbs: &[u32], factor: u32) -> u32 {
    let factor = u64::from(factor);
    let mut carry = 0_u64;
    let mut step = |sum: &mut u32, limb: u32| {
        carry += u64::from(limb) * factor + u64::from(*sum);
        *sum = low(carry);
        carry >>= LIMB_BITS;
    };
    let mut sums = acc.chunks_exact_mut(STRIDE);
    let mut parts = limbs.chunks_exact(STRIDE);
    for (sums, limbs) in (&mut sums).zip(&mut parts) {
        for i in 0..STRIDE {
            step(&mut sums[i], limbs[i]);
        }
    }
    for (sum, limb) in sums.into_remainder().iter_mut().zip(parts.remainder()) {
        step(sum, *limb);
    }
    low(carry)
}

/// `acc -= limbs * factor` over equal lengths; returns the limb still to be taken above.
pub fn mul_sub(acc: &mut [u32], limbs: &[u32], factor: u32) -> u32 {
    let factor = u64::from(factor);
    // What is still to be taken: the high limb of a product plus a borrow never leaves 32 bits.
    let mut owed = 0_u64;
    let mut step = |rest: &mut u32, limb: u32| {
        let difference = u64::from(*rest)
            .wrapping_sub(owed)
            .wrapping_sub(u64::from(limb) * factor);
        *rest = low(difference);
        owed = u64::from(low(difference >> LIMB_BITS).wrapping_neg());
    };
    let mut rests = acc.chunks_exact_mut(STRIDE);
    let mut parts = limbs.chunks_exact(STRIDE);
    for (rests, limbs) in (&mut rests).zip(&mut parts) {
        for i in 0..STRIDE {
            step(&mut rests[i], limbs[i]);
        }
    }
    for (rest, limb) in rests.into_remainder().iter_mut().zip(parts.remainder()) {
        step(rest, *limb);
    }
    low(owed)
}

/// `limbs /= divisor`, with a remainder from above; returns the remainder.
pub fn div_small(limbs: &mut [u32], divisor: u32) -> u32 {
    let divisor = u64::from(divisor);
    let mut rest = 0_u64;
    for limb in limbs.iter_mut().rev() {
        let part = rest << LIMB_BITS | u64::from(*limb);
        *limb = low(part / divisor);
        rest = part % divisor;
    }
    low(rest)
}

/// The remainder of a division by one limb.
pub fn rem_small(limbs: &[u32], divisor: u32) -> u32 {
    let divisor = u64::from(divisor);
    let mut rest = 0_u64;
    for limb in limbs.iter().rev() {
        rest = (rest << LIMB_BITS | u64::from(*limb)) % divisor;
    }
    low(rest)
}

/// `(x, y) = (a*x - b*y, d*y - c*x)` over equal lengths, where both are known to be natural numbers not
/// longer than before. The factors are below 2^31 in magnitude, so that no step leaves i64.
pub fn combine(x: &mut [u32], y: &mut [u32], [a, b, c, d]: [i64; 4]) {
    let (mut x_carry, mut y_carry) = (0_i64, 0_i64);
    let mut step = |x: &mut u32, y: &mut u32| {
        let (x_limb, y_limb) = (i64::from(*x), i64::from(*y));
        x_carry = (x_carry >> LIMB_BITS) + (a * x_limb - b * y_limb);
        *x = low(x_carry as u64);
        y_carry = (y_carry >> LIMB_BITS) + (d * y_limb - c * x_limb);
        *y = low(y_carry as u64);
    };
    let mut x_blocks = x.chunks_exact_mut(STRIDE);
    let mut y_blocks = y.chunks_exact_mut(STRIDE);
    for (x, y) in (&mut x_blocks).zip(&mut y_blocks) {
        for i in 0..STRIDE {
            step(&mut x[i], &mut y[i]);
        }
    }
    for (x, y) in x_blocks
        .into_remainder()
        .iter_mut()
        .zip(y_blocks.into_remainder())
    {
        step(x, y);
    }
}
