//! Cyclic redundancy checks, a byte at a time from tables made at compile time.

/// CRC-32/ISO-HDLC and CRC-32/ISCSI: reflected polynomials, all ones before and after.
static ISO_HDLC: [u32; 256] = reflected(0x04c1_1db7);
static ISCSI: [u32; 256] = reflected(0x1edc_6f41);

/// x^16 + x^15 + x^2 + 1 reflected; a polynomial of 16 bits stands in the upper half of its word.
static ARC: [u32; 256] = reflected(0x8005_0000);

/// x^16 + x^12 + x^5 + 1, most significant bit first.
static CCITT: [u32; 256] = forward(0x1021_0000);

pub(crate) fn crc32(text: &[u8]) -> u32 {
    !run_reflected(&ISO_HDLC, !0, text)
}

pub(crate) fn crc32c(text: &[u8]) -> u32 {
    !run_reflected(&ISCSI, !0, text)
}

pub(crate) fn arc(text: &[u8]) -> u16 {
    run_reflected(&ARC, 0, text) as u16
}

pub(crate) fn modbus(text: &[u8]) -> u16 {
    run_reflected(&ARC, 0xffff, text) as u16
}

pub(crate) fn ccitt_false(text: &[u8]) -> u16 {
    (run_forward(&CCITT, 0xffff_0000, text) >> 16) as u16
}

pub(crate) fn xmodem(text: &[u8]) -> u16 {
    (run_forward(&CCITT, 0, text) >> 16) as u16
}

/// The state after `text`, least significant bit first.
fn run_reflected(table: &[u32; 256], state: u32, text: &[u8]) -> u32 {
    text.iter().fold(state, |state, byte| {
        table[usize::from(state as u8 ^ byte)] ^ state >> 8
    })
}

/// The state after `text`, most significant bit first.
fn run_forward(table: &[u32; 256], state: u32, text: &[u8]) -> u32 {
    text.iter().fold(state, |state, byte| {
        table[usize::from((state >> 24) as u8 ^ byte)] ^ state << 8
    })
}

/// What each low byte contributes, eight steps later; `polynomial` in the usual order.
const fn reflected(polynomial: u32) -> [u32; 256] {
    let polynomial = polynomial.reverse_bits();
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < table.len() {
        let mut state = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            state = if state & 1 == 1 {
                state >> 1 ^ polynomial
            } else {
                state >> 1
            };
            bit += 1;
        }
        table[byte] = state;
        byte += 1;
    }
    table
}

/// The same for the high byte.
const fn forward(polynomial: u32) -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < table.len() {
        let mut state = (byte as u32) << 24;
        let mut bit = 0;
        while bit < 8 {
            state = if state >> 31 == 1 {
                state << 1 ^ polynomial
            } else {
                state << 1
            };
            bit += 1;
        }
        table[byte] = state;
        byte += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_check_values_hold() {
        let check = b"123456789";
        assert_eq!(crc32(check), 0xcbf4_3926);
        assert_eq!(crc32c(check), 0xe306_9283);
        assert_eq!(arc(check), 0xbb3d);
        assert_eq!(modbus(check), 0x4b37);
        assert_eq!(ccitt_false(check), 0x29b1);
        assert_eq!(xmodem(check), 0x31c3);
    }

    #[test]
    fn the_empty_text_leaves_the_initial_value() {
        assert_eq!((crc32(b""), crc32c(b"")), (0, 0));
        assert_eq!(
            (arc(b""), modbus(b""), ccitt_false(b""), xmodem(b"")),
            (0, 0xffff, 0xffff, 0)
        );
    }
}
