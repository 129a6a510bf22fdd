//! The operator as a whole; values and offsets are held by the vectors.

use super::*;
use alloc::string::{String, ToString};

fn answer(input: &str, options: [u32; 3]) -> Result<String, Error> {
    let mut response = Response::new();
    evaluate(
        &Request {
            options: &options,
            input: input.as_bytes(),
        },
        &mut response,
    )?;
    assert!(response.is_exact());
    Ok(core::str::from_utf8(response.text()).unwrap().to_string())
}

fn value(input: &str) -> String {
    answer(input, [16_384, 1, 128]).unwrap()
}

fn error(input: &str) -> (Code, usize) {
    let error = answer(input, [16_384, 1, 128]).unwrap_err();
    assert!(
        error.message.len() <= evalspan_abi::MESSAGE_BYTES,
        "{}",
        error.message
    );
    (error.code, error.offset)
}

#[test]
fn a_call_of_each_kind_has_a_value() {
    assert_eq!(value("crc32(\"123456789\")"), "cbf43926");
    assert_eq!(value("crc16_arc('\\u0000')"), "0000");
    assert_eq!(value("isbn10_digit(\"080442957\")"), "X");
    assert_eq!(value("luhn_valid(\"4111 1111-1111 1111\")"), "true");
    assert_eq!(value("verhoeff_valid(\"2364\")"), "false");
    assert_eq!(value("iban_digits(\"gb\", \"WEST 1234 5698 7654 32\")"), "82");
    assert_eq!(value("mod97(\"3214282912345698765432161182\")"), "1");
}

#[test]
fn faults_are_reported_in_the_order_of_the_page() {
    assert_eq!(error("crc16(\"a\""), (Code::Syntax, 9));
    assert_eq!(error(" crc16(\"a\")"), (Code::Unsupported, 1));
    assert_eq!(error("luhn_digit(\"\""), (Code::Syntax, 13));
    assert_eq!(error("luhn_digit(\"\")"), (Code::Domain, 11));
    assert_eq!(error("iban_digits(\"G\", \"?\")"), (Code::Domain, 12));
    assert_eq!(error("iban_digits(\"GB\", \"?\")"), (Code::Domain, 18));
    assert_eq!(answer("foo(", [3, 1, 1]).unwrap_err().code, Code::TooLong);
    assert_eq!(
        answer("luhn_valid(\"a\")", [99, 1, 1]).unwrap_err().code,
        Code::Domain
    );
}

#[test]
fn a_result_of_exactly_the_limit_fits() {
    for (input, bytes) in [
        ("sha512(\"\")", 128),
        ("crc16_arc(\"\")", 4),
        ("luhn_digit(\"1\")", 1),
        ("luhn_valid(\"18\")", 4),
        ("luhn_valid(\"19\")", 5),
        ("iban_digits(\"GB\", \"0\")", 2),
        ("mod97(\"96\")", 2),
    ] {
        assert_eq!(answer(input, [99, 1, bytes]).unwrap().len(), bytes as usize);
        if bytes > 1 {
            let error = answer(input, [99, 1, bytes - 1]).unwrap_err();
            assert_eq!((error.code, error.offset), (Code::TooLarge, 0), "{}", input);
        }
    }
}

#[test]
fn the_message_of_an_unknown_name_shows_every_function() {
    let error = answer("crc64(\"a\")", [99, 1, 99]).unwrap_err();
    assert!(error.message.contains("crc32c") && error.message.len() <= evalspan_abi::MESSAGE_BYTES);
    for name in ["crc8", "crc16"] {
        let error = answer(&alloc::format!("{}(\"\")", name), [99, 1, 99]).unwrap_err();
        for variant in ["crc16_arc", "crc16_modbus", "crc16_ccitt_false", "crc16_xmodem"] {
            assert!(error.message.contains(variant));
        }
    }
}
