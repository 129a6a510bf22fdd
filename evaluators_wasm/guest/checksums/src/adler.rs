//! Adler-32 (RFC 1950).

/// The largest prime below 2^16.
const MODULUS: u32 = 65_521;

/// Bytes between two reductions: the most for which 255·n·(n+1)/2 + (n+1)·(MODULUS - 1) stays below 2^32.
const RUN: usize = 5552;

pub(crate) fn adler32(text: &[u8]) -> u32 {
    let (mut a, mut b) = (1_u32, 0_u32);
    for run in text.chunks(RUN) {
        for byte in run {
            a += u32::from(*byte);
            b += a;
        }
        a %= MODULUS;
        b %= MODULUS;
    }
    b << 16 | a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_values_hold() {
        assert_eq!(adler32(b""), 1);
        assert_eq!(adler32(b"123456789"), 0x091e_01de);
        assert_eq!(adler32(b"Wikipedia"), 0x11e6_0398);
    }

    #[test]
    fn the_largest_sums_do_not_overflow() {
        // The same sums in 64 bits, reduced at each byte.
        let text = [0xff; 3 * RUN + 1];
        let (a, b) = text.iter().fold((1_u64, 0_u64), |(a, b), byte| {
            let a = (a + u64::from(*byte)) % 65_521;
            (a, (b + a) % 65_521)
        });
        assert_eq!(u64::from(adler32(&text)), b << 16 | a);
    }
}
