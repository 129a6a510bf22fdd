use std::format;
use std::string::{String, ToString};
use std::vec;
use std::vec::Vec;

use super::{literal, plain_clusters, value, Mixes};

/// The indices of the occurrences that do not overlap, cluster by cluster.
fn occurrences(text: &[String], needle: &[String]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        if text[at..].starts_with(needle) {
            found.push(at);
            at += needle.len();
        } else {
            at += 1;
        }
    }
    found
}

fn check(text: &str, needle: &str) {
    let (list, sought) = (plain_clusters(text), plain_clusters(needle));
    let call = |name: &str, more: &str| {
        value(&format!(
            "{}({}, {}{})",
            name,
            literal(text),
            literal(needle),
            more
        ))
    };
    let context = format!("{:?} in {:?}", needle, text);
    assert_eq!(
        call("starts_with", ""),
        list.starts_with(&sought).to_string(),
        "{}",
        context
    );
    assert_eq!(
        call("ends_with", ""),
        list.ends_with(&sought).to_string(),
        "{}",
        context
    );
    if needle.is_empty() {
        assert_eq!(call("contains", ""), "true");
        return;
    }
    let found = occurrences(&list, &sought);
    assert_eq!(call("count", ""), found.len().to_string(), "{}", context);
    assert_eq!(
        call("contains", ""),
        (!found.is_empty()).to_string(),
        "{}",
        context
    );
    let first = found.first().map_or("-1".into(), usize::to_string);
    assert_eq!(call("find", ""), first, "{}", context);
    let mut replaced = String::new();
    let mut at = 0;
    while at < list.len() {
        if found.contains(&at) {
            replaced += "<new>";
            at += sought.len();
        } else {
            replaced += &list[at];
            at += 1;
        }
    }
    assert_eq!(call("replace", ", '<new>'"), replaced, "{}", context);
}

/// All texts of at most `length` characters of an alphabet.
fn texts(alphabet: &[char], length: usize) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut last = all.clone();
    for _ in 0..length {
        last = last
            .iter()
            .flat_map(|text| alphabet.iter().map(move |next| format!("{}{}", text, next)))
            .collect();
        all.extend_from_slice(&last);
    }
    all
}

#[test]
fn an_occurrence_is_a_run_of_whole_clusters() {
    for alphabet in [
        &['a', 'b'][..],
        &['a', '\u{301}'],
        &['🇩', 'a'],
        &['\r', '\n'],
        &['👩', '\u{200d}'],
    ] {
        for text in texts(alphabet, 6) {
            for needle in texts(alphabet, 3) {
                check(&text, &needle);
            }
        }
    }
}

#[test]
fn pieces_of_a_text_are_found_where_its_clusters_say() {
    let mut mixes = Mixes(6);
    for _ in 0..8000 {
        let text = mixes.text(25);
        let characters: Vec<char> = text.chars().collect();
        let start = mixes.below(characters.len() + 1);
        let length = mixes.below(5).min(characters.len() - start);
        check(
            &text,
            &characters[start..start + length].iter().collect::<String>(),
        );
    }
}
