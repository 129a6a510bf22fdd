use std::string::{String, ToString};
use std::vec::Vec;
use std::{env, fs};

use super::{plain_clusters, Mixes, SAMPLES};
use crate::clusters::{count, each, Boundaries, Clusters, Piece};

fn clusters(text: &str) -> Vec<String> {
    let all = Clusters::new(text.as_bytes());
    all.iter()
        .map(|cluster| String::from_utf8(cluster.to_vec()).unwrap())
        .collect()
}

/// Every way to find the clusters of a text against the plainest one.
fn check(text: &str) {
    let expected = plain_clusters(text);
    assert_eq!(expected.concat(), text);
    assert_eq!(clusters(text), expected, "{:?}", text);
    assert_eq!(count(text.as_bytes()), expected.len());
    let mut visited = Vec::new();
    each(text.as_bytes(), |piece| match piece {
        Piece::Bytes(start, end) => visited.extend(text[start..end].chars().map(String::from)),
        Piece::Cluster(cluster) => {
            let piece = &text[cluster.start..cluster.end];
            let mut characters = piece.chars().map(u32::from);
            assert_eq!(characters.next(), Some(cluster.first));
            assert_eq!(characters.next().unwrap_or(0), cluster.second);
            assert_eq!(characters.next().is_some(), cluster.has_more);
            visited.push(piece.to_string());
        }
    });
    assert_eq!(visited, expected, "{:?}", text);
    let boundaries = Boundaries::new(text.as_bytes());
    let marked: usize = (0..=text.len()).filter(|at| boundaries.at(*at)).count();
    assert_eq!(marked, expected.len() + 1, "{:?}", text);
}

#[test]
fn all_ways_agree_on_every_short_text() {
    check("");
    for a in SAMPLES {
        for b in SAMPLES {
            for c in SAMPLES {
                check(&[a, b, c].iter().collect::<String>());
            }
        }
    }
}

#[test]
fn all_ways_agree_on_longer_texts() {
    let mut mixes = Mixes(2);
    for _ in 0..20_000 {
        check(&mixes.text(30));
    }
}

#[test]
fn each_rule_holds() {
    for (rule, text, expected) in [
        ("GB3", "\r\n\r\r\n", &["\r\n", "\r", "\r\n"][..]),
        ("GB4", "\n\u{301}\r\u{301}", &["\n", "\u{301}", "\r", "\u{301}"]),
        ("GB5", "\u{600}\n\u{600}\0", &["\u{600}", "\n", "\u{600}", "\0"]),
        (
            "GB6",
            "\u{1100}\u{1100}\u{1161}\u{1100}각",
            &["\u{1100}\u{1100}\u{1161}", "\u{1100}각"],
        ),
        (
            "GB7",
            "가\u{1161}\u{11a8}가각",
            &["가\u{1161}\u{11a8}", "가", "각"],
        ),
        ("GB8", "각\u{11a8}\u{1161}", &["각\u{11a8}", "\u{1161}"]),
        (
            "GB9",
            "e\u{301}\u{200d}\u{200c}x",
            &["e\u{301}\u{200d}\u{200c}", "x"],
        ),
        ("GB9a", "க\u{bbf}a\u{903}", &["க\u{bbf}", "a\u{903}"]),
        (
            "GB9b",
            "\u{600}\u{600}a\u{301}b",
            &["\u{600}\u{600}a\u{301}", "b"],
        ),
        (
            "GB9c",
            "\u{915}\u{94d}\u{937}\u{915}",
            &["\u{915}\u{94d}\u{937}", "\u{915}"],
        ),
        (
            "GB9c",
            "\u{915}\u{301}\u{94d}\u{200d}\u{301}\u{937}",
            &["\u{915}\u{301}\u{94d}\u{200d}\u{301}\u{937}"],
        ),
        ("GB9c", "\u{915}\u{200d}\u{937}", &["\u{915}\u{200d}", "\u{937}"]),
        (
            "GB9c",
            "\u{915}\u{200c}\u{94d}\u{937}",
            &["\u{915}\u{200c}\u{94d}", "\u{937}"],
        ),
        (
            "GB9c",
            "\u{915}\u{94d}a\u{94d}\u{937}",
            &["\u{915}\u{94d}", "a\u{94d}", "\u{937}"],
        ),
        (
            "GB11",
            "👩\u{200d}👩\u{1f3fd}\u{200d}👩",
            &["👩\u{200d}👩\u{1f3fd}\u{200d}👩"],
        ),
        ("GB11", "👩\u{200d}\u{200d}👩", &["👩\u{200d}\u{200d}", "👩"]),
        (
            "GB11",
            "👩\u{200d}\u{301}👩a\u{200d}👩",
            &["👩\u{200d}\u{301}", "👩", "a\u{200d}", "👩"],
        ),
        ("GB11", "👩\u{903}\u{200d}👩", &["👩\u{903}\u{200d}", "👩"]),
        ("GB12", "🇩🇪🇩🇪🇩", &["🇩🇪", "🇩🇪", "🇩"]),
        ("GB13", "a🇩\u{200d}🇪🇩🇪", &["a", "🇩\u{200d}", "🇪🇩", "🇪"]),
        ("GB999", "ab漢字", &["a", "b", "漢", "字"]),
    ] {
        assert_eq!(clusters(text), expected, "{}", rule);
    }
}

/// Rows of GraphemeBreakTest.txt whose answer has changed: U+2701 lost Extended_Pictographic in 16.0.
const CHANGED_SINCE_15: [&str; 1] = ["÷ 2701 × 200D × 2701 ÷"];

#[test]
#[ignore = "needs Debian's unicode-data, or the file that GRAPHEME_BREAK_TEST names"]
fn unicodes_own_rows_hold() {
    let debian = "/usr/share/unicode/auxiliary/GraphemeBreakTest.txt";
    let path = env::var("GRAPHEME_BREAK_TEST").unwrap_or_else(|_| debian.into());
    let file = fs::read_to_string(path).unwrap();
    let is_15 = file.starts_with("# GraphemeBreakTest-15.");
    let mut rows = 0;
    for row in file
        .lines()
        .map(|line| line.split('#').next().unwrap_or("").trim())
    {
        if row.is_empty() || is_15 && CHANGED_SINCE_15.contains(&row) {
            continue;
        }
        let pieces = row.trim_matches('÷').split('÷');
        let expected: Vec<String> = pieces
            .map(|piece| piece.split('×').map(character).collect())
            .collect();
        assert_eq!(clusters(&expected.concat()), expected, "{}", row);
        rows += 1;
    }
    assert!(rows > 500, "{} rows", rows);
}

fn character(number: &str) -> char {
    char::from_u32(u32::from_str_radix(number.trim(), 16).unwrap()).unwrap()
}
