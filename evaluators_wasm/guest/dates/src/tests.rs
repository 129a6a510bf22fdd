//! Whole inputs: what each function answers, and which of several errors is reported. The vectors have the
//! rest.

use alloc::format;
use alloc::string::{String, ToString};

use evalspan_abi::{Code, Request, Response};

fn answer_within(input: &[u8], options: [u32; 3]) -> Result<String, (Code, usize)> {
    let mut response = Response::new();
    let request = Request {
        options: &options,
        input,
    };
    match crate::evaluate(&request, &mut response) {
        Ok(()) => Ok(core::str::from_utf8(response.text()).unwrap().to_string()),
        Err(error) => {
            assert!(
                error.message.len() <= 200 && !error.message.is_empty(),
                "{}",
                error.message
            );
            Err((error.code, error.offset))
        }
    }
}

fn answer(input: &str) -> Result<String, (Code, usize)> {
    answer_within(input.as_bytes(), [512, 32, 1024])
}

#[test]
fn every_function_has_its_value() {
    for (input, value) in [
        ("days_between(2024-01-01, 2024-12-31)", "365"),
        ("weeks_between(2024-01-15, 2024-01-01)", "-2"),
        ("hours_between(2024-01-01T00:00Z, 2024-01-01T00:00-01:30)", "1"),
        ("minutes_between(2024-01-01, 2024-01-02)", "1440"),
        (
            "seconds_between(2024-01-01T00:00, 2024-01-01T00:00:01.999999999)",
            "1",
        ),
        ("months_between(2024-01-31, 2024-02-29)", "1"),
        ("months_between(2024-02-29, 2024-01-31)", "0"),
        ("years_between(2020-02-29, 2021-02-28)", "1"),
        ("age(1990-06-15, 2024-06-14)", "33"),
        ("add_days(2024-02-28, 2)", "2024-03-01"),
        ("add_weeks(2024-02-28T01:02, -1)", "2024-02-21T01:02:00"),
        ("add_months(2024-03-31, -1)", "2024-02-29"),
        ("add_years(2024-02-29, 1)", "2025-02-28"),
        ("add_workdays(2024-03-09, 1)", "2024-03-11"),
        ("workdays_between(2024-03-11, 2024-03-08)", "-1"),
        ("weekday(2024-02-29)", "Thursday"),
        ("iso_weekday(2024-03-03)", "7"),
        ("iso_week(2021-01-03)", "2020-W53"),
        ("day_of_year(2024-12-31)", "366"),
        ("quarter(2024-04-01)", "2"),
        ("start_of_month(2024-02-29T04:20)", "2024-02-01"),
        ("end_of_month(2023-02-01)", "2023-02-28"),
        ("next(2024-03-08, \"friday\")", "2024-03-15"),
        ("previous(2024-03-08, 'Thursday')", "2024-03-07"),
        ("days_in_month(2000, 2)", "29"),
        ("is_leap_year(1900)", "false"),
        ("to_unix(1969-12-31T23:59:59Z)", "-1"),
        ("from_unix(253402300799)", "9999-12-31T23:59:59Z"),
        (
            "to_offset(2024-01-01T00:00Z, \"-05:00\")",
            "2023-12-31T19:00:00-05:00",
        ),
    ] {
        assert_eq!(answer(input), Ok(value.to_string()), "{}", input);
    }
}

#[test]
fn months_between_is_the_largest_number_that_does_not_go_past() {
    let days = [
        (2023, 1, 28),
        (2023, 1, 31),
        (2024, 2, 29),
        (2023, 2, 28),
        (2024, 12, 30),
        (2022, 3, 1),
    ];
    for (year, month, day) in days {
        let start = format!("{:04}-{:02}-{:02}", year, month, day);
        for (year, month, day) in days {
            let end = format!("{:04}-{:02}-{:02}", year, month, day);
            let n: i64 = answer(&format!("months_between({}, {})", start, end))
                .unwrap()
                .parse()
                .unwrap();
            let (towards, reaches) = if start <= end { (1, "<=") } else { (-1, ">=") };
            let test = |n: i64| answer(&format!("add_months({}, {}) {} {}", start, n, reaches, end)).unwrap();
            assert_eq!(
                (test(n), test(n + towards)),
                ("true".to_string(), "false".to_string()),
                "{} {}",
                start,
                end
            );
        }
    }
}

#[test]
fn differences_are_between_instants_wherever_the_clocks_are() {
    for (input, value) in [
        (
            "months_between(9999-12-31T00:00+23:59, 9999-12-31T23:59-23:59)",
            "0",
        ),
        (
            "months_between(9999-11-30T00:00+23:59, 9999-12-31T23:59-23:59)",
            "1",
        ),
        (
            "years_between(0002-01-01T00:00-23:59, 0001-01-01T00:00+23:59)",
            "-1",
        ),
        (
            "days_between(9999-12-31T00:00+23:59, 9999-12-31T23:59-23:59)",
            "2",
        ),
        ("9999-12-31T23:59:59-23:59 > 0001-01-01T00:00+23:59", "true"),
    ] {
        assert_eq!(answer(input), Ok(value.to_string()), "{}", input);
    }
}

#[test]
fn syntax_comes_before_evaluation_and_evaluation_from_left_to_right() {
    for (input, code, offset) in [
        ("2024-02-30 + $", Code::Syntax, 13),
        ("24:00 - 2024-02-30", Code::Range, 0),
        ("(9999-12-31 + 1 day) + (0001-01-01 - 1 day)", Code::Range, 12),
        ("weekday(2024-02-30 + today)", Code::Range, 8),
        ("add_days(9999-12-31, 99999999999999999999)", Code::TooLarge, 21),
        ("add_days(9999-12-31, 1) < today", Code::Range, 0),
        ("to_offset(2024-01-01T00:00, \"+99:00\")", Code::Range, 28),
        ("2024-01-01 + 99999999999999999999 days", Code::TooLarge, 13),
        ("today", Code::Unsupported, 0),
        ("2024-01-01T25:00 CET", Code::Range, 0),
        ("2024-01-01T23:00 CET", Code::Unsupported, 17),
        ("weekday(5 $", Code::Syntax, 8),
        ("weekday(5 seconds 3 days)", Code::Syntax, 8),
        ("5 seconds 3 days", Code::Syntax, 10),
        ("1 day 04:20", Code::Syntax, 6),
        ("3 d", Code::Syntax, 2),
        ("04:20 Berlin", Code::Syntax, 6),
        ("weekday(5 d)", Code::Syntax, 8),
        ("weekday(1 day 04:20)", Code::Syntax, 8),
        ("weekday(1 day 2)", Code::Syntax, 15),
        ("weekday(04:20 Berlin)", Code::Syntax, 8),
        ("weekday((((5 $", Code::Syntax, 13),
        ("next(2024-01-01, weekday(2024-01-01))", Code::Syntax, 17),
        ("", Code::Syntax, 0),
    ] {
        assert_eq!(answer(input), Err((code, offset)), "{}", input);
    }
}

#[test]
fn limits_are_those_of_the_request() {
    assert_eq!(
        answer_within(b"2024-01-01", [9, 32, 1024]),
        Err((Code::TooLong, 9))
    );
    assert_eq!(
        answer_within(b"2024-01-01", [10, 32, 10]),
        Ok("2024-01-01".to_string())
    );
    assert_eq!(
        answer_within(b"2024-01-01", [10, 32, 9]),
        Err((Code::TooLarge, 0))
    );
    assert_eq!(answer_within(b"-(-1)", [10, 2, 9]), Err((Code::TooDeep, 2)));
    assert_eq!(answer_within(b"-(-1)", [10, 3, 9]), Ok("1".to_string()));
    assert_eq!(
        answer_within(b"(1) + (1 day)", [20, 1, 9]),
        Err((Code::Domain, 4))
    );
    assert_eq!(answer_within(b"weekday(", [20, 1, 9]), Err((Code::Syntax, 8)));
    assert_eq!(answer_within(b"(weekday$", [20, 1, 9]), Err((Code::TooDeep, 1)));
}

#[test]
fn durations_are_written_without_the_parts_that_are_zero() {
    for (input, value) in [
        ("90061 seconds", "P1DT1H1M1S"),
        ("3661 seconds", "PT1H1M1S"),
        ("3601.5 seconds", "PT1H1.5S"),
        ("0.000000001 seconds", "PT0.000000001S"),
        ("-14 months 24 hours", "-P1Y2M1D"),
        ("0 days", "PT0S"),
        ("2024-01-02T00:00 - 2024-01-01T23:59:59.5", "PT0.5S"),
        ("2024-01-01T23:59:59.5 - 2024-01-02T00:00", "-PT0.5S"),
    ] {
        assert_eq!(answer(input), Ok(value.to_string()), "{}", input);
    }
}

#[test]
fn the_longest_result_is_written_whole() {
    let duration = "-P83333333333333333Y3M11574074074074DT1H46M39.999999999S";
    assert_eq!(answer(duration), Ok(duration.to_string()));
}

#[test]
fn bytes_that_are_no_text_are_a_syntax_error_where_they_are() {
    for (input, offset) in [
        (&b"2024-01-01 \xff"[..], 11),
        (b"\xc3", 0),
        (b"next(2024-01-01, \"\xff\")", 18),
        (b"1\x00", 1),
    ] {
        assert_eq!(answer_within(input, [512, 32, 1024]), Err((Code::Syntax, offset)));
    }
}
