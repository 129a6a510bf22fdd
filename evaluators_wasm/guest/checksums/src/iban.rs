//! IBAN (ISO 13616) and the remainder it rests on (ISO/IEC 7064, MOD 97-10).

/// Letters of a country.
pub(crate) const COUNTRY: usize = 2;

/// The most characters of an account number.
pub(crate) const MAX_ACCOUNT: usize = 30;

/// Characters before the account number: the country and two check digits.
const HEAD: usize = COUNTRY + 2;

/// The remainder of a number on division by 97; a value of 10 or more stands for two digits.
pub(crate) fn mod97<'a>(values: impl IntoIterator<Item = &'a u8>) -> u32 {
    values.into_iter().fold(0, |remainder, value| {
        let shift = if *value < 10 { 10 } else { 100 };
        (remainder * shift + u32::from(*value)) % 97
    })
}

/// The check digits, 2 to 98, of an IBAN.
pub(crate) fn check_digits(country: &[u8], account: &[u8]) -> u32 {
    98 - mod97(account.iter().chain(country).chain(&[0, 0]))
}

/// Whether these characters are an IBAN with the right check digits.
pub(crate) fn is_valid(number: &[u8]) -> bool {
    if number.len() <= HEAD || number.len() > HEAD + MAX_ACCOUNT {
        return false;
    }
    let (head, account) = number.split_at(HEAD);
    match *head {
        [first, second, tens, ones] if first > 9 && second > 9 && tens < 10 && ones < 10 => {
            // Never 00, 01 or 99, which have the remainders of 97, 98 and 02.
            check_digits(&head[..COUNTRY], account) == u32::from(10 * tens + ones)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use alloc::vec::Vec;

    use crate::characters::{read, Alphabet};

    fn values(text: &str) -> Vec<u8> {
        read(text.to_string(), Alphabet::LettersAndDigits).unwrap()
    }

    #[test]
    fn the_registry_examples_are_valid() {
        for text in [
            "GB29 NWBK 6016 1331 9268 19",
            "DE89 3704 0044 0532 0130 00",
            "MT84 MALT 0110 0001 2345 MTLC AST0 01S",
            "NO93 8601 1117 947",
        ] {
            let number = values(text);
            assert!(is_valid(&number), "{}", text);
            assert_eq!(mod97(number[4..].iter().chain(&number[..4])), 1);
        }
    }

    #[test]
    fn another_pair_with_the_same_remainder_is_not_valid() {
        for (pair, twin) in [("97", "00"), ("98", "01"), ("02", "99")] {
            // Some account of four digits has each pair.
            let account = (0..10_000)
                .map(|n| alloc::format!("{:04}", n))
                .find(|account| is_valid(&values(&alloc::format!("AA{}{}", pair, account))))
                .unwrap();
            let number = values(&alloc::format!("AA{}{}", twin, account));
            assert_eq!(mod97(number[4..].iter().chain(&number[..4])), 1);
            assert!(!is_valid(&number));
        }
    }

    #[test]
    fn letters_count_two_digits() {
        assert_eq!(mod97(&values("AZ")), 1035 % 97);
        assert_eq!(mod97(&[]), 0);
    }
}
