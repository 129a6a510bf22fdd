//! SHA-256 and SHA-512 (FIPS 180-4).

use crate::blocks::{self, Order};

/// The first 64 bits after the point of the cube roots of the first 80 primes.
static CUBE_ROOTS: [u64; 80] = CUBE_ROOTS_512;
const CUBE_ROOTS_512: [u64; 80] = [
    0x428a_2f98_d728_ae22,
    0x7137_4491_23ef_65cd,
    0xb5c0_fbcf_ec4d_3b2f,
    0xe9b5_dba5_8189_dbbc,
    0x3956_c25b_f348_b538,
    0x59f1_11f1_b605_d019,
    0x923f_82a4_af19_4f9b,
    0xab1c_5ed5_da6d_8118,
    0xd807_aa98_a303_0242,
    0x1283_5b01_4570_6fbe,
    0x2431_85be_4ee4_b28c,
    0x550c_7dc3_d5ff_b4e2,
    0x72be_5d74_f27b_896f,
    0x80de_b1fe_3b16_96b1,
    0x9bdc_06a7_25c7_1235,
    0xc19b_f174_cf69_2694,
    0xe49b_69c1_9ef1_4ad2,
    0xefbe_4786_384f_25e3,
    0x0fc1_9dc6_8b8c_d5b5,
    0x240c_a1cc_77ac_9c65,
    0x2de9_2c6f_592b_0275,
    0x4a74_84aa_6ea6_e483,
    0x5cb0_a9dc_bd41_fbd4,
    0x76f9_88da_8311_53b5,
    0x983e_5152_ee66_dfab,
    0xa831_c66d_2db4_3210,
    0xb003_27c8_98fb_213f,
    0xbf59_7fc7_beef_0ee4,
    0xc6e0_0bf3_3da8_8fc2,
    0xd5a7_9147_930a_a725,
    0x06ca_6351_e003_826f,
    0x1429_2967_0a0e_6e70,
    0x27b7_0a85_46d2_2ffc,
    0x2e1b_2138_5c26_c926,
    0x4d2c_6dfc_5ac4_2aed,
    0x5338_0d13_9d95_b3df,
    0x650a_7354_8baf_63de,
    0x766a_0abb_3c77_b2a8,
    0x81c2_c92e_47ed_aee6,
    0x9272_2c85_1482_353b,
    0xa2bf_e8a1_4cf1_0364,
    0xa81a_664b_bc42_3001,
    0xc24b_8b70_d0f8_9791,
    0xc76c_51a3_0654_be30,
    0xd192_e819_d6ef_5218,
    0xd699_0624_5565_a910,
    0xf40e_3585_5771_202a,
    0x106a_a070_32bb_d1b8,
    0x19a4_c116_b8d2_d0c8,
    0x1e37_6c08_5141_ab53,
    0x2748_774c_df8e_eb99,
    0x34b0_bcb5_e19b_48a8,
    0x391c_0cb3_c5c9_5a63,
    0x4ed8_aa4a_e341_8acb,
    0x5b9c_ca4f_7763_e373,
    0x682e_6ff3_d6b2_b8a3,
    0x748f_82ee_5def_b2fc,
    0x78a5_636f_4317_2f60,
    0x84c8_7814_a1f0_ab72,
    0x8cc7_0208_1a64_39ec,
    0x90be_fffa_2363_1e28,
    0xa450_6ceb_de82_bde9,
    0xbef9_a3f7_b2c6_7915,
    0xc671_78f2_e372_532b,
    0xca27_3ece_ea26_619c,
    0xd186_b8c7_21c0_c207,
    0xeada_7dd6_cde0_eb1e,
    0xf57d_4f7f_ee6e_d178,
    0x06f0_67aa_7217_6fba,
    0x0a63_7dc5_a2c8_98a6,
    0x113f_9804_bef9_0dae,
    0x1b71_0b35_131c_471b,
    0x28db_77f5_2304_7d84,
    0x32ca_ab7b_40c7_2493,
    0x3c9e_be0a_15c9_bebc,
    0x431d_67c4_9c10_0d4c,
    0x4cc5_d4be_cb3e_42b6,
    0x597f_299c_fc65_7e2a,
    0x5fcb_6fab_3ad6_faec,
    0x6c44_198c_4a47_5817,
];

/// The first 64 bits after the point of the square roots of the first 8 primes.
const SQUARE_ROOTS: [u64; 8] = [
    0x6a09_e667_f3bc_c908,
    0xbb67_ae85_84ca_a73b,
    0x3c6e_f372_fe94_f82b,
    0xa54f_f53a_5f1d_36f1,
    0x510e_527f_ade6_82d1,
    0x9b05_688c_2b3e_6c1f,
    0x1f83_d9ab_fb41_bd6b,
    0x5be0_cd19_137e_2179,
];

/// SHA-256 has the same roots to 32 bits.
static CUBE_ROOTS_UPPER: [u32; 64] = upper_halves(&CUBE_ROOTS_512);

const fn upper_halves<const ALL: usize, const FIRST: usize>(words: &[u64; ALL]) -> [u32; FIRST] {
    let mut upper = [0; FIRST];
    let mut at = 0;
    while at < FIRST {
        upper[at] = (words[at] >> 32) as u32;
        at += 1;
    }
    upper
}

/// A function of the family: the two differ in the word, the number of steps and the rotations, in the standard's
/// order Σ0, Σ1, σ0, σ1; the third number of a σ is a shift.
macro_rules! sha2 {
    (
        $(#[$doc:meta])* $name:ident, $word:ty, initial: $initial:expr, constants: $constants:ident,
        block: $block:literal, steps: $steps:literal,
        $big0:expr, $big1:expr, $small0:expr, $small1:expr
    ) => {
        $(#[$doc])*
        pub(crate) fn $name(text: &[u8], digest: &mut [u8]) {
            const BYTES: usize = core::mem::size_of::<$word>();
            let mut state: [$word; 8] = $initial;
            blocks::for_each::<$block>(text, Order::BigEndian, |block| {
                let mut words = [0 as $word; $steps];
                for (word, bytes) in words.iter_mut().zip(block.chunks_exact(BYTES)) {
                    *word = bytes.iter().fold(0, |word, byte| word << 8 | <$word>::from(*byte));
                }
                for at in 16..$steps {
                    let small0 = {
                        let (word, [first, second, shift]) = (words[at - 15], $small0);
                        word.rotate_right(first) ^ word.rotate_right(second) ^ word >> shift
                    };
                    let small1 = {
                        let (word, [first, second, shift]) = (words[at - 2], $small1);
                        word.rotate_right(first) ^ word.rotate_right(second) ^ word >> shift
                    };
                    words[at] = words[at - 16]
                        .wrapping_add(small0)
                        .wrapping_add(words[at - 7])
                        .wrapping_add(small1);
                }
                let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
                for (word, constant) in words.iter().zip(&$constants) {
                    let big0 = {
                        let [first, second, third] = $big0;
                        a.rotate_right(first) ^ a.rotate_right(second) ^ a.rotate_right(third)
                    };
                    let big1 = {
                        let [first, second, third] = $big1;
                        e.rotate_right(first) ^ e.rotate_right(second) ^ e.rotate_right(third)
                    };
                    let choice = e & f ^ !e & g;
                    let majority = a & b ^ a & c ^ b & c;
                    let sum = h
                        .wrapping_add(big1)
                        .wrapping_add(choice)
                        .wrapping_add(*constant)
                        .wrapping_add(*word);
                    h = g;
                    g = f;
                    f = e;
                    e = d.wrapping_add(sum);
                    d = c;
                    c = b;
                    b = a;
                    a = sum.wrapping_add(big0).wrapping_add(majority);
                }
                for (word, change) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
                    *word = word.wrapping_add(change);
                }
            });
            for (bytes, word) in digest.chunks_exact_mut(BYTES).zip(state) {
                bytes.copy_from_slice(&word.to_be_bytes());
            }
        }
    };
}

sha2! {
    /// Writes the 32 bytes of the digest.
    sha256, u32, initial: upper_halves(&SQUARE_ROOTS), constants: CUBE_ROOTS_UPPER, block: 64, steps: 64,
    [2, 13, 22], [6, 11, 25], [7, 18, 3], [17, 19, 10]
}

sha2! {
    /// Writes the 64 bytes of the digest.
    sha512, u64, initial: SQUARE_ROOTS, constants: CUBE_ROOTS, block: 128, steps: 80,
    [28, 34, 39], [14, 18, 41], [1, 8, 7], [19, 61, 6]
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::String;

    fn hex(digest: &[u8]) -> String {
        digest.iter().map(|byte| format!("{:02x}", byte)).collect()
    }

    fn sha256_of(text: &str) -> String {
        let mut digest = [0; 32];
        sha256(text.as_bytes(), &mut digest);
        hex(&digest)
    }

    fn sha512_of(text: &str) -> String {
        let mut digest = [0; 64];
        sha512(text.as_bytes(), &mut digest);
        hex(&digest)
    }

    #[test]
    fn the_examples_of_sha_256_hold() {
        assert_eq!(
            sha256_of("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(
            sha256_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        );
        assert_eq!(
            sha256_of(""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }

    #[test]
    fn the_examples_of_sha_512_hold() {
        assert_eq!(
            sha512_of("abc"),
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
             2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
        );
        assert_eq!(
            sha512_of(
                "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn\
                 hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"
            ),
            "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018\
             501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909"
        );
    }

    /// Whether `root / 2^64` is the root of `number` rounded down: root^power ≤ number·2^(64·power) < (root + 1)^power,
    /// in limbs of 32 bits.
    fn is_root(root: u128, number: u64, power: usize) -> bool {
        let mut scaled = alloc::vec![0; 2 * power];
        scaled.push(number);
        compare(&raised(root, power), &scaled).is_le() && compare(&raised(root + 1, power), &scaled).is_gt()
    }

    fn raised(base: u128, power: usize) -> alloc::vec::Vec<u64> {
        let limbs: [u64; 3] = [0, 32, 64].map(|shift| (base >> shift) as u64 & 0xffff_ffff);
        let mut product = alloc::vec![1];
        for _ in 0..power {
            let mut next = alloc::vec![0_u64; product.len() + limbs.len() + 1];
            for (i, x) in product.iter().enumerate() {
                for (j, y) in limbs.iter().enumerate() {
                    let mut carry = x * y;
                    let mut at = i + j;
                    while carry != 0 {
                        let sum = next[at] + (carry & 0xffff_ffff);
                        next[at] = sum & 0xffff_ffff;
                        carry = (carry >> 32) + (sum >> 32);
                        at += 1;
                    }
                }
            }
            product = next;
        }
        product
    }

    fn compare(a: &[u64], b: &[u64]) -> core::cmp::Ordering {
        let limb = |number: &[u64], at: usize| number.get(at).copied().unwrap_or(0);
        (0..a.len().max(b.len()))
            .rev()
            .map(|at| limb(a, at).cmp(&limb(b, at)))
            .find(|o| o.is_ne())
            .unwrap_or(core::cmp::Ordering::Equal)
    }

    #[test]
    fn the_tables_are_of_roots_of_primes() {
        let primes = (2_u64..).filter(|n| (2..*n).all(|d| n % d != 0));
        for (at, prime) in primes.take(80).enumerate() {
            // 409, the 80th prime, has a cube root below 8 and a square root below 21.
            let whole = |fraction: u64, power| {
                (1..21).any(|n: u128| is_root(n << 64 | u128::from(fraction), prime, power))
            };
            assert!(whole(CUBE_ROOTS[at], 3), "{}", prime);
            if at < 8 {
                assert!(whole(SQUARE_ROOTS[at], 2), "{}", prime);
            }
        }
    }
}
