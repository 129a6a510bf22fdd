//! Functions of any number of arguments, which are combined as they come so that only one value is held.
//!
//! All arguments are evaluated before the function does anything, as far as anyone can tell: a fault of the
//! function is kept until the last argument is there, whose own fault would come first.

use evalspan_abi::Code;

use crate::function::Function;
use crate::limits::Limits;
use crate::machine::Value;
use crate::nat::Nat;
use crate::rational::Rational;

/// A call whose arguments are being evaluated.
pub struct Fold {
    value: Value,
    fault: Option<Code>,
}

impl Fold {
    /// A call with its first argument.
    pub fn new(function: Function, first: Value) -> Self {
        let mut fold = Self {
            value: first,
            fault: None,
        };
        if let Function::Gcd | Function::Lcm = function {
            match fold.take().whole() {
                Some(number) => fold.value.number = number.magnitude(),
                None => fold.fault = Some(Code::Domain),
            }
        }
        fold
    }

    /// Takes the next argument.
    pub fn take_argument(&mut self, function: Function, mut next: Value, limits: &Limits) {
        self.value.inexact |= next.inexact;
        if let Function::Gcd | Function::Lcm = function {
            match next.number.whole() {
                Some(number) => next.number = number,
                None => {
                    self.fault = Some(Code::Domain);
                    return;
                }
            }
        }
        if self.fault.is_some() {
            return;
        }
        let number = self.take();
        let combined = match function {
            Function::Min => Ok(number.min(next.number)),
            Function::Max => Ok(number.max(next.number)),
            Function::Gcd => Ok(gcd(number, next.number)),
            Function::Lcm => lcm(number, next.number, limits),
            _ => Ok(number.add(next.number)),
        };
        match combined.and_then(|combined| limits.measured(combined)) {
            Ok(combined) => self.value.number = combined,
            Err(code) => self.fault = Some(code),
        }
    }

    /// The result of the call.
    ///
    /// # Errors
    /// `domain` before `too_large`.
    pub fn finish(mut self, function: Function, arguments: u16, limits: &Limits) -> Result<Value, Code> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        if let Function::Mean = function {
            let mean = self.take().div(Rational::integer(i64::from(arguments)));
            self.value.number = limits.measured(mean)?;
        }
        Ok(self.value)
    }

    fn take(&mut self) -> Rational {
        core::mem::replace(&mut self.value.number, Rational::integer(0))
    }
}

/// The numerators of two whole numbers.
fn numerators(a: Rational, b: Rational) -> (Nat, Nat) {
    (a.into_fraction().num, b.into_fraction().num)
}

fn gcd(a: Rational, b: Rational) -> Rational {
    let (a, b) = numerators(a, b);
    Rational::from_parts(false, a.gcd(&b), Nat::one())
}

fn lcm(a: Rational, b: Rational, limits: &Limits) -> Result<Rational, Code> {
    let (a, b) = numerators(a, b);
    if a.is_zero() || b.is_zero() {
        return Ok(Rational::integer(0));
    }
    let rest = b.div(&a.gcd(&b));
    // The product has at least one bit less than its factors together.
    if a.bits() + rest.bits() > limits.bits() + 1 {
        return Err(Code::TooLarge);
    }
    Ok(Rational::from_parts(false, a.mul(&rest), Nat::one()))
}
