//! Where the words of an input end, and a reader of their fields. All of it is ASCII.

/// The offset after the digits at `at`.
pub fn after_digits(input: &[u8], at: usize) -> usize {
    after(input, at, |byte| byte.is_ascii_digit())
}

/// The offset after a word's tail: letters, digits, `_`, `:` and `.`, possibly none.
fn after_tail(input: &[u8], at: usize) -> usize {
    after(input, at, |byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'.')
    })
}

/// The offset after the bytes from `at` on that `accept` takes.
pub fn after(input: &[u8], mut at: usize, accept: impl Fn(u8) -> bool) -> usize {
    while input.get(at).map_or(false, |byte| accept(*byte)) {
        at += 1;
    }
    at
}

fn is_digit(input: &[u8], at: usize) -> bool {
    input.get(at).map_or(false, u8::is_ascii_digit)
}

fn is_hyphen_and_digit(input: &[u8], at: usize) -> bool {
    input.get(at) == Some(&b'-') && is_digit(input, at + 1)
}

/// The end of the numeric word at `start`, whose first byte is a digit.
pub fn numeric_end(input: &[u8], start: usize) -> usize {
    let mut at = after_digits(input, start);
    if is_hyphen_and_digit(input, at) {
        at = after_digits(input, at + 1);
        if is_hyphen_and_digit(input, at) {
            at = after_digits(input, at + 1);
        }
        let has_time = input.get(at) == Some(&b'T');
        at = after_tail(input, at);
        // `10:00-05:00` has an offset; `10:00-2024-01-01T09:00` is a difference.
        let has_offset = has_time
            && matches!(input.get(at), Some(b'+' | b'-'))
            && is_digit(input, at + 1)
            && is_digit(input, at + 2)
            && input.get(at + 3) == Some(&b':');
        return if has_offset { after_tail(input, at + 1) } else { at };
    }
    if input.get(at..at + 2) == Some(b"-W") && is_digit(input, at + 2) {
        at = after_tail(input, at + 2);
        return if is_hyphen_and_digit(input, at) {
            after_tail(input, at + 1)
        } else {
            at
        };
    }
    after_tail(input, at)
}

/// The end of the ISO word at `start`, or `None` where none begins: `P`, perhaps `T`, and a digit.
pub fn iso_end(input: &[u8], start: usize) -> Option<usize> {
    if input.get(start) != Some(&b'P') {
        return None;
    }
    let number = start + 1 + usize::from(input.get(start + 1) == Some(&b'T'));
    if !is_digit(input, number) {
        return None;
    }
    Some(after(input, number, |byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.')
    }))
}

/// The end of the name at `start`, or `start` where none begins.
pub fn name_end(input: &[u8], start: usize) -> usize {
    if is_digit(input, start) {
        return start;
    }
    after(input, start, |byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Reads the fields of one word; `None` is a word that is not well formed.
#[derive(Clone, Copy)]
pub struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub fn new(word: &'a [u8]) -> Self {
        Self { rest: word }
    }

    pub fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next byte, not consumed.
    pub fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// The next byte, consumed.
    pub fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    /// Consumes a byte if it is next.
    pub fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.next();
        }
        found
    }

    /// Consumes a byte that must be next.
    pub fn require(&mut self, byte: u8) -> Option<()> {
        if self.eat(byte) {
            Some(())
        } else {
            None
        }
    }

    /// Nothing may be left.
    pub fn finish(&self) -> Option<()> {
        if self.is_at_end() {
            Some(())
        } else {
            None
        }
    }

    fn digits(&mut self) -> &'a [u8] {
        let (digits, rest) = self.rest.split_at(after_digits(self.rest, 0));
        self.rest = rest;
        digits
    }

    /// A number of exactly two digits.
    pub fn two_digits(&mut self) -> Option<i32> {
        let (tens, ones) = (self.next()?, self.next()?);
        if !tens.is_ascii_digit() || !ones.is_ascii_digit() {
            return None;
        }
        Some(i32::from(tens - b'0') * 10 + i32::from(ones - b'0'))
    }

    /// A year of four digits or more, and `i32::MAX` for one of more than four.
    pub fn year(&mut self) -> Option<i32> {
        let digits = self.digits();
        match digits.len() {
            0..=3 => None,
            4 => Some(value(digits) as i32),
            _ => Some(i32::MAX),
        }
    }

    /// An integer without leading zeros, and `Some(None)` for one of more than 18 digits.
    pub fn integer(&mut self) -> Option<Option<i64>> {
        let digits = self.digits();
        match digits {
            [] | [b'0', _, ..] => None,
            _ if digits.len() > 18 => Some(None),
            _ => Some(Some(value(digits))),
        }
    }

    /// The nanoseconds of a fraction of 1 to 9 digits, its point included; 0 where there is no point.
    pub fn fraction(&mut self) -> Option<i32> {
        if !self.eat(b'.') {
            return Some(0);
        }
        let digits = self.digits();
        if digits.is_empty() || digits.len() > 9 {
            return None;
        }
        Some((digits.len()..9).fold(value(digits) as i32, |value, _| value * 10))
    }
}

/// The value of at most 18 digits.
fn value(digits: &[u8]) -> i64 {
    digits
        .iter()
        .fold(0, |value, digit| value * 10 + i64::from(digit - b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_numeric_word_ends_where_the_next_token_begins() {
        for (input, word) in [
            ("2024-03-01-2024-02-01", "2024-03-01"),
            ("2024-03-01T10:00-05:00+1", "2024-03-01T10:00-05:00"),
            ("2024-03-01T10:00+10 hours", "2024-03-01T10:00"),
            ("2024-03-01T10:00-2024-02-01", "2024-03-01T10:00"),
            ("2024-03-01T10:00Z-05:00", "2024-03-01T10:00Z-05:00"),
            ("2024-03-01+05:00", "2024-03-01"),
            ("2021-W53-1-1", "2021-W53-1"),
            ("2021-W-1", "2021"),
            ("2021W53-1", "2021W53"),
            ("2024-12-", "2024-12"),
            ("2024--1", "2024"),
            ("04:20-1", "04:20"),
            ("3days", "3days"),
            ("1.2.3 x", "1.2.3"),
            ("12", "12"),
        ] {
            assert_eq!(numeric_end(input.as_bytes(), 0), word.len(), "{}", input);
        }
    }

    #[test]
    fn an_iso_word_needs_a_digit() {
        for (input, end) in [
            ("P1D+", Some(3)),
            ("PT5.5S", Some(6)),
            ("PST", None),
            ("PT", None),
            ("P", None),
            ("p1d", None),
        ] {
            assert_eq!(iso_end(input.as_bytes(), 0), end, "{}", input);
        }
    }

    #[test]
    fn fields_are_read_whole_or_not_at_all() {
        assert_eq!(Fields::new(b"016").integer(), None);
        assert_eq!(Fields::new(b"0").integer(), Some(Some(0)));
        assert_eq!(
            Fields::new(b"999999999999999999").integer(),
            Some(Some(999_999_999_999_999_999))
        );
        assert_eq!(Fields::new(b"1000000000000000000").integer(), Some(None));
        assert_eq!(Fields::new(b".5").fraction(), Some(500_000_000));
        assert_eq!(Fields::new(b".000000001").fraction(), Some(1));
        assert_eq!(Fields::new(b".0000000001").fraction(), None);
        assert_eq!(Fields::new(b".").fraction(), None);
        assert_eq!(Fields::new(b"").fraction(), Some(0));
        assert_eq!(Fields::new(b"2x").two_digits(), None);
        assert_eq!(Fields::new(b"024").year(), None);
        assert_eq!(Fields::new(b"99999999999999999999").year(), Some(i32::MAX));
    }
}
