//! Literals, names and the heads of calls.

use evalspan_abi::Error;

use super::level::{Call, Opener};
use super::{Parser, Read};
use crate::duration::{Quantities, Unit};
use crate::fault::Fault;
use crate::functions::{self, Parameter};
use crate::literal::{self, Literal, NO_ZONES};
use crate::value::{Kind, Value};
use crate::{hint, word, zone};

const TOO_MANY_DIGITS: Fault = Fault::too_large("an integer has at most 18 digits");

const NO_WEEKS: Fault =
    Fault::unsupported("ISO week dates are not known here: write the date, as in 2024-02-29");

const NO_CLOCK: Fault = Fault::unsupported("there is no clock here: write the date itself, as in 2024-02-29");

impl<'a> Parser<'a> {
    /// Reads what starts with a digit: a number, a moment, or a duration.
    pub(super) fn number(&mut self) -> Result<Value, Error> {
        let (input, start) = (self.cursor.input(), self.cursor.at());
        let end = word::numeric_end(input, start);
        let text = &input[start..end];
        let literal = match literal::numeric(text) {
            Some(literal) => literal,
            None => return Err(Error::syntax(start, hint::for_numeric_word(text)).piece(input, end)),
        };
        self.cursor.go_to(end);
        match literal {
            Literal::Integer(whole) => match self.unit_ahead() {
                Some((unit, after)) => {
                    self.cursor.go_to(after);
                    self.quantities(start, (whole, 0), unit)
                }
                None => {
                    let value = whole.map(Value::Integer).ok_or(TOO_MANY_DIGITS);
                    Ok(self.settle(Kind::Integer, start, end, value))
                }
            },
            Literal::Decimal(whole, nanoseconds) => {
                let unit = self.unit(true, None)?;
                self.quantities(start, (whole, nanoseconds), unit)
            }
            Literal::Moment(value) => Ok(self.perhaps_zone(value)),
            Literal::NoMoment(kind, fault) => {
                let value = self.missing(kind, start, end, fault);
                Ok(self.perhaps_zone(value))
            }
            Literal::Week => Ok(self.missing(Kind::Any, start, end, NO_WEEKS)),
        }
    }

    /// Reads the zone after a time or a datetime, if there is one; a date has none.
    fn perhaps_zone(&mut self, moment: Value) -> Value {
        if moment.kind() == Kind::Date {
            return moment;
        }
        let end = self.cursor.at();
        self.cursor.skip_white();
        match self.zone() {
            Some(zone) => zone,
            None => {
                self.cursor.go_to(end);
                moment
            }
        }
    }

    /// Reads the rest of a duration in words, the first number and its unit being read. It goes on where a
    /// number follows, and ends with seconds, the smallest unit.
    fn quantities(&mut self, start: usize, first: (Option<i64>, i32), unit: Unit) -> Result<Value, Error> {
        let input = self.cursor.input();
        let (mut number, mut unit) = (first, unit);
        let mut quantities = Quantities::NONE;
        loop {
            quantities.add(unit, number.0, number.1);
            let end = self.cursor.at();
            self.cursor.skip_white();
            let at = self.cursor.at();
            let has_number = unit != Unit::Second && input.get(at).map_or(false, u8::is_ascii_digit);
            let after = if has_number {
                word::numeric_end(input, at)
            } else {
                at
            };
            let (next, has_fraction) = match literal::numeric(&input[at..after]) {
                Some(Literal::Integer(whole)) => ((whole, 0), false),
                Some(Literal::Decimal(whole, nanoseconds)) => ((whole, nanoseconds), true),
                _ => {
                    self.cursor.go_to(end);
                    let duration = quantities.duration().map(Value::Duration);
                    return Ok(self.settle(Kind::Duration, start, end, duration));
                }
            };
            self.cursor.go_to(after);
            unit = self.unit(has_fraction, Some(unit))?;
            number = next;
        }
    }

    /// The unit that is next, after white space, and where it ends.
    fn unit_ahead(&mut self) -> Option<(Unit, usize)> {
        let end = self.cursor.at();
        self.cursor.skip_white();
        let (input, at) = (self.cursor.input(), self.cursor.at());
        let after = word::name_end(input, at);
        self.cursor.go_to(end);
        Some((Unit::of_word(&input[at..after])?, after))
    }

    /// Reads the unit that must follow a number, smaller than the last one.
    fn unit(&mut self, has_fraction: bool, last: Option<Unit>) -> Result<Unit, Error> {
        let ahead = self.unit_ahead();
        self.cursor.skip_white();
        let message = match ahead {
            Some((unit, _)) if has_fraction && unit != Unit::Second => "only seconds have a fraction",
            Some((unit, _)) if last.map_or(false, |last| unit <= last) => {
                "units stand in order, each once: years, months, weeks, days, hours, minutes, seconds"
            }
            Some((unit, after)) => {
                self.cursor.go_to(after);
                return Ok(unit);
            }
            None if has_fraction => "expected seconds after a decimal",
            None => "expected a unit: year, month, week, day, hour, minute or second, lowercase",
        };
        Err(self.cursor.unexpected(message))
    }

    /// Reads the name of a time zone, which has no answer; `None`, where that is not next.
    fn zone(&mut self) -> Option<Value> {
        let (input, start) = (self.cursor.input(), self.cursor.at());
        let end = zone::end(input, start, word::name_end(input, start))?;
        self.cursor.go_to(end);
        Some(self.missing(Kind::Any, start, end, NO_ZONES))
    }

    /// Reads what starts with a letter: an ISO duration, a function's head, or a name that has no answer.
    pub(super) fn name(&mut self) -> Result<Read, Error> {
        let (input, start) = (self.cursor.input(), self.cursor.at());
        if let Some(end) = word::iso_end(input, start) {
            return match literal::iso(&input[start..end]) {
                Some(duration) => {
                    self.cursor.go_to(end);
                    Ok(Read::Operand(self.settle(
                        Kind::Duration,
                        start,
                        end,
                        duration.map(Value::Duration),
                    )))
                }
                None => Err(Error::syntax(start, hint::for_iso_word()).piece(input, end)),
            };
        }
        let end = word::name_end(input, start);
        let name = &input[start..end];
        if let Some(function) = functions::find(name) {
            self.depth.enter(start)?;
            self.cursor.go_to(end);
            self.cursor.skip_white();
            if !self.cursor.eat(b'(') {
                return Err(self
                    .cursor
                    .unexpected("expected an opening parenthesis after the function's name"));
            }
            self.open(Opener::Call(Call {
                function,
                start,
                end,
                has_first: false,
                argument: 0,
            }));
            self.argument_begins();
            return Ok(Read::Opening);
        }
        if name == b"today" || name == b"now" {
            self.cursor.go_to(end);
            self.cursor.skip_white();
            if self.cursor.eat(b'(') {
                self.cursor.skip_white();
                if !self.cursor.eat(b')') {
                    return Err(self.cursor.unexpected("expected a closing parenthesis"));
                }
            }
            return Ok(Read::Operand(self.missing(Kind::Any, start, end, NO_CLOCK)));
        }
        match self.zone() {
            Some(zone) => Ok(Read::Operand(zone)),
            None => Err(Error::syntax(start, hint::for_name(name)).piece(input, end)),
        }
    }

    /// Reads a string, whose quote is next: the argument of a text parameter, and nothing else.
    pub(super) fn string(&mut self, at: usize) -> Result<Read, Error> {
        match self.level.opener {
            Opener::Call(call) if call.argument == at && call.parameter().is_text() => {
                let text = self.cursor.string()?;
                let value = match call.parameter() {
                    Parameter::Weekday => literal::weekday_argument(&text).map(Value::Weekday),
                    _ => literal::offset_argument(&text).map(Value::Offset),
                };
                let value = self.settle(Kind::Text, at, self.cursor.at(), value);
                Ok(Read::Argument(call, value))
            }
            Opener::Call(call) if call.argument == at => {
                let message = call.parameter().wanted();
                Err(Error::syntax(at, message).piece(self.cursor.input(), at + 1))
            }
            _ => Err(self
                .cursor
                .unexpected("text stands only where a function takes the name of a day or an offset")),
        }
    }
}
