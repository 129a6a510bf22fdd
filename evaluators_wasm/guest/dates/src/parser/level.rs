//! Constructs that are open.

use crate::functions::{Function, Parameter};
use crate::operators::Operator;

/// A construct that is open: what opened it, and which operators in it wait for a right operand.
#[derive(Clone, Copy)]
pub struct Level {
    pub opener: Opener,
    /// How many signs there are outside of it.
    pub signs: usize,
    pub sum: Option<Pending>,
    pub comparison: Option<Pending>,
}

/// What opened a construct.
#[derive(Clone, Copy)]
pub enum Opener {
    Input,
    Parenthesis,
    Call(Call),
}

/// A call whose arguments are being read.
#[derive(Clone, Copy)]
pub struct Call {
    pub function: Function,
    /// Where its name is.
    pub start: usize,
    pub end: usize,
    /// Whether the first of two arguments is complete: it is an operand that waits.
    pub has_first: bool,
    /// Where the present argument starts.
    pub argument: usize,
}

/// An operator that waits for its right, or only, operand.
#[derive(Clone, Copy)]
pub struct Pending {
    pub operator: Operator,
    /// Where it is.
    pub at: usize,
}

impl Level {
    pub fn new(opener: Opener, signs: usize) -> Self {
        Self {
            opener,
            signs,
            sum: None,
            comparison: None,
        }
    }
}

impl Call {
    /// The parameter of the present argument.
    pub fn parameter(&self) -> Parameter {
        match self.function.parameters() {
            (_, Some(second)) if self.has_first => second,
            (first, _) => first,
        }
    }

    /// Whether no argument may follow the present one.
    pub fn is_last(&self) -> bool {
        self.has_first || self.function.parameters().1.is_none()
    }
}
