//! FNV-1a of 32 and 64 bits.

pub(crate) fn fnv1a32(text: &[u8]) -> u32 {
    text.iter().fold(0x811c_9dc5, |state, byte| {
        (state ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    })
}

pub(crate) fn fnv1a64(text: &[u8]) -> u64 {
    text.iter().fold(0xcbf2_9ce4_8422_2325, |state, byte| {
        (state ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_authors_test_values_hold() {
        assert_eq!((fnv1a32(b""), fnv1a64(b"")), (0x811c_9dc5, 0xcbf2_9ce4_8422_2325));
        assert_eq!(
            (fnv1a32(b"a"), fnv1a64(b"a")),
            (0xe40c_292c, 0xaf63_dc4c_8601_ec8c)
        );
        assert_eq!(
            (fnv1a32(b"foobar"), fnv1a64(b"foobar")),
            (0xbf9c_f968, 0x8594_4171_f739_67e8)
        );
    }
}
