//! The table of functions: name, types and code.

use crate::value::{Answer, Arguments, Kind};
use crate::{case, order, pieces, search, size};

/// A function as the syntax knows it.
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// The types of its arguments.
    pub parameters: &'static [Kind],
    /// How many of them must be there.
    pub required: usize,
    /// Whether the last may be repeated.
    pub variadic: bool,
    /// The type of its result.
    pub result: Kind,
    /// What it does.
    pub call: fn(Arguments<'_>) -> Answer,
}

impl Function {
    /// The function of that name.
    pub fn find(name: &str) -> Option<&'static Self> {
        FUNCTIONS.iter().find(|function| function.name == name)
    }

    /// The type of the argument at `index`, or `None` where the function takes no more.
    pub fn parameter(&self, index: usize) -> Option<Kind> {
        let last = if self.variadic {
            self.parameters.last()
        } else {
            None
        };
        self.parameters.get(index).or(last).copied()
    }
}

const fn function(
    name: &'static str,
    parameters: &'static [Kind],
    required: usize,
    result: Kind,
    call: fn(Arguments<'_>) -> Answer,
) -> Function {
    Function {
        name,
        parameters,
        required,
        variadic: false,
        result,
        call,
    }
}

const TEXT: Kind = Kind::Text;
const INTEGER: Kind = Kind::Integer;
const BOOLEAN: Kind = Kind::Boolean;

/// In the order of docs/operators/strings.md.
static FUNCTIONS: [Function; 25] = [
    function("len", &[TEXT], 1, INTEGER, size::len),
    function("codepoints", &[TEXT], 1, INTEGER, size::codepoints),
    function("bytes", &[TEXT], 1, INTEGER, size::bytes),
    function("words", &[TEXT], 1, INTEGER, pieces::words),
    function("count", &[TEXT, TEXT], 2, INTEGER, search::count),
    function("find", &[TEXT, TEXT], 2, INTEGER, search::find),
    function("contains", &[TEXT, TEXT], 2, BOOLEAN, search::contains),
    function("starts_with", &[TEXT, TEXT], 2, BOOLEAN, search::starts_with),
    function("ends_with", &[TEXT, TEXT], 2, BOOLEAN, search::ends_with),
    function("equals", &[TEXT, TEXT], 2, BOOLEAN, search::equals),
    function("is_palindrome", &[TEXT], 1, BOOLEAN, order::is_palindrome),
    function("upper", &[TEXT], 1, TEXT, case::upper),
    function("lower", &[TEXT], 1, TEXT, case::lower),
    function("trim", &[TEXT], 1, TEXT, pieces::trim),
    function("reverse", &[TEXT], 1, TEXT, order::reverse),
    function("sort", &[TEXT], 1, TEXT, order::sort),
    function("unique", &[TEXT], 1, TEXT, order::unique),
    function("substr", &[TEXT, INTEGER, INTEGER], 2, TEXT, pieces::substr),
    function("nth", &[TEXT, INTEGER], 2, TEXT, pieces::nth),
    function("word", &[TEXT, INTEGER], 2, TEXT, pieces::word),
    function("replace", &[TEXT, TEXT, TEXT], 3, TEXT, search::replace),
    function("repeat", &[TEXT, INTEGER], 2, TEXT, size::repeat),
    Function {
        variadic: true,
        ..function("concat", &[TEXT], 1, TEXT, size::concat)
    },
    function("pad_left", &[TEXT, INTEGER, TEXT], 2, TEXT, size::pad_left),
    function("pad_right", &[TEXT, INTEGER, TEXT], 2, TEXT, size::pad_right),
];
