use std::format;
use std::string::{String, ToString};

use evalspan_abi::Code;

use super::{answer, answer_under};

#[test]
fn a_value_of_exactly_the_limit_fits() {
    let options = [64, 32, 100];
    for (input, expected) in [
        ("len(repeat('x', 100))", Ok("100")),
        ("len(repeat('x', 101))", Err((Code::TooLarge, 4))),
        ("len(concat(repeat('x', 60), repeat('x', 40)))", Ok("100")),
        (
            "len(concat(repeat('x', 60), repeat('x', 41)))",
            Err((Code::TooLarge, 4)),
        ),
        ("len(pad_left('x', 100))", Ok("100")),
        ("len(pad_right('é', 100))", Err((Code::TooLarge, 4))),
        ("len(replace(repeat('a', 50), 'a', 'bb'))", Ok("100")),
        (
            "len(replace(repeat('a', 51), 'a', 'bb'))",
            Err((Code::TooLarge, 4)),
        ),
        ("len(upper(repeat('ŉ', 33)))", Ok("66")),
        ("len(upper(repeat('ŉ', 34)))", Err((Code::TooLarge, 4))),
    ] {
        assert_eq!(
            answer_under(options, input.as_bytes()),
            expected.map(String::from),
            "{}",
            input
        );
    }
}

#[test]
fn the_result_has_a_limit_of_its_own() {
    assert_eq!(
        answer_under([64, 32, 5], b"repeat('x', 6)"),
        Err((Code::TooLarge, 0))
    );
    assert_eq!(
        answer_under([64, 32, 4], b" contains('', 'x')"),
        Err((Code::TooLarge, 0))
    );
    assert_eq!(
        answer_under([64, 32, 1], b"len('0123456789')"),
        Err((Code::TooLarge, 0))
    );
    assert_eq!(
        answer_under([64, 32, 1], b"len(repeat('x', 9))"),
        Ok("9".to_string())
    );
}

#[test]
fn errors_come_in_their_order() {
    for (input, expected) in [
        ("concat(repeat('x', 20000), nth('', 1))", (Code::TooLarge, 7)),
        ("concat(repeat('x', 16384), 'x', nth('', 1))", (Code::Domain, 32)),
        (
            "concat(repeat('x', 16384), 'x', repeat('x', 16384))",
            (Code::TooLarge, 0),
        ),
        ("concat(nth('', 1), repeat('x', 20000))", (Code::Domain, 7)),
        ("replace(repeat('x', 16384), '', 'yy')", (Code::Domain, 0)),
    ] {
        assert_eq!(answer(input), Err(expected), "{}", input);
    }
    assert_eq!(answer_under([4, 32, 5], b"len(("), Err((Code::TooLong, 4)));
}

#[test]
fn a_concat_of_many_long_texts_is_refused_at_its_end() {
    let long = "repeat('x', 16384), ";
    let input = format!("concat({}nth('', 1))", long.repeat(500));
    assert_eq!(answer(&input), Err((Code::Domain, 7 + 500 * long.len())));
}

#[test]
fn calls_nest_as_deep_as_the_limit() {
    let nested = |depth: usize| format!("{}'x'{}", "upper(".repeat(depth), ")".repeat(depth));
    assert_eq!(
        answer_under([512, 3, 512], nested(3).as_bytes()),
        Ok("X".to_string())
    );
    assert_eq!(
        answer_under([512, 3, 512], nested(4).as_bytes()),
        Err((Code::TooDeep, 18))
    );
    assert_eq!(
        answer_under([512, 1, 512], b"upper(len('x'))"),
        Err((Code::Syntax, 6))
    );
    assert_eq!(
        answer_under([512, 1, 512], b"upper(foo('x'))"),
        Err((Code::Syntax, 6))
    );
    assert_eq!(
        answer_under([512, 1, 512], b"upper(lower"),
        Err((Code::TooDeep, 6))
    );
}
