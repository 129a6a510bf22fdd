//! The parser: operator precedence with an explicit stack, so that no input can exhaust the module's own.

use alloc::vec::Vec;

use evalspan_abi::Error;
use evalspan_syntax::{Cursor, Depth};

use crate::function::{Function, UNKNOWN};
use crate::number;
use crate::program::{Op, Step};

/// A construct that waits for what stands right of it.
#[derive(Clone, Copy)]
struct Open {
    kind: Kind,
    /// How tightly it binds; 0 for what opens a bracket.
    precedence: u8,
    /// Byte offset of its first byte.
    at: u32,
}

#[derive(Clone, Copy)]
enum Kind {
    /// An operator of two operands.
    Binary(Op),
    /// A sign, and whether it changes the value.
    Sign(bool),
    /// A parenthesis.
    Group,
    /// A call with the number of arguments that are complete.
    Call(Function, u16),
}

/// Low to high.
const SUM: u8 = 1;
const PRODUCT: u8 = 2;
const SIGN: u8 = 3;
const POWER: u8 = 4;

struct Parser<'a> {
    cursor: Cursor<'a>,
    depth: Depth,
    steps: Vec<Step>,
    open: Vec<Open>,
}

/// The steps of an expression.
///
/// # Errors
/// The first `syntax` or `too_deep` by position.
pub fn parse(input: &[u8], max_depth: u32) -> Result<Vec<Step>, Error> {
    let mut parser = Parser {
        cursor: Cursor::new(input),
        depth: Depth::new(max_depth),
        // Every step has a byte of its own.
        steps: Vec::with_capacity(input.len()),
        open: Vec::with_capacity(8),
    };
    parser.operand()?;
    while parser.continues()? {
        parser.operand()?;
    }
    Ok(parser.steps)
}

impl Parser<'_> {
    /// Reads signs and opening brackets up to a literal, and the literal.
    fn operand(&mut self) -> Result<(), Error> {
        loop {
            self.cursor.skip_white();
            let at = self.cursor.at();
            match self.cursor.peek() {
                Some(b'0'..=b'9' | b'.') => {
                    number::scan(&mut self.cursor)?;
                    self.push(Op::Literal, (self.cursor.at() - at) as u16, at);
                    return Ok(());
                }
                Some(b'(') => self.enter(Kind::Group, 0, 1)?,
                Some(b'+') => self.enter(Kind::Sign(false), SIGN, 1)?,
                Some(b'-') => self.enter(Kind::Sign(true), SIGN, 1)?,
                Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => self.call()?,
                _ if self.cursor.peek_char() == Some(MINUS) => {
                    self.enter(Kind::Sign(true), SIGN, MINUS.len_utf8())?;
                }
                _ => return Err(self.no_operand()),
            }
        }
    }

    /// Reads a function's name and the parenthesis after it.
    fn call(&mut self) -> Result<(), Error> {
        let (start, mut rest) = (self.cursor.at(), self.cursor);
        let name = rest.name().unwrap_or("");
        let function = match Function::named(name) {
            Some(function) => function,
            None => return Err(Error::syntax(start, UNKNOWN).piece(rest.input(), rest.at())),
        };
        self.enter(Kind::Call(function, 0), 0, name.len())?;
        self.cursor.skip_white();
        if self.cursor.eat(b'(') {
            return Ok(());
        }
        Err(self
            .cursor
            .unexpected("a function's arguments stand in parentheses"))
    }

    /// Reads what follows an operand: closing brackets up to an operator or a comma, after which it answers
    /// true, or the end.
    fn continues(&mut self) -> Result<bool, Error> {
        loop {
            self.cursor.skip_white();
            let byte = match self.cursor.peek() {
                Some(byte) => byte,
                None => {
                    self.close(SUM);
                    if self.open.is_empty() {
                        return Ok(false);
                    }
                    return Err(self.cursor.unexpected("a closing parenthesis is missing"));
                }
            };
            let doubled = self.cursor.peek_at(1) == Some(byte);
            match byte {
                b'+' => self.binary(Op::Add, SUM, 1),
                b'-' => self.binary(Op::Subtract, SUM, 1),
                b'*' if doubled => self.enter(Kind::Binary(Op::Power), POWER, 2)?,
                b'*' => self.binary(Op::Multiply, PRODUCT, 1),
                b'/' if doubled => self.binary(Op::FloorDivide, PRODUCT, 2),
                b'/' => self.binary(Op::Divide, PRODUCT, 1),
                b'%' => self.binary(Op::Modulo, PRODUCT, 1),
                b'^' => self.enter(Kind::Binary(Op::Power), POWER, 1)?,
                b',' => self.comma()?,
                b')' => {
                    self.bracket()?;
                    continue;
                }
                _ => match self.cursor.peek_char() {
                    Some(MINUS) => self.binary(Op::Subtract, SUM, MINUS.len_utf8()),
                    Some(TIMES | DOT) => self.binary(Op::Multiply, PRODUCT, TIMES.len_utf8()),
                    Some(OVER) => self.binary(Op::Divide, PRODUCT, OVER.len_utf8()),
                    _ => return Err(self.no_operator(byte)),
                },
            }
            return Ok(true);
        }
    }

    /// Reads an operator that associates to the left.
    #[inline]
    fn binary(&mut self, op: Op, precedence: u8, bytes: usize) {
        self.close(precedence);
        self.open.push(Open {
            kind: Kind::Binary(op),
            precedence,
            at: self.cursor.at() as u32,
        });
        self.cursor.advance(bytes);
    }

    /// Completes what binds at least as tightly as `precedence`.
    #[inline]
    fn close(&mut self, precedence: u8) {
        while let Some(&Open {
            kind,
            precedence: other,
            at,
        }) = self.open.last()
        {
            if other < precedence {
                break;
            }
            self.open.pop();
            match kind {
                Kind::Binary(op) => {
                    if other == POWER {
                        self.depth.leave();
                    }
                    self.push(op, 0, at as usize);
                }
                Kind::Sign(negative) => {
                    self.depth.leave();
                    if negative {
                        self.push(Op::Negate, 0, at as usize);
                    }
                }
                Kind::Group | Kind::Call(..) => {}
            }
        }
    }

    /// Reads a closing parenthesis.
    fn bracket(&mut self) -> Result<(), Error> {
        self.close(SUM);
        match self.open.pop() {
            Some(Open {
                kind: Kind::Call(function, before),
                at,
                ..
            }) => {
                if function.is_fold() {
                    self.push(Op::Take(function), before, at as usize);
                    self.push(Op::Finish(function), before + 1, at as usize);
                } else {
                    self.push(Op::Apply(function), before + 1, at as usize);
                }
            }
            Some(_) => {}
            None => return Err(self.cursor.unexpected("this parenthesis was never opened")),
        }
        self.depth.leave();
        self.cursor.advance(1);
        Ok(())
    }

    /// Reads a comma between two arguments.
    fn comma(&mut self) -> Result<(), Error> {
        self.close(SUM);
        match self.open.last_mut() {
            Some(Open {
                kind: Kind::Call(function, before),
                at,
                ..
            }) => {
                let (function, index, at) = (*function, *before, *at);
                if index + 1 >= function.most_arguments() {
                    return Err(self.cursor.unexpected("too many arguments"));
                }
                *before += 1;
                if function.is_fold() {
                    self.push(Op::Take(function), index, at as usize);
                }
            }
            _ => {
                let message = "a comma only separates arguments: write 1000, not 1,000";
                return Err(self.cursor.unexpected(message));
            }
        }
        self.cursor.advance(1);
        Ok(())
    }

    /// Reads the token of `bytes` bytes that opens a nested construct. A power is one for its right side;
    /// it associates to the right, so that nothing before it is complete.
    fn enter(&mut self, kind: Kind, precedence: u8, bytes: usize) -> Result<(), Error> {
        let at = self.cursor.at();
        self.depth.enter(at)?;
        self.open.push(Open {
            kind,
            precedence,
            at: at as u32,
        });
        self.cursor.advance(bytes);
        Ok(())
    }

    #[inline]
    fn push(&mut self, op: Op, count: u16, at: usize) {
        self.steps.push(Step {
            op,
            count,
            at: at as u32,
        });
    }

    /// The error where an operand should begin.
    #[cold]
    fn no_operand(&self) -> Error {
        self.cursor.unexpected(match self.open.last() {
            Some(Open {
                kind: Kind::Binary(Op::Modulo),
                ..
            }) => "% is modulo and needs a right side: write 10 / 100 for ten per cent",
            Some(Open {
                kind: Kind::Call(_, 0),
                ..
            }) if self.cursor.peek() == Some(b')') => "an argument is missing",
            _ => "expected a number, a sign, a parenthesis or a function",
        })
    }

    /// The error where an operator should be; a number is refused as such where it is broken.
    #[cold]
    fn no_operator(&self, byte: u8) -> Error {
        let mut rest = self.cursor;
        let message = match byte {
            b'0'..=b'9' | b'.' => match number::scan(&mut rest) {
                Ok(()) => "an operator is missing between two numbers",
                Err(error) => return error,
            },
            b'(' => "no implicit multiplication: write 2*(3), not 2(3)",
            b'!' => "write factorial(n), not n!",
            b'=' => "no equations: write one side only",
            _ => match rest.name() {
                Some("x" | "X") => "x is not an operator: write * for a product",
                Some(name) if Function::named(name).is_none() => UNKNOWN,
                Some(_) => "no implicit multiplication: write 2*sqrt(3), not 2 sqrt(3)",
                None => return self.cursor.unexpected("expected an operator"),
            },
        };
        let end = rest.at().max(self.cursor.at() + 1);
        Error::syntax(self.cursor.at(), message).piece(self.cursor.input(), end)
    }
}

/// U+2212, an alias of `-`.
const MINUS: char = '\u{2212}';

/// U+00D7, an alias of `*`.
const TIMES: char = '\u{d7}';

/// U+00B7, an alias of `*`.
const DOT: char = '\u{b7}';

/// U+00F7, an alias of `/`.
const OVER: char = '\u{f7}';
