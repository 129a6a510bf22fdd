//! Durations: months, whose length varies, and a length of time.

use crate::clock::{Length, SECONDS_OF_DAY};
use crate::fault::Fault;

/// The first number of more than 18 digits: integers, the months and the seconds of a duration are below it. The sum of
/// two still fits an `i64` with room to spare.
pub const LIMIT: i64 = 1_000_000_000_000_000_000;

/// Months and a length: one is 0, or both have the same sign.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Duration {
    pub months: i64,
    pub length: Length,
    /// Whether it was written with, or came from, hours, minutes or seconds.
    pub timed: bool,
}

/// A unit of a duration, the largest first.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Unit {
    Year,
    Month,
    Week,
    Day,
    Hour,
    Minute,
    Second,
}

impl Unit {
    /// The unit of a word, singular or plural.
    pub fn of_word(word: &[u8]) -> Option<Self> {
        Some(match word.strip_suffix(b"s").unwrap_or(word) {
            b"year" => Self::Year,
            b"month" => Self::Month,
            b"week" => Self::Week,
            b"day" => Self::Day,
            b"hour" => Self::Hour,
            b"minute" => Self::Minute,
            b"second" => Self::Second,
            _ => return None,
        })
    }
}

/// A duration literal while it is read; `None` once a part is over the limit of `i64`.
#[derive(Clone, Copy, Debug)]
pub struct Quantities {
    months: Option<i64>,
    seconds: Option<i64>,
    nanoseconds: i32,
    /// Whether one of its units is smaller than a day, or a `T` says so.
    pub timed: bool,
}

impl Quantities {
    /// No quantity yet.
    pub const NONE: Self = Self { months: Some(0), seconds: Some(0), nanoseconds: 0, timed: false };

    /// Adds a number of units; `whole` is `None` where it has more than 18 digits. Only seconds have a fraction.
    pub fn add(&mut self, unit: Unit, whole: Option<i64>, nanoseconds: i32) {
        let (total, factor) = match unit {
            Unit::Year => (&mut self.months, 12),
            Unit::Month => (&mut self.months, 1),
            Unit::Week => (&mut self.seconds, 7 * SECONDS_OF_DAY),
            Unit::Day => (&mut self.seconds, SECONDS_OF_DAY),
            Unit::Hour => (&mut self.seconds, 3600),
            Unit::Minute => (&mut self.seconds, 60),
            Unit::Second => (&mut self.seconds, 1),
        };
        *total = match (*total, whole) {
            (Some(total), Some(whole)) => whole.checked_mul(factor).and_then(|part| total.checked_add(part)),
            _ => None,
        };
        self.nanoseconds += nanoseconds;
        self.timed |= unit > Unit::Day;
    }

    /// The duration.
    pub fn duration(self) -> Result<Duration, Fault> {
        match (self.months, self.seconds) {
            (Some(months), Some(seconds)) => {
                Duration { months, length: Length { seconds, nanoseconds: self.nanoseconds }, timed: self.timed }.measured()
            }
            _ => Err(TOO_LARGE),
        }
    }
}

const TOO_LARGE: Fault = Fault::too_large("the months or the seconds of the duration have more than 18 digits");

impl Duration {
    /// The length between two moments.
    pub fn between(length: Length) -> Self {
        Self { months: 0, length, timed: true }
    }

    /// The same duration, if it is within the limits.
    fn measured(self) -> Result<Self, Fault> {
        if self.months.abs() >= LIMIT || self.length.magnitude().seconds >= LIMIT {
            return Err(TOO_LARGE);
        }
        Ok(self)
    }

    /// The negative.
    #[must_use]
    pub fn negative(self) -> Self {
        Self { months: -self.months, length: self.length.negative(), timed: self.timed }
    }

    /// The sum.
    pub fn plus(self, other: Self) -> Result<Self, Fault> {
        let sum = Self {
            months: self.months + other.months,
            length: self.length.plus(other.length),
            timed: self.timed || other.timed,
        };
        if sum.has_mixed_signs() {
            return Err(Fault::domain("a month has no fixed length: months and days of different signs do not add up"));
        }
        sum.measured()
    }

    /// The sign of the difference to another duration.
    pub fn compare(self, other: Self) -> Result<core::cmp::Ordering, Fault> {
        let difference = Self {
            months: self.months - other.months,
            length: self.length.minus(other.length),
            timed: true,
        };
        if difference.has_mixed_signs() {
            return Err(Fault::domain("a month has no fixed length: which duration is longer depends on the date"));
        }
        Ok((difference.months.signum() + difference.length.sign()).cmp(&0))
    }

    fn has_mixed_signs(self) -> bool {
        self.months.signum() * self.length.sign() < 0
    }
}
