//! Reads an expression and evaluates it on the way. Constructs that are open lie on the heap, not on the stack.

use alloc::vec::Vec;

use evalspan_abi::Error;
use evalspan_syntax::{Cursor, Depth};

use crate::duration::{Quantities, Unit};
use crate::fault::Fault;
use crate::functions::{self, Function, Parameter};
use crate::literal::{self, Literal, NO_WEEKDAY, NO_ZONES};
use crate::operators::{self, Operator};
use crate::value::{Kind, Value};
use crate::{hint, word, zone};

/// Evaluates an input whose length was checked.
pub fn evaluate(input: &[u8], max_depth: u32) -> Result<Value, Error> {
    Parser::new(input, max_depth).run()
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    depth: Depth,
    /// The construct that is being read, and those around it.
    level: Level,
    outer: Vec<Level>,
    /// The signs that wait for their operand, of all levels.
    signs: Vec<Sign>,
    /// The first error of the evaluation; after it, values are missing.
    fault: Option<Error>,
}

/// A construct that is open: what opened it, and what waits in it for a right operand.
struct Level {
    opener: Opener,
    /// How many signs there are outside of it.
    signs: usize,
    sum: Option<Pending>,
    comparison: Option<Pending>,
}

enum Opener {
    Input,
    Parenthesis,
    Call(Call),
}

struct Call {
    function: Function,
    /// Where its name is.
    start: usize,
    end: usize,
    /// The first of two arguments, once it is complete.
    first: Option<Value>,
    /// Where the present argument starts.
    argument: usize,
}

struct Pending {
    left: Value,
    operator: Operator,
    at: usize,
}

struct Sign {
    operator: Operator,
    at: usize,
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

impl Level {
    fn new(opener: Opener, signs: usize) -> Self {
        Self { opener, signs, sum: None, comparison: None }
    }
}

impl<'a> Parser<'a> {
    fn new(input: &'a [u8], max_depth: u32) -> Self {
        Self {
            cursor: Cursor::new(input),
            depth: Depth::new(max_depth),
            level: Level::new(Opener::Input, 0),
            outer: Vec::new(),
            signs: Vec::new(),
            fault: None,
        }
    }

    fn run(mut self) -> Result<Value, Error> {
        let value = loop {
            // A sign or an opening consumes its token and leaves the operand to the next turn.
            let mut next = match self.operand()? {
                Some(value) => self.operand_ended(value)?,
                None => Next::Operand,
            };
            while let Next::Closed(value) = next {
                next = self.operand_ended(value)?;
            }
            if let Next::End(value) = next {
                break value;
            }
        };
        match self.fault {
            None => Ok(value),
            Some(error) => Err(error),
        }
    }

    /// Reads an atom, or a sign, a parenthesis or the head of a call, after which an operand follows.
    fn operand(&mut self) -> Result<Option<Value>, Error> {
        self.cursor.skip_white();
        let at = self.cursor.at();
        match self.cursor.peek() {
            Some(b'0'..=b'9') => self.number().map(Some),
            Some(b'+' | b'-') => {
                let operator = if self.cursor.eat(b'-') { Operator::Minus } else { Operator::Plus };
                self.depth.enter(at)?;
                self.cursor.go_to(at + 1);
                self.signs.push(Sign { operator, at });
                Ok(None)
            }
            Some(b'(') => {
                self.depth.enter(at)?;
                self.cursor.advance(1);
                self.open(Opener::Parenthesis);
                Ok(None)
            }
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => self.name(),
            Some(b'"' | b'\'') => {
                Err(self.cursor.unexpected("text stands only where a function takes the name of a day or an offset"))
            }
            _ => Err(self.cursor.unexpected("expected a date, a duration, a function or an opening parenthesis")),
        }
    }

    fn open(&mut self, opener: Opener) {
        let level = Level::new(opener, self.signs.len());
        self.outer.push(core::mem::replace(&mut self.level, level));
    }

    /// Closes the innermost construct, which the input is not, and returns what opened it.
    fn close(&mut self) -> Opener {
        self.depth.leave();
        match self.outer.pop() {
            Some(level) => core::mem::replace(&mut self.level, level).opener,
            None => Opener::Input,
        }
    }

    /// The value, or the fault and a value that is missing.
    fn settle(&mut self, kind: Kind, at: usize, end: usize, result: Result<Value, Fault>) -> Value {
        match result {
            Ok(value) if self.fault.is_none() => value,
            Ok(_) => Value::Missing(kind),
            Err(fault) => {
                if self.fault.is_none() {
                    let error = Error::new(fault.code, at, fault.message).piece(self.cursor.input(), end);
                    self.fault = Some(error);
                }
                Value::Missing(kind)
            }
        }
    }

    /// Reads what starts with a digit: a number, a moment, or a duration.
    fn number(&mut self) -> Result<Value, Error> {
        let start = self.cursor.at();
        let literal = self.numeric_word()?;
        let end = self.cursor.at();
        self.cursor.skip_white();
        let has_name = self.cursor.peek().map_or(false, |byte| byte.is_ascii_alphabetic() || byte == b'_');
        match literal {
            Literal::Integer(whole) if !has_name => {
                let value = whole.map(Value::Integer).ok_or(Fault::too_large("an integer has at most 18 digits"));
                Ok(self.settle(Kind::Integer, start, end, value))
            }
            Literal::Integer(whole) => self.quantities(start, whole, None),
            Literal::Decimal(whole, nanoseconds) => self.quantities(start, whole, Some(nanoseconds)),
            Literal::Week => {
                let fault = Fault::unsupported("ISO week dates are not known here: write the date, as in 2024-02-29");
                Ok(self.settle(Kind::Any, start, end, Err(fault)))
            }
            Literal::Moment(result) => {
                let (kind, result) = match result {
                    Ok(value) => (value.kind(), Ok(value)),
                    Err((kind, fault)) => (kind, Err(fault)),
                };
                let value = self.settle(kind, start, end, result);
                if !has_name || kind == Kind::Date {
                    return Ok(value);
                }
                let name = self.cursor.at();
                match self.zone() {
                    Some(zone) => Ok(zone),
                    None => Err(Error::syntax(name, "only the name of a time zone may follow a time")),
                }
            }
        }
    }

    /// Reads a whole numeric word.
    fn numeric_word(&mut self) -> Result<Literal, Error> {
        let (input, start) = (self.cursor.input(), self.cursor.at());
        let end = word::numeric_end(input, start);
        let text = &input[start..end];
        match literal::numeric(text) {
            Some(literal) => {
                self.cursor.go_to(end);
                Ok(literal)
            }
            None => Err(Error::syntax(start, hint::for_numeric_word(text)).piece(input, end)),
        }
    }

    /// Reads the rest of a duration in words, its first number being read.
    fn quantities(&mut self, start: usize, whole: Option<i64>, fraction: Option<i32>) -> Result<Value, Error> {
        let (mut whole, mut fraction) = (whole, fraction);
        let mut quantities = Quantities::NONE;
        let mut last = None;
        loop {
            let unit = self.unit(fraction.is_some(), last)?;
            let end = self.cursor.at();
            quantities.add(unit, whole, fraction.unwrap_or(0));
            last = Some(unit);
            self.cursor.skip_white();
            if !self.cursor.peek().map_or(false, |byte| byte.is_ascii_digit()) {
                let duration = quantities.duration().map(Value::Duration);
                return Ok(self.settle(Kind::Duration, start, end, duration));
            }
            let number = self.cursor.at();
            let next = if unit == Unit::Second { None } else { Some(self.numeric_word()?) };
            match next {
                Some(Literal::Integer(next)) => {
                    whole = next;
                    fraction = None;
                }
                Some(Literal::Decimal(next, nanoseconds)) => {
                    whole = next;
                    fraction = Some(nanoseconds);
                }
                _ => return Err(Error::syntax(number, "expected an operator or the end of the input")),
            }
        }
    }

    /// Reads a unit that is smaller than the last one.
    fn unit(&mut self, has_fraction: bool, last: Option<Unit>) -> Result<Unit, Error> {
        self.cursor.skip_white();
        let at = self.cursor.at();
        let name = self.cursor.name().unwrap_or("");
        let message = match Unit::of_word(name.as_bytes()) {
            Some(unit) if has_fraction && unit != Unit::Second => "only seconds have a fraction",
            Some(unit) if last.map_or(false, |last| unit <= last) => {
                "units stand in order, each once: years, months, weeks, days, hours, minutes, seconds"
            }
            Some(unit) => return Ok(unit),
            None if has_fraction => "expected seconds after a decimal",
            None => "expected a unit: year, month, week, day, hour, minute or second, lowercase",
        };
        if name.is_empty() {
            return Err(self.cursor.unexpected(message));
        }
        Err(Error::syntax(at, message).piece(self.cursor.input(), self.cursor.at()))
    }

    /// Reads the name of a time zone, which has no answer; `None`, where that is not next.
    fn zone(&mut self) -> Option<Value> {
        let start = self.cursor.at();
        self.cursor.name()?;
        let end = zone::end(self.cursor.input(), start, self.cursor.at())?;
        self.cursor.go_to(end);
        Some(self.settle(Kind::Any, start, end, Err(NO_ZONES)))
    }

    /// Reads what starts with a letter: an ISO duration, a function's head, or a name that has no answer.
    fn name(&mut self) -> Result<Option<Value>, Error> {
        let (input, start) = (self.cursor.input(), self.cursor.at());
        if let Some(end) = word::iso_end(input, start) {
            return match literal::iso(&input[start..end]) {
                Some(duration) => {
                    self.cursor.go_to(end);
                    Ok(Some(self.settle(Kind::Duration, start, end, duration.map(Value::Duration))))
                }
                None => Err(Error::syntax(start, hint::for_iso_word()).piece(input, end)),
            };
        }
        let name = self.cursor.name().unwrap_or("").as_bytes();
        let end = self.cursor.at();
        if let Some(function) = functions::find(name) {
            self.depth.enter(start)?;
            self.cursor.skip_white();
            if !self.cursor.eat(b'(') {
                return Err(self.cursor.unexpected("expected an opening parenthesis after the function's name"));
            }
            self.open(Opener::Call(Call { function, start, end, first: None, argument: 0 }));
            self.argument_begins();
            return Ok(None);
        }
        if name == b"today" || name == b"now" {
            self.cursor.skip_white();
            if self.cursor.eat(b'(') {
                self.cursor.skip_white();
                if !self.cursor.eat(b')') {
                    return Err(self.cursor.unexpected("expected a closing parenthesis"));
                }
            }
            let fault = Fault::unsupported("there is no clock here: write the date itself, as in 2024-02-29");
            return Ok(Some(self.settle(Kind::Any, start, end, Err(fault))));
        }
        self.cursor.go_to(start);
        match self.zone() {
            Some(zone) => Ok(Some(zone)),
            None => Err(Error::syntax(start, hint::for_name(name)).piece(input, end)),
        }
    }

    /// Applies what waits for the operand, and reads the token after it.
    fn operand_ended(&mut self, value: Value) -> Result<Next, Error> {
        let mut value = value;
        while self.signs.len() > self.level.signs {
            if let Some(sign) = self.signs.pop() {
                value = self.signed(&sign, value);
            }
            self.depth.leave();
        }
        if let Some(pending) = self.level.sum.take() {
            value = self.applied(&pending, value);
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
        self.level.sum = Some(Pending { left: value, operator, at });
        Ok(Next::Operand)
    }

    fn signed(&mut self, sign: &Sign, operand: Value) -> Value {
        let kind = operators::signed_kind(operand.kind());
        if self.fault.is_some() {
            return Value::Missing(kind);
        }
        self.settle(kind, sign.at, sign.at + 1, operators::signed(sign.operator, operand))
    }

    fn applied(&mut self, pending: &Pending, right: Value) -> Value {
        let kind = operators::kind(pending.operator, pending.left.kind(), right.kind());
        if self.fault.is_some() {
            return Value::Missing(kind);
        }
        let result = operators::apply(pending.operator, pending.left, right);
        self.settle(kind, pending.at, pending.at + 1, result)
    }

    /// Goes on after a sum that ended at `end`; white space after it is consumed.
    fn sum_ended(&mut self, value: Value, end: usize) -> Result<Next, Error> {
        if let Opener::Call(_) = self.level.opener {
            return self.argument_ended(value, end);
        }
        let at = self.cursor.at();
        let (value, is_comparison) = match self.level.comparison.take() {
            Some(pending) => (self.applied(&pending, value), true),
            None => (value, false),
        };
        if !is_comparison {
            if let Some(operator) = self.comparison_operator() {
                self.level.comparison = Some(Pending { left: value, operator, at });
                return Ok(Next::Operand);
            }
        }
        match self.level.opener {
            Opener::Parenthesis if self.cursor.eat(b')') => {
                self.close();
                Ok(Next::Closed(value))
            }
            Opener::Parenthesis => Err(self.cursor.unexpected("expected an operator or a closing parenthesis")),
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
}
