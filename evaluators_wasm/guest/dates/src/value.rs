//! Values and their types.

use crate::civil::Date;
use crate::clock::{DateTime, Time};
use crate::duration::Duration;

/// The type of an expression, known from its form.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    Integer,
    Date,
    Time,
    DateTime,
    Duration,
    Boolean,
    Text,
    /// An expression that has no answer: it fits every parameter.
    Any,
}

/// A value, or its type where there was a fault before it.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    Missing(Kind),
    /// At most 18 digits.
    Integer(i64),
    Date(Date),
    Time(Time),
    DateTime(DateTime),
    Duration(Duration),
    Boolean(bool),
    /// The English name of a day, Monday 1 to Sunday 7.
    Weekday(i32),
    /// Year and week of ISO 8601.
    Week(i32, i32),
    /// Minutes; only ever an argument.
    Offset(i32),
}

impl Value {
    /// Its type.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Missing(kind) => *kind,
            Self::Integer(_) => Kind::Integer,
            Self::Date(_) => Kind::Date,
            Self::Time(_) => Kind::Time,
            Self::DateTime(_) => Kind::DateTime,
            Self::Duration(_) => Kind::Duration,
            Self::Boolean(_) => Kind::Boolean,
            Self::Weekday(_) | Self::Week(..) | Self::Offset(_) => Kind::Text,
        }
    }
}
