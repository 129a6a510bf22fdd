//! Values, and what a function is given and may answer.

use alloc::borrow::Cow;

use evalspan_abi::Code;

use crate::utf8;

/// What a function gives.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Value {
    /// A text, at most as long as the larger of the limits of input and result.
    Text(utf8::Text),
    /// A count or an index; a literal that does not fit is the nearest one.
    Integer(i64),
    /// The answer of a test.
    Boolean(bool),
    /// Arguments of a `concat` that are together longer than a text may be. Its other arguments are still
    /// evaluated, for their errors; then it is `too_large`.
    Overflow,
}

/// The type of a value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// A string.
    Text,
    /// An integer.
    Integer,
    /// A boolean.
    Boolean,
}

/// Why a function has no answer. It is reported at the function's name.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fault {
    /// `domain` or `too_large`.
    pub code: Code,
    /// What is wrong, and what would be right.
    pub message: Cow<'static, str>,
}

impl Fault {
    /// No answer for these arguments.
    pub fn domain(message: &'static str) -> Self {
        Self {
            code: Code::Domain,
            message: message.into(),
        }
    }

    /// A text of more bytes than the limit.
    pub fn too_large() -> Self {
        Self {
            code: Code::TooLarge,
            message: "the string has more bytes than max_input_bytes and max_result_bytes".into(),
        }
    }
}

/// What a function is given: as many values, and of the types, as its signature says.
#[derive(Clone, Copy, Debug)]
pub struct Arguments<'a> {
    values: &'a [Value],
    limit: usize,
}

impl<'a> Arguments<'a> {
    /// The arguments of a call; a text that it gives may have `limit` bytes.
    pub fn new(values: &'a [Value], limit: usize) -> Self {
        Self { values, limit }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// The text at `index`; empty where the signature has none there.
    pub fn text(&self, index: usize) -> &'a [u8] {
        match self.values.get(index) {
            Some(Value::Text(text)) => text,
            _ => &[],
        }
    }

    /// The integer at `index`, or `None` where it is left out.
    pub fn integer(&self, index: usize) -> Option<i64> {
        match self.values.get(index) {
            Some(Value::Integer(integer)) => Some(*integer),
            _ => None,
        }
    }

    /// Whether the first is more than a text may hold.
    pub fn overflow(&self) -> bool {
        matches!(self.values, [Value::Overflow, ..])
    }

    /// The most bytes of a text.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// The length of a text of `rest` bytes and `pieces` times `bytes` more, to be asked before it is made.
    ///
    /// # Errors
    /// `too_large`, where that is over the limit.
    pub fn check_size(&self, rest: usize, pieces: u64, bytes: usize) -> Result<usize, Fault> {
        let room = self.limit.checked_sub(rest).ok_or_else(Fault::too_large)?;
        match pieces.checked_mul(bytes as u64) {
            Some(added) if added <= room as u64 => Ok(rest + added as usize),
            _ => Err(Fault::too_large()),
        }
    }
}

/// What a function answers.
pub type Answer = Result<Value, Fault>;
