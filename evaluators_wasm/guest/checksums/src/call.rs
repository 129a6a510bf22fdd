//! The parser: one call with string literals.

use alloc::string::String;
use core::ops::Range;

use evalspan_abi::Error;
use evalspan_syntax::Cursor;

use crate::function::{Function, Unary};

/// A string literal and the bytes of the input that it takes, its quotes included.
pub(crate) struct Literal {
    pub(crate) text: String,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// A whole input.
pub(crate) enum Call {
    /// A call with one argument.
    Unary {
        function: Unary,
        name: Range<usize>,
        argument: Literal,
    },
    /// `iban_digits(country, account)`.
    IbanDigits { country: Literal, account: Literal },
}

/// Reads a whole input.
///
/// # Errors
/// `syntax`.
pub(crate) fn parse(input: &[u8]) -> Result<Call, Error> {
    let mut cursor = Cursor::new(input);
    cursor.skip_white();
    let start = cursor.at();
    let name = match cursor.name() {
        Some(name) => name,
        None => return Err(cursor.unexpected("expected the name of a function, as in crc32(\"text\")")),
    };
    let end = cursor.at();
    let function = Function::named(name).ok_or_else(|| Error::syntax(start, UNKNOWN).piece(input, end))?;
    expect(&mut cursor, b'(', "expected an opening parenthesis")?;
    let first = literal(&mut cursor)?;
    let call = match function {
        Function::Unary(function) => Call::Unary {
            function,
            name: start..end,
            argument: first,
        },
        Function::IbanDigits => {
            expect(&mut cursor, b',', "expected a comma and the account number")?;
            Call::IbanDigits {
                country: first,
                account: literal(&mut cursor)?,
            }
        }
    };
    expect(&mut cursor, b')', "expected a closing parenthesis")?;
    cursor.finish()?;
    Ok(call)
}

/// Every function in at most 200 bytes, the bound of a message.
const UNKNOWN: &str =
    "unknown function; known: crc32 crc32c crc16_{arc modbus ccitt_false xmodem} adler32 fnv1a{32 64} \
    md5 sha{1 256 512} {luhn verhoeff damm isbn10 isbn13 ean13}_{digit valid} iban_{digits valid} mod97";

fn expect(cursor: &mut Cursor<'_>, byte: u8, wanted: &'static str) -> Result<(), Error> {
    cursor.skip_white();
    if cursor.eat(byte) {
        return Ok(());
    }
    Err(cursor.unexpected(wanted))
}

fn literal(cursor: &mut Cursor<'_>) -> Result<Literal, Error> {
    cursor.skip_white();
    let start = cursor.at();
    let text = cursor.string()?;
    Ok(Literal {
        text,
        start,
        end: cursor.at(),
    })
}
