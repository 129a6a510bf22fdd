//! SHA-1 (FIPS 180-4).

use crate::blocks::{self, Order};

/// Writes the 20 bytes of the digest.
pub(crate) fn sha1(text: &[u8], digest: &mut [u8]) {
    let mut state = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
    blocks::for_each::<64>(text, Order::BigEndian, |block| compress(&mut state, block));
    for (bytes, word) in digest.chunks_exact_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
}

fn compress(state: &mut [u32; 5], block: &[u8]) {
    let mut words = [0_u32; 80];
    for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
        *word = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    for at in 16..80 {
        words[at] = (words[at - 3] ^ words[at - 8] ^ words[at - 14] ^ words[at - 16]).rotate_left(1);
    }
    let [mut a, mut b, mut c, mut d, mut e] = *state;
    for (step, word) in words.iter().enumerate() {
        // The constants are the integer parts of 2^30 times the roots of 2, 3, 5 and 10.
        let (mix, constant) = match step / 20 {
            0 => (b & c | !b & d, 0x5a82_7999),
            1 => (b ^ c ^ d, 0x6ed9_eba1),
            2 => (b & c | b & d | c & d, 0x8f1b_bcdc),
            _ => (b ^ c ^ d, 0xca62_c1d6),
        };
        let sum = a
            .rotate_left(5)
            .wrapping_add(mix)
            .wrapping_add(e)
            .wrapping_add(constant)
            .wrapping_add(*word);
        e = d;
        d = c;
        c = b.rotate_left(30);
        b = a;
        a = sum;
    }
    for (word, change) in state.iter_mut().zip([a, b, c, d, e]) {
        *word = word.wrapping_add(change);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_fips_180_hold() {
        for (text, value) in [
            (
                "abc",
                [
                    0xa999_3e36,
                    0x4706_816a,
                    0xba3e_2571,
                    0x7850_c26c,
                    0x9cd0_d89d_u32,
                ],
            ),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                [0x8498_3e44, 0x1c3b_d26e, 0xbaae_4aa1, 0xf951_29e5, 0xe546_70f1],
            ),
            (
                "",
                [0xda39_a3ee, 0x5e6b_4b0d, 0x3255_bfef, 0x9560_1890, 0xafd8_0709],
            ),
        ] {
            let mut digest = [0; 20];
            sha1(text.as_bytes(), &mut digest);
            for (bytes, word) in digest.chunks_exact(4).zip(value) {
                assert_eq!(*bytes, word.to_be_bytes(), "{}", text);
            }
        }
    }
}
