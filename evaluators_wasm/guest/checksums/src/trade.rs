//! Article and book numbers: EAN-13 (GS1), ISBN-13 and ISBN-10 (ISO 2108).

/// The check digit of twelve digits.
pub(crate) fn ean13_digit(payload: &[u8]) -> Option<u8> {
    if payload.len() != 12 {
        return None;
    }
    let sum: u32 = payload
        .iter()
        .zip([1, 3].iter().cycle())
        .map(|(digit, weight)| u32::from(*digit) * weight)
        .sum();
    Some(((10 - sum % 10) % 10) as u8)
}

/// The check digit of twelve digits that begin with 978 or 979.
pub(crate) fn isbn13_digit(payload: &[u8]) -> Option<u8> {
    match payload {
        [9, 7, 8 | 9, ..] => ean13_digit(payload),
        _ => None,
    }
}

/// The check digit of nine digits, 10 for `X`. A value over 9 is no digit.
pub(crate) fn isbn10_digit(payload: &[u8]) -> Option<u8> {
    if payload.len() != 9 || payload.iter().any(|digit| *digit > 9) {
        return None;
    }
    let sum: u32 = payload
        .iter()
        .zip((2..=10).rev())
        .map(|(digit, weight)| u32::from(*digit) * weight)
        .sum();
    Some(((11 - sum % 11) % 11) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_numbers_have_their_digit() {
        assert_eq!(ean13_digit(&[4, 0, 0, 6, 3, 8, 1, 3, 3, 3, 9, 3]), Some(1));
        assert_eq!(isbn13_digit(&[9, 7, 8, 0, 3, 0, 6, 4, 0, 6, 1, 5]), Some(7));
        assert_eq!(isbn10_digit(&[0, 3, 0, 6, 4, 0, 6, 1, 5]), Some(2));
        assert_eq!(isbn10_digit(&[0, 8, 0, 4, 4, 2, 9, 5, 7]), Some(10));
        assert_eq!(isbn10_digit(&[0; 9]), Some(0));
    }

    #[test]
    fn a_payload_of_another_form_has_none() {
        assert_eq!((ean13_digit(&[0; 11]), ean13_digit(&[0; 13])), (None, None));
        assert_eq!(isbn13_digit(&[9, 7, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0]), None);
        assert_eq!((isbn10_digit(&[0; 8]), isbn10_digit(&[0; 10])), (None, None));
        assert_eq!(isbn10_digit(&[10, 0, 0, 0, 0, 0, 0, 0, 0]), None);
    }
}
