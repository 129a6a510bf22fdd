//! The parser: operator precedence with an explicit stack, so that no input can exhaust the module's own.

use alloc::vec::Vec;

use evalspan_abi::Error;
use evalspan_syntax::{Cursor, Depth};

use crate::function::{Function, UNKNOWN};
use crate::number;
use crate::program::{Op, Step};

/// A construct that waits for what stands right of it.
#[derive(Clone, Copy)]
enum Open {
    /// An operator of two operands.
    Binary(Op),
    /// A sign, and whether it changes the value.
    Sign(bool),
    /// A parenthesis.
    Group,
    /// A call with the number of arguments that are complete.
    Call(Function, u16),
}

/// Low to high; what opens a bracket binds nothing.
const SUM: u8 = 1;
const PRODUCT: u8 = 2;
const SIGN: u8 = 3;
const POWER: u8 = 4;

impl Open {
    fn precedence(self) -> u8 {
        match self {
            Self::Group | Self::Call(..) => 0,
            Self::Binary(Op::Add | Op::Subtract) => SUM,
            Self::Sign(_) => SIGN,
            Self::Binary(Op::Power) => POWER,
            Self::Binary(_) => PRODUCT,
        }
    }
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    depth: Depth,
    steps: Vec<Step>,
    /// What is open, with the offset of its first byte.
    open: Vec<(Open, usize)>,
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
                Some(b'(') => {
                    self.enter(Open::Group, at)?;
                    self.cursor.advance(1);
                }
                Some(b'+') => self.sign(false, at, 1)?,
                Some(b'-') => self.sign(true, at, 1)?,
                Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => self.call(at)?,
                _ if self.cursor.peek_char() == Some(MINUS) => self.sign(true, at, MINUS.len_utf8())?,
                _ => return Err(self.no_operand()),
            }
        }
    }

    fn sign(&mut self, negative: bool, at: usize, bytes: usize) -> Result<(), Error> {
        self.enter(Open::Sign(negative), at)?;
        self.cursor.advance(bytes);
        Ok(())
    }

    /// Reads a function's name and the parenthesis after it.
    fn call(&mut self, at: usize) -> Result<(), Error> {
        let name = self.cursor.name().unwrap_or("");
        let function = match Function::named(name) {
            Some(function) => function,
            None => return Err(Error::syntax(at, UNKNOWN).piece(self.cursor.input(), self.cursor.at())),
        };
        self.enter(Open::Call(function, 0), at)?;
        self.cursor.skip_white();
        if self.cursor.eat(b'(') {
            return Ok(());
        }
        Err(self.cursor.unexpected("a function's arguments stand in parentheses"))
    }

    /// Reads what follows an operand: closing brackets up to an operator or a comma, after which it answers true, or the
    /// end.
    fn continues(&mut self) -> Result<bool, Error> {
        loop {
            self.cursor.skip_white();
            let at = self.cursor.at();
            if let Some((op, bytes)) = self.operator() {
                let open = Open::Binary(op);
                if let Op::Power = op {
                    // Associates to the right, so that nothing before it is complete; its right side nests.
                    self.enter(open, at)?;
                } else {
                    self.close(open.precedence());
                    self.open.push((open, at));
                }
                self.cursor.advance(bytes);
                return Ok(true);
            }
            match self.cursor.peek() {
                Some(b')') => self.bracket()?,
                Some(b',') => {
                    self.comma()?;
                    return Ok(true);
                }
                None => {
                    self.close(SUM);
                    if self.open.is_empty() {
                        return Ok(false);
                    }
                    return Err(self.cursor.unexpected("a closing parenthesis is missing"));
                }
                Some(byte) => return Err(self.no_operator(byte)),
            }
        }
    }

    /// The operator of two operands that is next, and its length in bytes.
    fn operator(&self) -> Option<(Op, usize)> {
        let doubled = |byte: u8| self.cursor.peek_at(1) == Some(byte);
        Some(match self.cursor.peek()? {
            b'+' => (Op::Add, 1),
            b'-' => (Op::Subtract, 1),
            b'*' if doubled(b'*') => (Op::Power, 2),
            b'*' => (Op::Multiply, 1),
            b'/' if doubled(b'/') => (Op::FloorDivide, 2),
            b'/' => (Op::Divide, 1),
            b'%' => (Op::Modulo, 1),
            b'^' => (Op::Power, 1),
            0..=0x7f => return None,
            _ => match self.cursor.peek_char()? {
                MINUS => (Op::Subtract, MINUS.len_utf8()),
                TIMES => (Op::Multiply, TIMES.len_utf8()),
                DOT => (Op::Multiply, DOT.len_utf8()),
                OVER => (Op::Divide, OVER.len_utf8()),
                _ => return None,
            },
        })
    }

    /// Completes what binds at least as tightly as `precedence`.
    fn close(&mut self, precedence: u8) {
        while let Some(&(open, at)) = self.open.last() {
            if open.precedence() < precedence {
                break;
            }
            self.open.pop();
            match open {
                Open::Sign(negative) => {
                    self.depth.leave();
                    if negative {
                        self.push(Op::Negate, 0, at);
                    }
                }
                Open::Binary(op) => {
                    if let Op::Power = op {
                        self.depth.leave();
                    }
                    self.push(op, 0, at);
                }
                Open::Group | Open::Call(..) => {}
            }
        }
    }

    /// Reads a closing parenthesis.
    fn bracket(&mut self) -> Result<(), Error> {
        self.close(SUM);
        match self.open.pop() {
            Some((Open::Call(function, before), at)) => {
                if function.is_fold() {
                    self.push(Op::Take(function), before, at);
                    self.push(Op::Finish(function), before + 1, at);
                } else {
                    self.push(Op::Apply(function), before + 1, at);
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
            Some((Open::Call(function, before), at)) => {
                let (function, index, at) = (*function, *before, *at);
                if index + 1 >= function.most_arguments() {
                    return Err(self.cursor.unexpected("too many arguments"));
                }
                *before += 1;
                if function.is_fold() {
                    self.push(Op::Take(function), index, at);
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

    fn enter(&mut self, open: Open, at: usize) -> Result<(), Error> {
        self.depth.enter(at)?;
        self.open.push((open, at));
        Ok(())
    }

    fn push(&mut self, op: Op, count: u16, at: usize) {
        self.steps.push(Step { op, count, at: at as u32 });
    }

    /// The error where an operand should begin.
    #[cold]
    fn no_operand(&self) -> Error {
        self.cursor.unexpected(match self.open.last() {
            Some((Open::Binary(Op::Modulo), _)) => {
                "% is modulo and needs a right side: write 10 / 100 for ten per cent"
            }
            Some((Open::Call(_, 0), _)) if self.cursor.peek() == Some(b')') => "an argument is missing",
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
