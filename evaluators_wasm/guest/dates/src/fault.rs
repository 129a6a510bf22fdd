//! Why an operation has no answer, before it is known where in the input that was.

use evalspan_abi::Code;

/// The code and the message of an error of the evaluation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Fault {
    pub code: Code,
    pub message: &'static str,
}

impl Fault {
    /// The operation has no answer for these values.
    pub const fn domain(message: &'static str) -> Self {
        Self {
            code: Code::Domain,
            message,
        }
    }

    /// A field is outside the calendar or the clock.
    pub const fn range(message: &'static str) -> Self {
        Self {
            code: Code::Range,
            message,
        }
    }

    /// A value is over its limit.
    pub const fn too_large(message: &'static str) -> Self {
        Self {
            code: Code::TooLarge,
            message,
        }
    }

    /// A known name that is left out on purpose.
    pub const fn unsupported(message: &'static str) -> Self {
        Self {
            code: Code::Unsupported,
            message,
        }
    }
}

/// A date outside the years 1 to 9999.
pub const OUTSIDE_CALENDAR: Fault = Fault::range("the result is outside the years 0001 to 9999");

/// Datetimes of which only one says when it is.
pub const MIXED_OFFSETS: Fault = Fault::domain(
    "one datetime has an offset and the other has none: write both with one, as in 2024-02-29T04:20Z",
);
