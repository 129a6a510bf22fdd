use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use super::{literal, plain_clusters, value, Mixes};

fn check(text: &str) {
    let input = literal(text);
    let mut clusters = plain_clusters(text);

    let mut unique: Vec<String> = Vec::new();
    for cluster in &clusters {
        if !unique.contains(cluster) {
            unique.push(cluster.to_string());
        }
    }
    assert_eq!(
        value(&format!("unique({})", input)),
        unique.concat(),
        "{:?}",
        text
    );

    let reversed: String = clusters.iter().rev().map(String::as_str).collect();
    assert_eq!(value(&format!("reverse({})", input)), reversed, "{:?}", text);
    let is_palindrome = clusters.iter().eq(clusters.iter().rev());
    assert_eq!(
        value(&format!("is_palindrome({})", input)),
        is_palindrome.to_string(),
        "{:?}",
        text
    );

    clusters.sort_by(|one, other| one.chars().cmp(other.chars()));
    assert_eq!(
        value(&format!("sort({})", input)),
        clusters.concat(),
        "{:?}",
        text
    );
    let sorted = literal(&clusters.concat());
    let mut again = plain_clusters(&clusters.concat());
    again.sort();
    assert_eq!(value(&format!("sort({})", sorted)), again.concat(), "{:?}", text);
}

#[test]
fn clusters_are_ordered_as_a_list_of_them() {
    let mut mixes = Mixes(3);
    for _ in 0..6000 {
        check(&mixes.text(40));
    }
}

#[test]
fn many_clusters_are_ordered_alike() {
    let mut mixes = Mixes(4);
    for _ in 0..60 {
        check(&mixes.text(900));
    }
}

#[test]
fn clusters_that_begin_alike_are_compared_to_their_ends() {
    let mut mixes = Mixes(5);
    for _ in 0..2000 {
        let count = mixes.below(120);
        let base = ["a", "é", "漢", "👩", "🇩🇪", "\u{915}\u{94d}\u{915}"][mixes.below(6)];
        let marks = [
            '\u{301}',
            '\u{302}',
            '\u{1dc0}',
            '\u{e0100}',
            '\u{200d}',
            '\u{7fd}',
        ];
        let kinds = mixes.below(marks.len()) + 1;
        let longest = mixes.below(12) + 1;
        let mut text = String::new();
        for _ in 0..count {
            text += base;
            let length = mixes.below(longest);
            text.extend((0..length).map(|_| marks[mixes.below(kinds)]));
        }
        check(&text);
    }
}

#[test]
fn what_is_sorted_stays_as_it_is() {
    for text in [
        "",
        "a",
        "aab",
        "\r\r\n",
        "ae\u{301}f",
        "a\u{301}a\u{301}\u{302}b",
        "é漢👩",
        "\0\n\r\r\n ~\u{7f}",
    ] {
        assert_eq!(value(&format!("sort({})", literal(text))), text);
    }
    // The longer one comes second, though both begin with the same four bytes.
    assert_eq!(
        value("sort('漢\u{301}\u{302}漢\u{301}')"),
        "漢\u{301}漢\u{301}\u{302}"
    );
}
