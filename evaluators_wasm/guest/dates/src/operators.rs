//! Signs, sums and comparisons.

use core::cmp::Ordering;

use crate::clock::{DateTime, Length, SECONDS_OF_DAY};
use crate::duration::Duration;
use crate::fault::{Fault, MIXED_OFFSETS, OUTSIDE_CALENDAR};
use crate::value::{Kind, Value};

/// An operator between two operands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Operator {
    Plus,
    Minus,
    Less,
    LessOrEqual,
    Equal,
    GreaterOrEqual,
    Greater,
}

/// The type of an operation.
pub fn kind(operator: Operator, left: Kind, right: Kind) -> Kind {
    match (operator, left, right) {
        (Operator::Plus | Operator::Minus, Kind::Date | Kind::DateTime | Kind::Duration, Kind::Duration) => {
            left
        }
        (Operator::Minus, Kind::Date, Kind::Date) => Kind::Integer,
        (Operator::Minus, Kind::DateTime, Kind::DateTime) => Kind::Duration,
        (Operator::Plus | Operator::Minus, _, _) => Kind::Any,
        _ => Kind::Boolean,
    }
}

/// The value of an operation.
pub fn apply(operator: Operator, left: Value, right: Value) -> Result<Value, Fault> {
    match operator {
        Operator::Plus => add(left, right),
        Operator::Minus => subtract(left, right),
        _ => compare(left, right).map(|order| Value::Boolean(holds(operator, order))),
    }
}

fn holds(operator: Operator, order: Ordering) -> bool {
    match operator {
        Operator::Less => order.is_lt(),
        Operator::LessOrEqual => order.is_le(),
        Operator::GreaterOrEqual => order.is_ge(),
        Operator::Greater => order.is_gt(),
        _ => order.is_eq(),
    }
}

/// The type of a signed operand.
pub fn signed_kind(operand: Kind) -> Kind {
    match operand {
        Kind::Integer | Kind::Duration => operand,
        _ => Kind::Any,
    }
}

/// The operand with a plus or a minus before it.
pub fn signed(operator: Operator, operand: Value) -> Result<Value, Fault> {
    match (operator, operand) {
        (Operator::Minus, Value::Integer(number)) => Ok(Value::Integer(-number)),
        (Operator::Minus, Value::Duration(duration)) => Ok(Value::Duration(duration.negative())),
        (_, Value::Integer(_) | Value::Duration(_)) => Ok(operand),
        _ => Err(Fault::domain(
            "a sign stands before a duration or an integer only",
        )),
    }
}

fn add(left: Value, right: Value) -> Result<Value, Fault> {
    match (left, right) {
        (Value::Date(_) | Value::DateTime(_), Value::Duration(duration)) => move_by(left, duration),
        (Value::Duration(left), Value::Duration(right)) => Ok(Value::Duration(left.plus(right)?)),
        (Value::Duration(_), Value::Date(_) | Value::DateTime(_)) => {
            Err(Fault::domain("write the date first and then the duration to add"))
        }
        (Value::Date(_) | Value::DateTime(_), Value::Date(_) | Value::DateTime(_)) => Err(Fault::domain(
            "two dates cannot be added; - gives the time between them",
        )),
        _ => Err(no_sum(left, right)),
    }
}

fn subtract(left: Value, right: Value) -> Result<Value, Fault> {
    match (left, right) {
        (Value::Date(_) | Value::DateTime(_), Value::Duration(duration)) => {
            move_by(left, duration.negative())
        }
        (Value::Date(left), Value::Date(right)) => {
            Ok(Value::Integer(i64::from(left.number() - right.number())))
        }
        (Value::DateTime(left), Value::DateTime(right)) => {
            Ok(Value::Duration(Duration::between(between(left, right)?)))
        }
        (Value::Duration(left), Value::Duration(right)) => Ok(Value::Duration(left.plus(right.negative())?)),
        (Value::Date(_), Value::DateTime(_)) | (Value::DateTime(_), Value::Date(_)) => Err(Fault::domain(
            "a date and a datetime cannot be subtracted: write both with a time, or none",
        )),
        _ => Err(no_sum(left, right)),
    }
}

/// Why a combination of two types has no sum and no difference.
fn no_sum(left: Value, right: Value) -> Fault {
    let takes_unit = matches!(
        (left, right),
        (Value::Date(_) | Value::DateTime(_), Value::Integer(_))
    );
    Fault::domain(match (left, right) {
        _ if takes_unit => "a number to add to a date needs a unit, as in 3 days",
        (Value::Time(_), _) | (_, Value::Time(_)) => {
            "a time of day has no date: write a datetime, as in 2024-02-29T04:20"
        }
        (Value::Integer(_), Value::Integer(_)) => "there is no arithmetic with integers here",
        _ => "these two types have no sum and no difference",
    })
}

/// A date or datetime some months later, and then some length later.
pub fn move_by(moment: Value, duration: Duration) -> Result<Value, Fault> {
    match moment {
        Value::Date(_) if duration.timed => Err(Fault::domain(
            "a date has no hours: write a datetime, as in 2024-02-29T00:00, or whole days",
        )),
        Value::Date(date) => {
            let date = add_months(date, duration.months)?;
            // An untimed length is whole days.
            date.plus_days(duration.length.whole(SECONDS_OF_DAY))
                .map(Value::Date)
                .ok_or(OUTSIDE_CALENDAR)
        }
        Value::DateTime(moment) => {
            let date = add_months(moment.date, duration.months)?;
            let local = DateTime { date, ..moment }.local().plus(duration.length);
            DateTime::from_local(local, moment.offset)
                .map(Value::DateTime)
                .ok_or(OUTSIDE_CALENDAR)
        }
        _ => Err(Fault::domain("only a date or a datetime can be moved")),
    }
}

fn add_months(date: crate::civil::Date, months: i64) -> Result<crate::civil::Date, Fault> {
    if months == 0 {
        return Ok(date);
    }
    Ok(date.civil().plus_months(months).ok_or(OUTSIDE_CALENDAR)?.date())
}

/// The length from the right datetime to the left one.
pub fn between(left: DateTime, right: DateTime) -> Result<Length, Fault> {
    if left.offset.is_some() != right.offset.is_some() {
        return Err(MIXED_OFFSETS);
    }
    Ok(left.instant().minus(right.instant()))
}

fn compare(left: Value, right: Value) -> Result<Ordering, Fault> {
    match (left, right) {
        (Value::Integer(left), Value::Integer(right)) => Ok(left.cmp(&right)),
        (Value::Date(left), Value::Date(right)) => Ok(left.cmp(&right)),
        (Value::Time(left), Value::Time(right)) => Ok(left.cmp(&right)),
        (Value::DateTime(left), Value::DateTime(right)) => Ok(between(left, right)?.sign().cmp(&0)),
        (Value::Duration(left), Value::Duration(right)) => left.compare(right),
        _ => Err(Fault::domain(
            "only two integers, dates, times, datetimes or durations can be compared",
        )),
    }
}
