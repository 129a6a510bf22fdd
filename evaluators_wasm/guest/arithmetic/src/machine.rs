//! Evaluation: runs the steps of a parsed expression.

use alloc::vec::Vec;
use core::mem;

use evalspan_abi::{Code, Error};

use crate::fold::Fold;
use crate::function::Function;
use crate::limits::Limits;
use crate::nat::Nat;
use crate::number;
use crate::program::{Op, Step};
use crate::rational::{Rational, Rounding};

/// A number and whether a rounding came before it.
pub struct Value {
    /// The number, within the limits.
    pub number: Rational,
    /// Whether it derives from a rounded root.
    pub inexact: bool,
}

/// Runs the steps of an expression and returns its value.
///
/// # Errors
/// The first error of the evaluation, at the operator, function or literal that has no answer.
pub fn run(steps: &[Step], input: &[u8], limits: &Limits) -> Result<Value, Error> {
    let mut machine = Machine {
        limits,
        stack: Vec::with_capacity(4),
        folds: Vec::new(),
    };
    for step in steps {
        if let Err(code) = machine.step(*step, input) {
            let at = step.at as usize;
            return Err(Error::new(code, at, message(code, step.op)).piece(input, at + piece(input, *step)));
        }
    }
    Ok(machine.pop())
}

struct Machine<'a> {
    limits: &'a Limits,
    stack: Vec<Value>,
    folds: Vec<Fold>,
}

impl Machine<'_> {
    fn step(&mut self, step: Step, input: &[u8]) -> Result<(), Code> {
        match step.op {
            Op::Literal => {
                let start = step.at as usize;
                let literal = &input[start..start + usize::from(step.count)];
                match number::word(literal) {
                    Some(word) if self.limits.fits_word(word) => {
                        self.stack.push(Value {
                            number: Rational::Small { num: word, den: 1 },
                            inexact: false,
                        });
                    }
                    _ => self.push(number::value(literal, self.limits)?, false)?,
                }
            }
            Op::Negate => {
                let number = &mut self.top().number;
                *number = mem::replace(number, Rational::integer(0)).negated();
            }
            Op::Take(function) => {
                let next = self.pop();
                match self.folds.last_mut() {
                    Some(fold) if step.count > 0 => fold.take_argument(function, next, self.limits),
                    _ => self.folds.push(Fold::new(function, next)),
                }
            }
            Op::Finish(function) => {
                if let Some(fold) = self.folds.pop() {
                    let value = fold.finish(function, step.count, self.limits)?;
                    self.stack.push(value);
                }
            }
            Op::Apply(function) => {
                let second = if step.count == 2 { Some(self.pop()) } else { None };
                let first = self.pop();
                let mut inexact = first.inexact | second.as_ref().map_or(false, |value| value.inexact);
                let places = second.map_or(Rational::integer(0), |value| value.number);
                let (number, exact) = apply(function, first.number, places, self.limits)?;
                inexact |= !exact;
                self.push(number, inexact)?;
            }
            binary => self.binary(binary)?,
        }
        Ok(())
    }

    /// Replaces the two operands on top by the result.
    fn binary(&mut self, op: Op) -> Result<(), Code> {
        let b = self.pop();
        let a = self.top();
        a.inexact |= b.inexact;
        if let (Rational::Small { num, den: 1 }, Rational::Small { num: other, den: 1 }) =
            (&mut a.number, &b.number)
        {
            // Most expressions are of whole numbers; these three need no more than a word.
            let result = match op {
                Op::Add => num.checked_add(*other),
                Op::Subtract => num.checked_sub(*other),
                Op::Multiply => num.checked_mul(*other),
                _ => None,
            };
            if let Some(result) = result.filter(|result| *result != i64::MIN) {
                *num = result;
                return if self.limits.fits_word(result) {
                    Ok(())
                } else {
                    Err(Code::TooLarge)
                };
            }
        }
        let a = mem::replace(&mut a.number, Rational::integer(0));
        let number = operate(op, a, b.number, self.limits)?;
        self.top().number = self.limits.measured(number)?;
        Ok(())
    }

    fn push(&mut self, number: Rational, inexact: bool) -> Result<(), Code> {
        let number = self.limits.measured(number)?;
        self.stack.push(Value { number, inexact });
        Ok(())
    }

    /// The value on top. The parser gives every step its operands.
    fn top(&mut self) -> &mut Value {
        self.stack.last_mut().unwrap_or_else(|| unreachable!())
    }

    /// The value on top, taken.
    fn pop(&mut self) -> Value {
        self.stack.pop().unwrap_or_else(|| unreachable!())
    }
}

#[inline(never)]
fn operate(op: Op, a: Rational, b: Rational, limits: &Limits) -> Result<Rational, Code> {
    Ok(match op {
        Op::Add => a.add(b),
        Op::Subtract => a.sub(b),
        Op::Multiply => a.mul(b),
        Op::Power => return a.power(b, limits),
        _ if b.is_zero() => return Err(Code::DivisionByZero),
        Op::Divide => a.div(b),
        Op::FloorDivide => a.floor_div(b),
        _ => a.modulo(b),
    })
}

/// The result of a function of one or two arguments, and whether it is exact.
#[inline(never)]
fn apply(
    function: Function,
    x: Rational,
    places: Rational,
    limits: &Limits,
) -> Result<(Rational, bool), Code> {
    let rounded = |x: Rational, rounding| {
        let places = places.whole().ok_or(Code::Domain)?;
        x.round(&places, rounding, limits).ok_or(Code::TooLarge)
    };
    let number = match function {
        Function::Abs => x.magnitude(),
        Function::Floor => x.into_integer(Rounding::Floor),
        Function::Ceil => x.into_integer(Rounding::Ceiling),
        Function::Trunc => x.into_integer(Rounding::Truncate),
        Function::Round => rounded(x, Rounding::HalfAway)?,
        Function::RoundEven => rounded(x, Rounding::HalfEven)?,
        Function::Sqrt if x.is_negative() => return Err(Code::Domain),
        Function::Sqrt => return Ok(x.sqrt()),
        _ => factorial(x, limits)?,
    };
    Ok((number, true))
}

fn factorial(x: Rational, limits: &Limits) -> Result<Rational, Code> {
    if x.is_negative() {
        return Err(Code::Domain);
    }
    let n = match x.whole().ok_or(Code::Domain)? {
        Rational::Small { num, .. } => u32::try_from(num).ok(),
        Rational::Big(_) => None,
    };
    let product = n
        .and_then(|n| Nat::factorial(n, limits.bits()))
        .ok_or(Code::TooLarge)?;
    Ok(Rational::from_parts(false, product, Nat::one()))
}

/// What an error of a step says.
fn message(code: Code, op: Op) -> &'static str {
    match (code, op) {
        (Code::DivisionByZero, Op::Power) => "0 has no negative power",
        (Code::DivisionByZero, _) => "the divisor is 0",
        (Code::Domain, Op::Power) => "an exponent must be a whole number: use sqrt for roots",
        (Code::Domain, Op::Apply(Function::Sqrt)) => "a negative number has no square root",
        (Code::Domain, Op::Apply(Function::Factorial)) => {
            "factorial needs a whole number that is not negative"
        }
        (Code::Domain, Op::Apply(_)) => "the number of places must be a whole number",
        (Code::Domain, _) => "the arguments must be whole numbers",
        (_, Op::Literal) => "the number has more digits than max_digits",
        _ => "the result has more digits than max_digits",
    }
}

/// Bytes of the operator, name or literal that a step stands for.
fn piece(input: &[u8], step: Step) -> usize {
    let rest = &input[step.at as usize..];
    let named = rest
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
        .count();
    match step.op {
        Op::Literal => usize::from(step.count),
        Op::FloorDivide => 2,
        Op::Power if rest.starts_with(b"**") => 2,
        _ if named > 0 => named,
        // One character of any length: the other bytes of it are continuation bytes.
        _ => {
            1 + rest
                .iter()
                .skip(1)
                .take_while(|byte| **byte & 0xc0 == 0x80)
                .count()
        }
    }
}
