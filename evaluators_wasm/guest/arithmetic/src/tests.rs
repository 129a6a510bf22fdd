//! The operator as a whole. The vectors in `conformance` are many more; these are what is easiest to break
//! here.

use evalspan_abi::{Code, Request, Response};

use super::evaluate;

/// The text of a value, `~` before it if it is rounded, or the code and offset of an error.
fn answer_within(input: &str, max_depth: u32, max_digits: u32) -> Result<String, (Code, usize)> {
    let request = Request {
        options: &[512, max_depth, max_digits, 1024, 15],
        input: input.as_bytes(),
    };
    let mut response = Response::new();
    match evaluate(&request, &mut response) {
        Ok(()) => {
            let mark = if response.is_exact() { "" } else { "~" };
            Ok(format!(
                "{}{}",
                mark,
                core::str::from_utf8(response.text()).unwrap()
            ))
        }
        Err(error) => Err((error.code, error.offset)),
    }
}

fn answer(input: &str) -> Result<String, (Code, usize)> {
    answer_within(input, 32, 1024)
}

#[test]
fn expressions_have_their_values() {
    for (input, text) in [
        ("17 * 23 + 91", "482"),
        ("-2**2", "-4"),
        ("2**3**2", "512"),
        ("2**-2**2", "0.0625"),
        ("5--3", "8"),
        ("10 − 4 × 2 ÷ 8 · 3 ^ 2", "1"),
        ("0.1+0.2", "0.3"),
        ("-7 % 3 + 7 // -2", "-2"),
        ("(10**1000/3)*(3/10**1000)", "1"),
        ("max(1, 5 % 10**30, min(9, 8))", "8"),
        ("2 ** (5 % 10**30)", "32"),
        ("9223372036854775807 + 1", "9223372036854775808"),
        ("-9223372036854775807 - 1", "-9223372036854775808"),
        ("9223372036854775808 * -1 + 1", "-9223372036854775807"),
        ("1/3", "~0.333333333333333"),
        ("10**20/3", "~33333333333333333333"),
        ("sqrt(2)**2", "~2"),
        ("0*sqrt(2)", "~0"),
        ("2**-31", "~0.000000000465661287307739"),
        ("1e-40", "0.0000000000000000000000000000000000000001"),
        ("999999999999999.5 + sqrt(2)*0", "~1000000000000000"),
        // A fraction is not in lowest terms while it need not be.
        ("((3^500+1)/(7^400+1) * ((7^400+1)/(3^500+1))) ^ 10^30", "1"),
        ("((3^500+1)/(7^400+1) * ((7^400+1)/-(3^500+1))) ^ (10^30+1)", "-1"),
        // The remainder has a factor 5 that neither denominator shares with the other.
        ("(1 + (9/7)^-1024) % 40e-106 * 10^120", "~172211959.650146"),
    ] {
        assert_eq!(answer(input).as_deref(), Ok(text), "{}", input);
    }
}

#[test]
fn the_first_fault_by_position_is_reported_before_anything_is_evaluated() {
    for (input, code, offset) in [
        ("1/0 + 2 3", Code::Syntax, 8),
        ("9**9**9 + (", Code::Syntax, 11),
        ("max(1,000)", Code::Syntax, 6),
        ("abs(1, 2)", Code::Syntax, 5),
        ("6/2(1+2)", Code::Syntax, 3),
        ("10%", Code::Syntax, 3),
        ("", Code::Syntax, 0),
        ("1/0 + sqrt(-1)", Code::DivisionByZero, 1),
        ("sqrt(-1) + 1/0", Code::Domain, 0),
        ("2 ** (1/0)", Code::DivisionByZero, 7),
        ("9**9**9", Code::TooLarge, 1),
        ("factorial(999999)", Code::TooLarge, 0),
        ("2 + 1e-2000", Code::TooLarge, 4),
    ] {
        assert_eq!(answer(input), Err((code, offset)), "{}", input);
    }
}

#[test]
fn a_function_faults_only_after_its_last_argument() {
    assert_eq!(answer("gcd(1.5, 1/0)"), Err((Code::DivisionByZero, 10)));
    assert_eq!(
        answer("sum(9e1023, 9e1023, 1/0)"),
        Err((Code::DivisionByZero, 21))
    );
    assert_eq!(answer("sum(9e1023, 9e1023, -9e1023)"), Err((Code::TooLarge, 0)));
    assert_eq!(answer("lcm(7**999, 3**999, 0.5)"), Err((Code::Domain, 0)));
    assert_eq!(answer("lcm(7**999, 3**999, 0)"), Err((Code::TooLarge, 0)));
    assert_eq!(answer("min(1, max(2, sum(3, 4)), 5)").as_deref(), Ok("1"));
}

#[test]
fn every_construct_nests_up_to_the_largest_limit() {
    for (open, atom, close) in [
        ("(", "1", ")"),
        ("-", "1", ""),
        ("1**", "1", ""),
        ("max(0,", "1", ")"),
        ("abs(", "1", ")"),
    ] {
        let nested = |depth: usize| format!("{}{}{}", open.repeat(depth), atom, close.repeat(depth));
        assert_eq!(
            answer_within(&nested(64), 64, 1024).as_deref(),
            Ok("1"),
            "{}",
            open
        );
        let at = 64 * open.len() + usize::from(open == "1**");
        assert_eq!(
            answer_within(&nested(65), 64, 1024),
            Err((Code::TooDeep, at)),
            "{}",
            open
        );
    }
}

#[test]
fn size_is_measured_in_lowest_terms() {
    assert_eq!(answer_within("99 + 1", 32, 2), Err((Code::TooLarge, 3)));
    assert_eq!(answer_within("99/100", 32, 2), Err((Code::TooLarge, 3)));
    assert_eq!(answer_within("1/4 + 1/4 + 1/2", 32, 1).as_deref(), Ok("1"));
    // Both sides have 512 digits or more that are left in until the sum would pass 1,024.
    let common = "(3**1072/7**605 + 3**1072/7**605)*7**605/3**1072";
    assert_eq!(answer(common).as_deref(), Ok("2"));
}
