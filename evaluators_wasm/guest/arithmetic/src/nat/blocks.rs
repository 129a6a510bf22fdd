//! Division with a long quotient, eight digits of it at a time.
//!
//! A block of quotient digits is found from the upper columns of the dividend alone; then the products with the
//! rest of the divisor are taken from the columns below, all at once and without a carry. Columns and digits of
//! the quotient may be negative: a guess that is one too large is made good by the next digit.

use alloc::vec;
use alloc::vec::Vec;

use super::columns::{add_rows, join, split, BLOCK, DIGIT_BITS};
use super::Nat;

/// The digits of the divisor that a block of the quotient is found from.
const HEAD: usize = BLOCK + 1;

/// Blocks between carries. A digit of the quotient is below 1.2 * 2^28: 64 products with one leave room in 63
/// bits.
const CARRY_BLOCKS: usize = 8;

impl Nat {
    /// Quotient, rounded down, and remainder; the divisor has more than `HEAD` digits, the dividend is not
    /// smaller.
    pub(super) fn div_rem_in_blocks(&self, divisor: &Self) -> (Self, Self) {
        // A top digit with its top bit set, and whole blocks below the top two digits.
        let bits = divisor.bits();
        let length = ((bits + DIGIT_BITS - 1) / DIGIT_BITS) as usize;
        let length = (length + 5) / BLOCK * BLOCK + 2;
        let shift = length as u32 * DIGIT_BITS - bits;
        let divisor = divisor.shl(shift);
        let dividend = split(&self.shl(shift).limbs);
        let places = (dividend.len() - length + BLOCK) / BLOCK * BLOCK;
        let mut columns = Vec::with_capacity(places + length);
        columns.extend(dividend.iter().map(|digit| u64::from(*digit)));
        columns.resize(places + length, 0);

        let digits = split(&divisor.limbs);
        let mut quotient = divide(&mut columns, &digits[..length], places);
        columns.truncate(length - 1);
        while carry(&mut columns) < 0 {
            for (column, digit) in columns.iter_mut().zip(&digits) {
                *column = column.wrapping_add(u64::from(*digit));
            }
            let top = u64::from(digits[length - 1]) << DIGIT_BITS;
            columns[length - 2] = columns[length - 2].wrapping_add(top);
            quotient[0] = quotient[0].wrapping_sub(1);
        }
        carry(&mut quotient);
        columns.resize(length + BLOCK - 2, 0);
        let (mut quotient, mut rest) = (
            Self::from_limbs(join(&quotient)),
            Self::from_limbs(join(&columns)),
        );
        while rest >= divisor {
            rest = rest.sub(&divisor);
            quotient = quotient.add(&Self::one());
        }
        (quotient, rest.shr(shift))
    }
}

/// Carries through signed columns, so that all are digits but the last, which is returned.
fn carry(columns: &mut [u64]) -> i64 {
    const MASK: u64 = (1 << DIGIT_BITS) - 1;
    let mut carry = 0_i64;
    if let Some((last, columns)) = columns.split_last_mut() {
        for column in columns {
            carry += *column as i64;
            *column = carry as u64 & MASK;
            carry >>= DIGIT_BITS;
        }
        carry += *last as i64;
        *last = carry as u64;
    }
    carry
}

/// The signed digits of the quotient; of the columns, those up to the last but one of the divisor become the
/// remainder, which may be negative or reach the divisor.
fn divide(columns: &mut [u64], divisor: &[u32], places: usize) -> Vec<u64> {
    let below = divisor.len() - 2;
    let mut head = [0; HEAD];
    for (head, digit) in head.iter_mut().zip(&divisor[divisor.len() - HEAD..]) {
        *head = i64::from(*digit);
    }
    // The top 32 bits.
    let top = head[HEAD - 1] << 4 | head[HEAD - 2] >> 24;
    let mut quotient = vec![0; places];
    for (block, quotient) in quotient.chunks_exact_mut(BLOCK).enumerate().rev() {
        let start = block * BLOCK;
        let mut window = [0; HEAD];
        for (window, column) in window.iter_mut().zip(&columns[start + below..]) {
            *window = *column as i64;
        }
        let q7 = digit::<7>(&mut window, &head, top);
        let q6 = digit::<6>(&mut window, &head, top);
        let q5 = digit::<5>(&mut window, &head, top);
        let q4 = digit::<4>(&mut window, &head, top);
        let q3 = digit::<3>(&mut window, &head, top);
        let q2 = digit::<2>(&mut window, &head, top);
        let q1 = digit::<1>(&mut window, &head, top);
        let q0 = digit::<0>(&mut window, &head, top);
        columns[start + below] = window[0] as u64;
        let minus = |digit: i64| digit.wrapping_neg() as u64;
        let rows = [
            minus(q0),
            minus(q1),
            minus(q2),
            minus(q3),
            minus(q4),
            minus(q5),
            minus(q6),
            minus(q7),
        ];
        for (quotient, digit) in quotient.iter_mut().zip([q0, q1, q2, q3, q4, q5, q6, q7]) {
            *quotient = digit as u64;
        }
        add_rows(&mut columns[start..start + below], &divisor[..below], rows);
        if block % CARRY_BLOCKS == 0 {
            carry(&mut columns[start..=start + below]);
        }
    }
    quotient
}

/// Digit number `PLACE` of the block, and the window without its product with the divisor.
///
/// The columns below the window are some 2^63 or less: that moves the guess by far less than one.
#[inline(always)]
fn digit<const PLACE: usize>(window: &mut [i64; HEAD], head: &[i64; HEAD], top: i64) -> i64 {
    let digit = ((window[PLACE + 1] << 4) + (window[PLACE] >> 24)) / top;
    for i in 0..PLACE + 2 {
        window[i] = window[i].wrapping_sub(digit.wrapping_mul(head[i + 7 - PLACE]));
    }
    window[PLACE] = window[PLACE].wrapping_add(window[PLACE + 1] << DIGIT_BITS);
    digit
}
