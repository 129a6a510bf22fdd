//! Durations: months, whose length varies, and a length of time.

use crate::clock::{Length, SECONDS_OF_DAY};
use crate::fault::Fault;

/// The first number of more than 18 digits: integers, the months and the seconds of a duration are below it.
/// The sum of two still fits an `i64` with room to spare.
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

/// A duration literal while it is read; `None` once a quantity is over the limit. Seven quantities, one of
/// each unit, do not overflow.
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
    pub const NONE: Self = Self {
        months: Some(0),
        seconds: Some(0),
        nanoseconds: 0,
        timed: false,
    };

    /// Adds a number of units; `whole` is `None` where it has more than 18 digits. Only seconds have a
    /// fraction.
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
            (Some(total), Some(whole)) if whole <= LIMIT / factor => Some(total + whole * factor),
            _ => None,
        };
        self.nanoseconds += nanoseconds;
        self.timed |= unit > Unit::Day;
    }

    /// The duration.
    pub fn duration(self) -> Result<Duration, Fault> {
        match (self.months, self.seconds) {
            (Some(months), Some(seconds)) => Duration {
                months,
                length: Length {
                    seconds,
                    nanoseconds: self.nanoseconds,
                },
                timed: self.timed,
            }
            .measured(),
            _ => Err(TOO_LARGE),
        }
    }
}

const TOO_LARGE: Fault =
    Fault::too_large("the months or the seconds of the duration have more than 18 digits");

impl Duration {
    /// The length between two moments.
    pub fn between(length: Length) -> Self {
        Self {
            months: 0,
            length,
            timed: true,
        }
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
        Self {
            months: -self.months,
            length: self.length.negative(),
            timed: self.timed,
        }
    }

    /// The sum.
    pub fn plus(self, other: Self) -> Result<Self, Fault> {
        let sum = Self {
            months: self.months + other.months,
            length: self.length.plus(other.length),
            timed: self.timed || other.timed,
        };
        if sum.has_mixed_signs() {
            return Err(Fault::domain(
                "a month has no fixed length: months and days of different signs do not add up",
            ));
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
            return Err(Fault::domain(
                "a month has no fixed length: which duration is longer depends on the date",
            ));
        }
        Ok((difference.months.signum() + difference.length.sign()).cmp(&0))
    }

    fn has_mixed_signs(self) -> bool {
        self.months.signum() * self.length.sign() < 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cmp::Ordering;
    use evalspan_abi::Code;

    fn of(quantities: &[(Unit, Option<i64>)]) -> Result<Duration, Code> {
        let mut sum = Quantities::NONE;
        for (unit, whole) in quantities {
            sum.add(*unit, *whole, 0);
        }
        sum.duration().map_err(|fault| fault.code)
    }

    #[test]
    fn absurd_sizes_are_refused_and_never_overflow() {
        let units = [
            Unit::Year,
            Unit::Month,
            Unit::Week,
            Unit::Day,
            Unit::Hour,
            Unit::Minute,
            Unit::Second,
        ];
        for unit in units {
            assert_eq!(of(&[(unit, None)]), Err(Code::TooLarge));
            let most = of(&[(unit, Some(LIMIT - 1))]);
            assert_eq!(
                most.is_ok(),
                unit == Unit::Month || unit == Unit::Second,
                "{:?}",
                unit
            );
        }
        let all: alloc::vec::Vec<_> = units.iter().map(|unit| (*unit, Some(LIMIT / 604_800))).collect();
        assert_eq!(of(&all), Err(Code::TooLarge));
        assert!(of(&[(Unit::Year, Some(83_333_333_333_333_333))]).is_ok());
        assert_eq!(
            of(&[(Unit::Year, Some(83_333_333_333_333_334))]),
            Err(Code::TooLarge)
        );
        assert!(of(&[(Unit::Day, Some(11_574_074_074_074))]).is_ok());
        assert_eq!(of(&[(Unit::Day, Some(11_574_074_074_075))]), Err(Code::TooLarge));
        let most = of(&[(Unit::Month, Some(LIMIT - 1)), (Unit::Second, Some(LIMIT - 1))]).unwrap();
        assert_eq!(most.plus(most).unwrap_err().code, Code::TooLarge);
        assert_eq!(
            most.negative().plus(most.negative()).unwrap_err().code,
            Code::TooLarge
        );
        assert_eq!(most.compare(most.negative()), Ok(Ordering::Greater));
    }

    #[test]
    fn months_and_days_of_different_signs_do_not_mix() {
        let month = of(&[(Unit::Month, Some(1))]).unwrap();
        let day = of(&[(Unit::Day, Some(1))]).unwrap();
        assert_eq!(month.plus(day.negative()).unwrap_err().code, Code::Domain);
        assert_eq!(month.plus(day).unwrap().plus(day.negative()), Ok(month));
        assert_eq!(month.compare(day).unwrap_err().code, Code::Domain);
        assert_eq!(month.plus(day).unwrap().compare(day), Ok(Ordering::Greater));
        assert_eq!(day.compare(day), Ok(Ordering::Equal));
    }

    #[test]
    fn a_duration_is_timed_by_its_form() {
        assert!(!of(&[(Unit::Week, Some(1)), (Unit::Day, Some(1))]).unwrap().timed);
        let hours = of(&[(Unit::Hour, Some(0))]).unwrap();
        assert!(hours.timed && hours.negative().timed);
        assert!(of(&[(Unit::Day, Some(1))]).unwrap().plus(hours).unwrap().timed);
    }
}
