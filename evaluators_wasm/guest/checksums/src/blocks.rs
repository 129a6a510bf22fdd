//! The padding that MD5, SHA-1 and SHA-2 share: a one bit, zeros, and the length in bits at the end of a block.

/// The order of the length's bytes.
#[derive(Clone, Copy)]
pub(crate) enum Order {
    LittleEndian,
    BigEndian,
}

/// Calls `compress` with each block of the padded text.
///
/// A block has `BLOCK` bytes, the length at its end an eighth of them. No input has 2^64 bits, so the upper half of
/// SHA-512's length is always zero.
pub(crate) fn for_each<const BLOCK: usize>(text: &[u8], order: Order, mut compress: impl FnMut(&[u8])) {
    let blocks = text.chunks_exact(BLOCK);
    let rest = blocks.remainder();
    blocks.for_each(&mut compress);

    let mut last = [0; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    last[rest.len()] = 0x80;
    if rest.len() + 1 > BLOCK - BLOCK / 8 {
        compress(&last);
        last = [0; BLOCK];
    }
    let bits = 8 * text.len() as u64;
    last[BLOCK - 8..].copy_from_slice(&match order {
        Order::LittleEndian => bits.to_le_bytes(),
        Order::BigEndian => bits.to_be_bytes(),
    });
    compress(&last);
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn padded<const BLOCK: usize>(length: usize, order: Order) -> Vec<u8> {
        let mut all = Vec::new();
        for_each::<BLOCK>(&[b'a'; 300][..length], order, |block| {
            assert_eq!(block.len(), BLOCK);
            all.extend_from_slice(block);
        });
        all
    }

    #[test]
    fn the_padding_takes_a_block_more_where_the_length_does_not_fit() {
        for (length, blocks) in [(0, 1), (55, 1), (56, 2), (63, 2), (64, 2), (119, 2), (120, 3)] {
            let all = padded::<64>(length, Order::BigEndian);
            assert_eq!(all.len(), 64 * blocks, "{}", length);
            assert_eq!(all[length], 0x80);
            assert!(all[length + 1..all.len() - 8].iter().all(|byte| *byte == 0));
            assert_eq!(all[all.len() - 8..], (8 * length as u64).to_be_bytes());
        }
        for (length, blocks) in [(0, 1), (111, 1), (112, 2), (127, 2), (128, 2)] {
            assert_eq!(
                padded::<128>(length, Order::BigEndian).len(),
                128 * blocks,
                "{}",
                length
            );
        }
    }

    #[test]
    fn the_length_is_written_in_the_order_asked_for() {
        assert_eq!(
            padded::<64>(33, Order::LittleEndian)[56..],
            [8, 1, 0, 0, 0, 0, 0, 0]
        );
    }
}
