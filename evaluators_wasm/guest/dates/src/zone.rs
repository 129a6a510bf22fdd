//! Names of time zones: known, so that the answer is `unsupported` and not `syntax`.

use crate::word::after;

const ABBREVIATIONS: [&[u8]; 31] = [
    b"UTC", b"UT", b"GMT", b"BST", b"IST", b"WET", b"WEST", b"CET", b"CEST", b"EET", b"EEST", b"MSK", b"SGT",
    b"HKT", b"JST", b"KST", b"AEST", b"AEDT", b"NZST", b"NZDT", b"EST", b"EDT", b"CST", b"CDT", b"MST",
    b"MDT", b"PST", b"PDT", b"AKST", b"AKDT", b"HST",
];

const REGIONS: [&[u8]; 16] = [
    b"Africa",
    b"America",
    b"Antarctica",
    b"Arctic",
    b"Asia",
    b"Atlantic",
    b"Australia",
    b"Brazil",
    b"Canada",
    b"Chile",
    b"Etc",
    b"Europe",
    b"Indian",
    b"Mexico",
    b"Pacific",
    b"US",
];

/// The end of the zone that begins with the name from `start` to `end`, or `None` where that is none.
pub fn end(input: &[u8], start: usize, end: usize) -> Option<usize> {
    let name = input.get(start..end)?;
    if ABBREVIATIONS.contains(&name) {
        return Some(end);
    }
    if !REGIONS.contains(&name) {
        return None;
    }
    let mut last = end;
    while input.get(last) == Some(&b'/') && input.get(last + 1).map_or(false, |byte| is_word(*byte)) {
        last = after(input, last + 1, |byte| {
            is_word(byte) || matches!(byte, b'+' | b'-')
        });
    }
    if last == end {
        return None;
    }
    Some(last)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_needs_a_part() {
        for (input, name, zone) in [
            ("UTC+1", 3, Some(3)),
            ("Europe/Berlin", 6, Some(13)),
            ("America/Argentina/Buenos_Aires x", 7, Some(30)),
            ("Etc/GMT+5", 3, Some(9)),
            ("US/Eastern/", 2, Some(10)),
            ("Europe", 6, None),
            ("Europe/", 6, None),
            ("Europe/+1", 6, None),
            ("Berlin", 6, None),
        ] {
            assert_eq!(end(input.as_bytes(), 0, name), zone, "{}", input);
        }
    }
}
