//! Long products: numbers as digits of 28 bits, their products as columns that carry only once, at the end.
//!
//! The product of two digits has 56 bits, so that a column of 64 holds the sum of 256 of them. Eight digits
//! times eight at a time, without a carry in between, take a third of the instructions of a loop that carries.

use alloc::vec::Vec;

/// Bits of a digit.
pub const DIGIT_BITS: u32 = 28;

/// The digits of a block; every number of digits here is a multiple of it.
pub const BLOCK: usize = 8;

/// The limbs of a block, which has as many bits.
const BLOCK_LIMBS: usize = 7;

/// The most limbs of the shorter factor: 31 blocks, as many products as a column holds, less a block for
/// the carry.
pub const MOST_LIMBS: usize = 31 * BLOCK_LIMBS;

const MASK: u32 = (1 << DIGIT_BITS) - 1;

/// The digits of a number of limbs.
pub fn split(limbs: &[u32]) -> Vec<u32> {
    let mut digits = Vec::with_capacity((limbs.len() + BLOCK_LIMBS - 1) / BLOCK_LIMBS * BLOCK);
    let blocks = limbs.chunks_exact(BLOCK_LIMBS);
    let rest = blocks.remainder();
    for limbs in blocks {
        digits.extend_from_slice(&split_block(limbs));
    }
    if !rest.is_empty() {
        let mut last = [0; BLOCK_LIMBS];
        last[..rest.len()].copy_from_slice(rest);
        digits.extend_from_slice(&split_block(&last));
    }
    digits
}

#[inline]
fn split_block(limbs: &[u32]) -> [u32; BLOCK] {
    [
        limbs[0] & MASK,
        (limbs[0] >> 28 | limbs[1] << 4) & MASK,
        (limbs[1] >> 24 | limbs[2] << 8) & MASK,
        (limbs[2] >> 20 | limbs[3] << 12) & MASK,
        (limbs[3] >> 16 | limbs[4] << 16) & MASK,
        (limbs[4] >> 12 | limbs[5] << 20) & MASK,
        (limbs[5] >> 8 | limbs[6] << 24) & MASK,
        limbs[6] >> 4,
    ]
}

/// The limbs of the number that columns stand for: natural numbers that do not run over in sum.
pub fn join(columns: &[u64]) -> Vec<u32> {
    let mut limbs = Vec::with_capacity(columns.len() / BLOCK * BLOCK_LIMBS);
    let mut carry = 0;
    for columns in columns.chunks_exact(BLOCK) {
        let column = |i: usize| columns[i];
        let columns = [
            column(0),
            column(1),
            column(2),
            column(3),
            column(4),
            column(5),
            column(6),
            column(7),
        ];
        carry = join_block(&mut limbs, columns, carry);
    }
    limbs
}

/// What the columns below a block leave to it: the sums that reach into it, and a carry.
#[derive(Default)]
struct Below {
    sums: [u64; BLOCK - 1],
    carry: u64,
}

/// The limbs of the product; the shorter factor has at most `MOST_LIMBS`.
pub fn product(a: &[u32], b: &[u32]) -> Vec<u32> {
    let (a_blocks, b_blocks) = (a.len() / BLOCK, b.len() / BLOCK);
    let mut limbs = Vec::with_capacity((a_blocks + b_blocks) * BLOCK_LIMBS);
    let mut below = Below::default();
    for column in 0..a_blocks + b_blocks {
        // Block i of a meets block `column - i` of b.
        let first = (column + 1).saturating_sub(b_blocks).min(a_blocks);
        let end = a_blocks.min(column + 1);
        let a = &a[first * BLOCK..end * BLOCK];
        let b = &b[(column + 1 - end) * BLOCK..(column + 1 - first) * BLOCK];
        add_blocks(&mut limbs, &mut below, a, b, &[]);
    }
    limbs
}

/// The limbs of the square: the products of different blocks once, with one side doubled, and those of a
/// block with itself.
pub fn square(a: &[u32]) -> Vec<u32> {
    let doubled: Vec<u32> = a.iter().map(|digit| digit << 1).collect();
    let blocks = a.len() / BLOCK;
    let mut limbs = Vec::with_capacity(2 * blocks * BLOCK_LIMBS);
    let mut below = Below::default();
    for column in 0..2 * blocks {
        let first = (column + 1).saturating_sub(blocks);
        let middle = (column + 1) / 2;
        let low = &doubled[first * BLOCK..middle * BLOCK];
        let high = &a[(column + 1 - middle) * BLOCK..(column + 1 - first) * BLOCK];
        let own = if column % 2 == 0 {
            &a[middle * BLOCK..(middle + 1) * BLOCK]
        } else {
            &[]
        };
        add_blocks(&mut limbs, &mut below, low, high, own);
    }
    limbs
}

/// One block of columns: the products of the first block of `a` with the last of `b`, of the second with the
/// last but one, and so on, and the square of the block `own`, if there is one.
fn add_blocks(limbs: &mut Vec<u32>, below: &mut Below, a: &[u32], b: &[u32], own: &[u32]) {
    let [mut s0, mut s1, mut s2, mut s3, mut s4, mut s5, mut s6] = below.sums;
    let [mut s7, mut s8, mut s9, mut s10, mut s11, mut s12, mut s13, mut s14] = [0; BLOCK];
    for (a, b) in a.chunks_exact(BLOCK).zip(b.rchunks_exact(BLOCK)) {
        let [a0, a1, a2, a3, a4, a5, a6, a7] = words(a);
        let [b0, b1, b2, b3, b4, b5, b6, b7] = words(b);
        s0 += a0 * b0;
        s1 += a0 * b1 + a1 * b0;
        s2 += a0 * b2 + a1 * b1 + a2 * b0;
        s3 += a0 * b3 + a1 * b2 + a2 * b1 + a3 * b0;
        s4 += a0 * b4 + a1 * b3 + a2 * b2 + a3 * b1 + a4 * b0;
        s5 += a0 * b5 + a1 * b4 + a2 * b3 + a3 * b2 + a4 * b1 + a5 * b0;
        s6 += a0 * b6 + a1 * b5 + a2 * b4 + a3 * b3 + a4 * b2 + a5 * b1 + a6 * b0;
        s7 += a0 * b7 + a1 * b6 + a2 * b5 + a3 * b4 + a4 * b3 + a5 * b2 + a6 * b1 + a7 * b0;
        s8 += a1 * b7 + a2 * b6 + a3 * b5 + a4 * b4 + a5 * b3 + a6 * b2 + a7 * b1;
        s9 += a2 * b7 + a3 * b6 + a4 * b5 + a5 * b4 + a6 * b3 + a7 * b2;
        s10 += a3 * b7 + a4 * b6 + a5 * b5 + a6 * b4 + a7 * b3;
        s11 += a4 * b7 + a5 * b6 + a6 * b5 + a7 * b4;
        s12 += a5 * b7 + a6 * b6 + a7 * b5;
        s13 += a6 * b7 + a7 * b6;
        s14 += a7 * b7;
    }
    for own in own.chunks_exact(BLOCK) {
        let [a0, a1, a2, a3, a4, a5, a6, a7] = words(own);
        s0 += a0 * a0;
        s1 += (a0 * a1) << 1;
        s2 += ((a0 * a2) << 1) + a1 * a1;
        s3 += (a0 * a3 + a1 * a2) << 1;
        s4 += ((a0 * a4 + a1 * a3) << 1) + a2 * a2;
        s5 += (a0 * a5 + a1 * a4 + a2 * a3) << 1;
        s6 += ((a0 * a6 + a1 * a5 + a2 * a4) << 1) + a3 * a3;
        s7 += (a0 * a7 + a1 * a6 + a2 * a5 + a3 * a4) << 1;
        s8 += ((a1 * a7 + a2 * a6 + a3 * a5) << 1) + a4 * a4;
        s9 += (a2 * a7 + a3 * a6 + a4 * a5) << 1;
        s10 += ((a3 * a7 + a4 * a6) << 1) + a5 * a5;
        s11 += (a4 * a7 + a5 * a6) << 1;
        s12 += ((a5 * a7) << 1) + a6 * a6;
        s13 += (a6 * a7) << 1;
        s14 += a7 * a7;
    }
    below.sums = [s8, s9, s10, s11, s12, s13, s14];
    below.carry = join_block(limbs, [s0, s1, s2, s3, s4, s5, s6, s7], below.carry);
}

/// `columns += digits * rows`, where `rows` are the digits of a block, of either sign; what lies beyond the
/// columns is left out.
pub fn add_rows(columns: &mut [u64], digits: &[u32], rows: [u64; BLOCK]) {
    let [r0, r1, r2, r3, r4, r5, r6, r7] = rows;
    // The digits before those at hand.
    let [mut b1, mut b2, mut b3, mut b4, mut b5, mut b6, mut b7] = [0; BLOCK - 1];
    for (columns, digits) in columns.chunks_exact_mut(BLOCK).zip(digits.chunks_exact(BLOCK)) {
        let [d0, d1, d2, d3, d4, d5, d6, d7] = words(digits);
        let mut add = |i: usize, d: [u64; BLOCK]| {
            let mut sum = columns[i];
            sum = sum.wrapping_add(r0.wrapping_mul(d[0]));
            sum = sum.wrapping_add(r1.wrapping_mul(d[1]));
            sum = sum.wrapping_add(r2.wrapping_mul(d[2]));
            sum = sum.wrapping_add(r3.wrapping_mul(d[3]));
            sum = sum.wrapping_add(r4.wrapping_mul(d[4]));
            sum = sum.wrapping_add(r5.wrapping_mul(d[5]));
            sum = sum.wrapping_add(r6.wrapping_mul(d[6]));
            sum = sum.wrapping_add(r7.wrapping_mul(d[7]));
            columns[i] = sum;
        };
        add(0, [d0, b1, b2, b3, b4, b5, b6, b7]);
        add(1, [d1, d0, b1, b2, b3, b4, b5, b6]);
        add(2, [d2, d1, d0, b1, b2, b3, b4, b5]);
        add(3, [d3, d2, d1, d0, b1, b2, b3, b4]);
        add(4, [d4, d3, d2, d1, d0, b1, b2, b3]);
        add(5, [d5, d4, d3, d2, d1, d0, b1, b2]);
        add(6, [d6, d5, d4, d3, d2, d1, d0, b1]);
        add(7, [d7, d6, d5, d4, d3, d2, d1, d0]);
        [b1, b2, b3, b4, b5, b6, b7] = [d7, d6, d5, d4, d3, d2, d1];
    }
}

/// Eight digits as words.
#[inline(always)]
fn words(digits: &[u32]) -> [u64; BLOCK] {
    let digit = |i: usize| u64::from(digits[i]);
    [
        digit(0),
        digit(1),
        digit(2),
        digit(3),
        digit(4),
        digit(5),
        digit(6),
        digit(7),
    ]
}

/// Writes a block of columns, and what the columns below carry into it, as limbs; returns the carry.
#[inline(always)]
fn join_block(limbs: &mut Vec<u32>, columns: [u64; BLOCK], carry: u64) -> u64 {
    let [c0, c1, c2, c3, c4, c5, c6, c7] = columns;
    let c0 = c0 + carry;
    let c1 = c1 + (c0 >> DIGIT_BITS);
    let c2 = c2 + (c1 >> DIGIT_BITS);
    let c3 = c3 + (c2 >> DIGIT_BITS);
    let c4 = c4 + (c3 >> DIGIT_BITS);
    let c5 = c5 + (c4 >> DIGIT_BITS);
    let c6 = c6 + (c5 >> DIGIT_BITS);
    let c7 = c7 + (c6 >> DIGIT_BITS);
    let [d0, d1, d2, d3] = [c0 as u32, c1 as u32, c2 as u32, c3 as u32];
    let [d4, d5, d6, d7] = [c4 as u32, c5 as u32, c6 as u32, c7 as u32];
    limbs.extend_from_slice(&[
        (d0 & MASK) | d1 << 28,
        (d1 & MASK) >> 4 | d2 << 24,
        (d2 & MASK) >> 8 | d3 << 20,
        (d3 & MASK) >> 12 | d4 << 16,
        (d4 & MASK) >> 16 | d5 << 12,
        (d5 & MASK) >> 20 | d6 << 8,
        (d6 & MASK) >> 24 | d7 << 4,
    ]);
    c7 >> DIGIT_BITS
}
