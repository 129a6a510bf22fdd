use std::fs;
use std::string::String;

use evalspan_abi::Code;

use super::{answer, answer_under, Outcome};

#[test]
fn every_example_of_the_page_holds() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/operators/strings.md");
    let page = fs::read_to_string(path).unwrap();
    let mut count = 0;
    for block in page.split("```examples\n").skip(1) {
        for line in block.split("```").next().unwrap_or("").lines() {
            let (input, expected) = line.split_once(" => ").unwrap();
            assert_eq!(
                answer_under([512, 32, 1024], input.as_bytes()),
                outcome(expected),
                "{}",
                line
            );
            count += 1;
        }
    }
    assert!(count > 90, "{} examples", count);
}

fn outcome(text: &str) -> Outcome {
    let error = match text.strip_prefix("error ") {
        Some(error) => error,
        None => return Ok(text.into()),
    };
    let (code, offset) = error.split_once(" @").unwrap();
    let code = match code {
        "syntax" => Code::Syntax,
        "domain" => Code::Domain,
        "too_large" => Code::TooLarge,
        other => panic!("{}", other),
    };
    Err((code, offset.parse().unwrap()))
}

#[test]
fn a_fault_is_at_the_first_byte_that_cannot_be_right() {
    for (input, offset) in [
        ("", 0),
        (" \t\r\n", 4),
        ("'abc'", 0),
        ("len", 3),
        ("len ", 4),
        ("len(", 4),
        ("len('a'", 7),
        ("len('a',", 7),
        ("len('a' 'b')", 8),
        ("len('a'))", 8),
        ("len('a') len('b')", 9),
        ("len(contains('a', 'a'))", 4),
        ("nth('a')", 7),
        ("nth('a' 1)", 8),
        ("nth('a', '1')", 9),
        ("nth('a', -)", 9),
        ("nth('a', - 1)", 9),
        ("nth('a', 1x)", 10),
        ("nth('a', lower('1'))", 9),
        ("nth('a', 1, 2)", 10),
        ("concat()", 7),
        ("concat('a',)", 11),
        ("concat('a', 1)", 12),
        ("concat(01)", 7),
        ("concat(-)", 7),
        ("len(\u{a0}'a')", 4),
        ("len(\u{c}'a')", 4),
        ("_len('a')", 0),
        ("lens('a')", 0),
    ] {
        assert_eq!(answer(input), Err((Code::Syntax, offset)), "{}", input);
    }
}

#[test]
fn bytes_that_are_no_text_are_a_fault_where_they_are() {
    for (input, offset) in [
        (&b"\xff"[..], 0),
        (b"len\xc3('a')", 3),
        (b"len('a\xed\xa0\x80')", 6),
        (b"len('a\\\xff')", 6),
        (b"len('\xc3\xa9\xc3')", 7),
        (b"len('a\xc2\x85')", 6),
        (b"len('a\x7f')", 6),
        (b"len('a\0')", 6),
    ] {
        let answered = answer_under([512, 32, 512], input);
        assert_eq!(
            answered,
            Err((Code::Syntax, offset)),
            "{:?}",
            String::from_utf8_lossy(input)
        );
    }
}
