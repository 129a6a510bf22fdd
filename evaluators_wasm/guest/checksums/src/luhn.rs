//! Luhn's formula (ISO/IEC 7812-1, annex B).

/// The check digit of one or more digits.
pub(crate) fn digit(payload: &[u8]) -> Option<u8> {
    if payload.is_empty() {
        return None;
    }
    // Small enough for any input: 9 for each of at most 16,384 digits.
    let sum: u32 = payload
        .iter()
        .rev()
        .enumerate()
        .map(|(at, digit)| match digit * 2 {
            _ if at % 2 == 1 => *digit,
            doubled if doubled > 9 => doubled - 9,
            doubled => doubled,
        })
        .map(u32::from)
        .sum();
    Some(((10 - sum % 10) % 10) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_numbers_have_their_digit() {
        assert_eq!(digit(&[7, 9, 9, 2, 7, 3, 9, 8, 7, 1]), Some(3));
        assert_eq!(digit(&[0]), Some(0));
        assert_eq!(digit(&[5]), Some(9));
        assert_eq!(digit(&[]), None);
    }
}
