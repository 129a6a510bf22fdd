//! A parsed expression: its steps in the order of evaluation, for a machine with a stack.

use crate::function::Function;

/// What a step does. Operands are on the stack, the right one on top.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Op {
    /// Pushes the literal of `count` bytes at `at`.
    Literal,
    /// Changes the sign.
    Negate,
    /// Sum.
    Add,
    /// Difference.
    Subtract,
    /// Product.
    Multiply,
    /// Quotient.
    Divide,
    /// Quotient, rounded down.
    FloorDivide,
    /// Remainder.
    Modulo,
    /// Power.
    Power,
    /// Takes argument number `count`, from 0, into the innermost open call.
    Take(Function),
    /// Replaces the innermost open call, of `count` arguments, by its result.
    Finish(Function),
    /// Applies a function to `count` operands.
    Apply(Function),
}

/// One step.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Step {
    /// What to do.
    pub op: Op,
    /// How much, by the operation.
    pub count: u16,
    /// Byte offset of the operator, the function's name or the literal: where an error is reported.
    pub at: u32,
}
