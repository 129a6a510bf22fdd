//! What a `syntax` error says: a guess at what was meant, from the first sign of it.

/// The message for a numeric word that is no literal.
#[cold]
pub fn for_numeric_word(word: &[u8]) -> &'static str {
    let count = |byte| word.iter().filter(|other| **other == byte).count();
    let has_letter = |letter: u8| word.iter().any(|byte| byte.eq_ignore_ascii_case(&letter));
    let digits = word.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match word.get(digits) {
        None => "an integer has no leading zeros: write 16, not 016",
        Some(b'-') if has_letter(b'W') => "an ISO week has a year of four digits and a week of two",
        Some(b'-') if has_letter(b'T') || count(b':') > 0 => {
            "a datetime is written 2024-02-29T04:20, :30 and Z or +02:00 after it allowed"
        }
        Some(b'-') if digits < 3 => "a year has four digits: a date is written 2024-02-29",
        Some(b'-') => "a date is written 2024-02-29; a difference of integers needs spaces, as in 5 - 3",
        Some(b':') if has_letter(b'Z') => "only a datetime has an offset, as in 2024-02-29T04:20Z",
        Some(b':') => {
            "a time is written 04:20 or 04:20:30, with two digits each and at most 9 after the point"
        }
        Some(b'.') if count(b'.') > 1 => "a date is written 2024-02-29",
        Some(b'.') => "a decimal is written 0.5: no leading zeros, and 1 to 9 digits after the point",
        Some(_) => "a number and its unit need a space between them, as in 3 days",
    }
}

/// The message for a word that starts like an ISO duration and is none.
pub fn for_iso_word() -> &'static str {
    "an ISO duration is written P1Y2M3DT4H5M6S or P2W: in this order, and only seconds have a fraction"
}

/// The message for a name that its place does not allow.
#[cold]
pub fn for_name(name: &[u8]) -> &'static str {
    let matches = |known: &&str| known.as_bytes().eq_ignore_ascii_case(name);
    if crate::text::WEEKDAYS.iter().any(matches) {
        return "the name of a day stands in quotes, as in next(2024-02-29, \"Friday\")";
    }
    if ["tomorrow", "yesterday"].iter().any(matches) {
        return "there is no clock here: write the date itself, as in 2024-02-29";
    }
    "unknown name; functions are lowercase, such as days_between, add_months, weekday and age"
}

/// The message for what follows a whole expression.
pub fn after_sum(next: Option<u8>) -> &'static str {
    match next {
        Some(b'!' | b'=') => "comparisons are <, <=, ==, >= and >",
        Some(b'*' | b'/') => "there is no multiplication and no division here",
        Some(b'<' | b'>') => "comparisons do not chain",
        Some(b'0'..=b'9') => "an operator is missing, or the T between a date and a time",
        Some(b'a'..=b'z' | b'A'..=b'Z') => {
            "expected an operator; units are year, month, week, day, hour, minute, second"
        }
        _ => "expected an operator or the end of the input",
    }
}
