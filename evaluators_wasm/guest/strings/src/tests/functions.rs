use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use evalspan_abi::Code;

use super::{answer, literal, plain_clusters, value, Mixes};

#[test]
fn lengths_are_three() {
    for (text, clusters, code_points, bytes) in [
        ("", 0, 0, 0),
        ("abc", 3, 3, 3),
        ("e\u{301}漢👩", 3, 4, 10),
        ("\r\n\n", 2, 3, 3),
    ] {
        for (name, expected) in [("len", clusters), ("codepoints", code_points), ("bytes", bytes)] {
            assert_eq!(
                value(&format!("{}({})", name, literal(text))),
                expected.to_string()
            );
        }
    }
}

/// A slice as Python takes it.
fn slice(clusters: &[String], start: i64, end: i64) -> String {
    let length = clusters.len() as i64;
    let bound = |at: i64| (if at < 0 { at + length } else { at }).clamp(0, length) as usize;
    clusters
        .get(bound(start)..bound(end))
        .map_or_else(String::new, |piece| piece.concat())
}

#[test]
fn slices_and_places_count_from_both_ends() {
    let mut mixes = Mixes(7);
    for _ in 0..300 {
        let text = mixes.text(6);
        let (list, input) = (plain_clusters(&text), literal(&text));
        for start in -7..8 {
            for end in -7..8 {
                let sliced = value(&format!("substr({}, {}, {})", input, start, end));
                assert_eq!(sliced, slice(&list, start, end), "{:?} {} {}", text, start, end);
            }
            assert_eq!(
                value(&format!("substr({}, {})", input, start)),
                slice(&list, start, 99)
            );
            let place = if start > 0 {
                start - 1
            } else {
                start + list.len() as i64
            };
            let expected = list.get(place as usize).filter(|_| start != 0).cloned();
            let nth = answer(&format!("nth({}, {})", input, start));
            assert_eq!(nth, expected.ok_or((Code::Domain, 0)), "{:?} {}", text, start);
        }
    }
}

#[test]
fn words_are_what_white_space_leaves() {
    let mut mixes = Mixes(8);
    let samples = [
        'a', 'é', ' ', '\t', '\u{85}', '\u{a0}', '\u{2003}', '\u{301}', '\u{200b}', '\u{3000}', '漢',
    ];
    for _ in 0..3000 {
        let length = mixes.below(14);
        let text: String = (0..length).map(|_| samples[mixes.below(samples.len())]).collect();
        let (list, input) = (text.split_whitespace().collect::<Vec<_>>(), literal(&text));
        assert_eq!(value(&format!("words({})", input)), list.len().to_string());
        assert_eq!(value(&format!("trim({})", input)), text.trim(), "{:?}", text);
        for (place, word) in list.iter().enumerate() {
            assert_eq!(value(&format!("word({}, {})", input, place + 1)), *word);
            let from_end = place as i64 - list.len() as i64;
            assert_eq!(value(&format!("word({}, {})", input, from_end)), *word);
        }
        for place in [0, list.len() as i64 + 1, -(list.len() as i64) - 1] {
            assert_eq!(
                answer(&format!("word({}, {})", input, place)),
                Err((Code::Domain, 0))
            );
        }
    }
}

#[test]
fn numbers_of_any_size_are_taken_for_what_they_are() {
    for (input, expected) in [
        (
            "substr('abc', -99999999999999999999, 99999999999999999999)",
            Ok("abc"),
        ),
        ("substr('abc', 99999999999999999999)", Ok("")),
        ("substr('abc', 4294967296)", Ok("")),
        ("nth('abc', 4294967297)", Err((Code::Domain, 0))),
        ("nth('abc', -99999999999999999999)", Err((Code::Domain, 0))),
        ("word('abc', 4294967297)", Err((Code::Domain, 0))),
        ("repeat('', 99999999999999999999)", Ok("")),
        ("repeat('', -1)", Err((Code::Domain, 0))),
        ("pad_left('abc', -99999999999999999999)", Err((Code::Domain, 0))),
        ("pad_left('abc', 99999999999999999999)", Err((Code::TooLarge, 0))),
        ("repeat('ab', 9223372036854775807)", Err((Code::TooLarge, 0))),
        ("repeat('ab', 4294967296)", Err((Code::TooLarge, 0))),
    ] {
        assert_eq!(answer(input), expected.map(String::from), "{}", input);
    }
}

#[test]
fn a_pad_is_one_cluster_even_where_nothing_is_padded() {
    for (input, expected) in [
        ("pad_left('7', 3, '0')", Ok("007")),
        ("pad_right('7', 3)", Ok("7  ")),
        ("pad_right('e\u{301}', 2, '\u{301}')", Ok("e\u{301}\u{301}")),
        ("pad_left('', 2, '🇩🇪')", Ok("🇩🇪🇩🇪")),
        ("pad_left('abcd', 2, '')", Err((Code::Domain, 0))),
        ("pad_right('abcd', 2, 'ab')", Err((Code::Domain, 0))),
        ("pad_left('a', -1, 'ab')", Err((Code::Domain, 0))),
    ] {
        assert_eq!(answer(input), expected.map(String::from), "{}", input);
    }
}
