//! Reads an expression and evaluates it on the way. Constructs that are open lie on the heap, not on the
//! stack.

mod atoms;
mod level;

use alloc::vec::Vec;

use evalspan_abi::Error;
use evalspan_syntax::{Cursor, Depth};

use self::level::{Call, Level, Opener, Pending};
use crate::fault::Fault;
use crate::hint;
use crate::operators::{self, Operator};
use crate::value::{Kind, Value};

/// Evaluates an input whose length was checked.
pub fn evaluate(input: &[u8], max_depth: u32) -> Result<Value, Error> {
    let mut parser = Parser::new(input, max_depth);
    let value = parser.run()?;
    match parser.fault {
        None => Ok(value),
        Some(error) => Err(error),
    }
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    depth: Depth,
    /// The construct that is being read, and those around it.
    level: Level,
    outer: Vec<Level>,
    /// The signs that wait for their operand, of all levels.
    signs: Vec<Pending>,
    /// The left operands and first arguments that wait for the other one, of all levels.
    operands: Vec<Value>,
    /// The first error of the evaluation; after it, values are missing.
    fault: Option<Error>,
}

/// What was read where an operand may start.
enum Read {
    /// An atom.
    Operand(Value),
    /// A string, which is a whole argument.
    Argument(Call, Value),
    /// A sign, a parenthesis or the head of a call: an operand follows.
    Opening,
}

/// What comes after a complete operand.
enum Next {
    /// An operand.
    Operand,
    /// The value of the construct that it closed.
    Closed(Value),
    /// The end.
    End(Value),
}

impl<'a> Parser<'a> {
    fn new(input: &'a [u8], max_depth: u32) -> Self {
        Self {
            cursor: Cursor::new(input),
            depth: Depth::new(max_depth),
            level: Level::new(Opener::Input, 0),
            outer: Vec::new(),
            signs: Vec::new(),
            // Enough for most inputs; growing from nothing costs more.
            operands: Vec::with_capacity(4),
            fault: None,
        }
    }

    fn run(&mut self) -> Result<Value, Error> {
        loop {
            let mut next = match self.operand()? {
                Read::Operand(value) => self.operand_ended(value)?,
                Read::Argument(call, value) => {
                    self.cursor.skip_white();
                    self.argument_taken(call, value)?
                }
                Read::Opening => Next::Operand,
            };
            while let Next::Closed(value) = next {
                next = self.operand_ended(value)?;
            }
            if let Next::End(value) = next {
                return Ok(value);
            }
        }
    }

    /// Reads what stands where an operand may start.
    fn operand(&mut self) -> Result<Read, Error> {
        self.cursor.skip_white();
        let at = self.cursor.at();
        match self.cursor.peek() {
            Some(b'0'..=b'9') => self.number().map(Read::Operand),
            Some(b'+' | b'-') => {
                let operator = if self.cursor.eat(b'-') {
                    Operator::Minus
                } else {
                    Operator::Plus
                };
                self.depth.enter(at)?;
                self.cursor.go_to(at + 1);
                self.signs.push(Pending { operator, at });
                Ok(Read::Opening)
            }
            Some(b'(') => {
                self.depth.enter(at)?;
                self.cursor.advance(1);
                self.open(Opener::Parenthesis);
                Ok(Read::Opening)
            }
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => self.name(),
            Some(b'"' | b'\'') => self.string(at),
            _ => Err(self
                .cursor
                .unexpected("expected a date, a duration, a function or an opening parenthesis")),
        }
    }

    fn open(&mut self, opener: Opener) {
        self.outer.push(self.level);
        self.level = Level::new(opener, self.signs.len());
    }

    /// Leaves the innermost construct, which the input is not.
    fn close(&mut self) {
        self.depth.leave();
        if let Some(level) = self.outer.pop() {
            self.level = level;
        }
    }

    /// The value, or one that is missing and the fault, which is kept if it is the first.
    #[inline(always)]
    fn settle(&mut self, kind: Kind, start: usize, end: usize, result: Result<Value, Fault>) -> Value {
        match result {
            Ok(value) => value,
            Err(fault) => self.missing(kind, start, end, fault),
        }
    }

    #[cold]
    #[inline(never)]
    fn missing(&mut self, kind: Kind, start: usize, end: usize, fault: Fault) -> Value {
        if self.fault.is_none() {
            let error = Error::new(fault.code, start, fault.message).piece(self.cursor.input(), end);
            self.fault = Some(error);
        }
        Value::Missing(kind)
    }

    /// Applies what waits for the operand, and reads the token after it.
    fn operand_ended(&mut self, value: Value) -> Result<Next, Error> {
        let mut value = value;
        while self.signs.len() > self.level.signs {
            if let Some(sign) = self.signs.pop() {
                value = self.signed(sign, value);
            }
            self.depth.leave();
        }
        if let Some(pending) = self.level.sum.take() {
            value = self.applied(pending, value);
        }
        let end = self.cursor.at();
        self.cursor.skip_white();
        let at = self.cursor.at();
        let operator = match self.cursor.peek() {
            Some(b'+') => Operator::Plus,
            Some(b'-') => Operator::Minus,
            _ => return self.sum_ended(value, end),
        };
        self.cursor.advance(1);
        self.level.sum = Some(Pending { operator, at });
        self.operands.push(value);
        Ok(Next::Operand)
    }

    fn signed(&mut self, sign: Pending, operand: Value) -> Value {
        let kind = operators::signed_kind(operand.kind());
        if self.fault.is_some() {
            return Value::Missing(kind);
        }
        self.settle(
            kind,
            sign.at,
            sign.at + 1,
            operators::signed(sign.operator, operand),
        )
    }

    fn applied(&mut self, pending: Pending, right: Value) -> Value {
        let left = self.operands.pop().unwrap_or(right);
        let kind = operators::kind(pending.operator, left.kind(), right.kind());
        if self.fault.is_some() {
            return Value::Missing(kind);
        }
        let result = operators::apply(pending.operator, left, right);
        self.settle(kind, pending.at, pending.at + 1, result)
    }

    /// Goes on after a sum that ended at `end`; white space after it is consumed.
    fn sum_ended(&mut self, value: Value, end: usize) -> Result<Next, Error> {
        if let Opener::Call(call) = self.level.opener {
            return self.argument_ended(call, value, end);
        }
        let at = self.cursor.at();
        let (value, is_comparison) = match self.level.comparison.take() {
            Some(pending) => (self.applied(pending, value), true),
            None => (value, false),
        };
        if !is_comparison {
            if let Some(operator) = self.comparison_operator() {
                self.level.comparison = Some(Pending { operator, at });
                self.operands.push(value);
                return Ok(Next::Operand);
            }
        }
        match self.level.opener {
            Opener::Parenthesis if self.cursor.eat(b')') => {
                self.close();
                Ok(Next::Closed(value))
            }
            Opener::Parenthesis => Err(self
                .cursor
                .unexpected("expected an operator or a closing parenthesis")),
            _ if self.cursor.is_at_end() => Ok(Next::End(value)),
            _ => Err(self.cursor.unexpected(hint::after_sum(self.cursor.peek()))),
        }
    }

    fn comparison_operator(&mut self) -> Option<Operator> {
        let or_equal = self.cursor.peek_at(1) == Some(b'=');
        let operator = match (self.cursor.peek()?, or_equal) {
            (b'<', false) => Operator::Less,
            (b'<', true) => Operator::LessOrEqual,
            (b'=', true) => Operator::Equal,
            (b'>', true) => Operator::GreaterOrEqual,
            (b'>', false) => Operator::Greater,
            _ => return None,
        };
        self.cursor.advance(1 + usize::from(or_equal));
        Some(operator)
    }

    /// Notes where the next argument starts.
    fn argument_begins(&mut self) {
        self.cursor.skip_white();
        let at = self.cursor.at();
        if let Opener::Call(call) = &mut self.level.opener {
            call.argument = at;
        }
    }

    /// Goes on after an argument that ended at `end`; white space after it is consumed.
    fn argument_ended(&mut self, call: Call, value: Value, end: usize) -> Result<Next, Error> {
        let parameter = call.parameter();
        if !parameter.takes(value.kind()) {
            return Err(Error::syntax(call.argument, parameter.wanted()).piece(self.cursor.input(), end));
        }
        self.argument_taken(call, value)
    }

    /// Goes on after an argument of the right type; white space after it is consumed.
    fn argument_taken(&mut self, call: Call, value: Value) -> Result<Next, Error> {
        match (self.cursor.peek(), call.is_last()) {
            (Some(b','), false) => {
                self.level.opener = Opener::Call(Call {
                    has_first: true,
                    ..call
                });
                self.operands.push(value);
                self.cursor.advance(1);
                self.argument_begins();
                Ok(Next::Operand)
            }
            (Some(b')'), true) => {
                self.cursor.advance(1);
                self.close();
                Ok(Next::Closed(self.called(call, value)))
            }
            (Some(b','), true) => Err(self.cursor.unexpected("the function takes fewer arguments")),
            (Some(b')'), false) => Err(self.cursor.unexpected("the function takes one more argument")),
            (_, true) => Err(self
                .cursor
                .unexpected("expected an operator or a closing parenthesis")),
            (_, false) => Err(self.cursor.unexpected("expected an operator or a comma")),
        }
    }

    fn called(&mut self, call: Call, last: Value) -> Value {
        let waiting = if call.has_first { self.operands.pop() } else { None };
        let first = waiting.unwrap_or(last);
        let kind = call.function.kind(first.kind());
        if self.fault.is_some() {
            return Value::Missing(kind);
        }
        self.settle(kind, call.start, call.end, call.function.apply(first, last))
    }
}
