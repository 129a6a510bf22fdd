//! What a module's own manifest says, read at compile time: the JSON file is the one place for these numbers.

/// The number after the key `"request_bytes"` of a manifest.
///
/// # Panics
/// At compile time, where the manifest has no such key.
#[must_use]
pub const fn request_bytes(manifest: &[u8]) -> usize {
    let key = b"\"request_bytes\":";
    let mut at = 0;
    while at + key.len() < manifest.len() {
        if matches(manifest, at, key) {
            return number(manifest, at + key.len());
        }
        at += 1;
    }
    panic!("the manifest has no request_bytes")
}

/// How many options a manifest declares: each has one key `"minimum"`.
#[must_use]
pub const fn option_count(manifest: &[u8]) -> usize {
    let key = b"\"minimum\":";
    let mut count = 0;
    let mut at = 0;
    while at + key.len() < manifest.len() {
        if matches(manifest, at, key) {
            count += 1;
        }
        at += 1;
    }
    count
}

const fn matches(text: &[u8], at: usize, key: &[u8]) -> bool {
    let mut i = 0;
    while i < key.len() {
        if text[at + i] != key[i] {
            return false;
        }
        i += 1;
    }
    true
}

const fn number(text: &[u8], mut at: usize) -> usize {
    while text[at] == b' ' {
        at += 1;
    }
    assert!(text[at].is_ascii_digit(), "a number is missing");
    let mut value = 0;
    while text[at].is_ascii_digit() {
        value = value * 10 + (text[at] - b'0') as usize;
        at += 1;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_come_from_the_manifest() {
        let manifest = br#"{"abi": 1, "request_bytes": 520, "options": [{"minimum": 1}, {"minimum": 0}]}"#;
        assert_eq!(request_bytes(manifest), 520);
        assert_eq!(option_count(manifest), 2);
    }
}
