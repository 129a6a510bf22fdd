//! Literals that are one word: numbers, dates, times, datetimes, weeks and ISO durations.

use crate::civil::{days_in_month, Civil, Date, LAST_YEAR};
use crate::clock::{offset_minutes, DateTime, Time};
use crate::duration::{Duration, Quantities, Unit};
use crate::fault::Fault;
use crate::value::{Kind, Value};
use crate::word::{after_digits, Fields};

/// What a numeric word spells.
pub enum Literal {
    /// `None` where it has more than 18 digits.
    Integer(Option<i64>),
    /// Seconds with a fraction: the whole ones, as above, and nanoseconds.
    Decimal(Option<i64>, i32),
    /// A date, a time or a datetime.
    Moment(Value),
    /// One of these that has no value: its type and why.
    NoMoment(Kind, Fault),
    /// An ISO week or a day of one.
    Week,
}

const DATE_RANGE: Fault = Fault::range("a date is 0001-01-01 to 9999-12-31, with a day that the month has");
const TIME_RANGE: Fault =
    Fault::range("a time of day is 00:00:00 to 23:59:59; there is no 24:00 and no second 60");
const OFFSET_RANGE: Fault = Fault::range("an offset is -23:59 to +23:59, and not -00:00: write Z for UTC");

/// The literal of a whole numeric word, or `None` where it is none.
pub fn numeric(word: &[u8]) -> Option<Literal> {
    let mut fields = Fields::new(word);
    let digits = after_digits(word, 0);
    let literal = match word.get(digits) {
        None => Literal::Integer(fields.integer()?),
        Some(b'.') => Literal::Decimal(fields.integer()?, fields.fraction()?),
        Some(b':') => match clock(&mut fields)? {
            Some(time) => Literal::Moment(Value::Time(time)),
            None => Literal::NoMoment(Kind::Time, TIME_RANGE),
        },
        Some(b'-') if word.get(digits + 1) != Some(&b'W') => moment(&mut fields)?,
        Some(b'-' | b'W') => week(&mut fields)?,
        Some(_) => return None,
    };
    fields.finish()?;
    Some(literal)
}

/// `04:20`, `04:20:30`, `04:20:30.5`; the inner `None` is a time outside the range.
fn clock(fields: &mut Fields<'_>) -> Option<Option<Time>> {
    let hour = fields.two_digits()?;
    fields.require(b':')?;
    let minute = fields.two_digits()?;
    let (mut second, mut nanoseconds) = (0, 0);
    if fields.eat(b':') {
        second = fields.two_digits()?;
        nanoseconds = fields.fraction()?;
    }
    Some(Time::of_clock(hour, minute, second, nanoseconds))
}

/// A date, or a datetime with or without an offset.
fn moment(fields: &mut Fields<'_>) -> Option<Literal> {
    let year = fields.year()?;
    fields.require(b'-')?;
    let month = fields.two_digits()?;
    fields.require(b'-')?;
    let date = date(year, month, fields.two_digits()?);
    if fields.is_at_end() {
        return Some(match date {
            Some(date) => Literal::Moment(Value::Date(date)),
            None => Literal::NoMoment(Kind::Date, DATE_RANGE),
        });
    }
    fields.require(b'T')?;
    let time = clock(fields)?;
    let offset = if fields.is_at_end() {
        Ok(None)
    } else {
        offset(fields)?.map(Some)
    };
    Some(match (date, time, offset) {
        (None, _, _) => Literal::NoMoment(Kind::DateTime, DATE_RANGE),
        (_, None, _) => Literal::NoMoment(Kind::DateTime, TIME_RANGE),
        (_, _, Err(fault)) => Literal::NoMoment(Kind::DateTime, fault),
        (Some(date), Some(time), Ok(offset)) => {
            Literal::Moment(Value::DateTime(DateTime { date, time, offset }))
        }
    })
}

/// A date, or `None` where the calendar does not have it.
fn date(year: i32, month: i32, day: i32) -> Option<Date> {
    let has_day = (1..=LAST_YEAR).contains(&year)
        && (1..=12).contains(&month)
        && day >= 1
        && day <= days_in_month(year, month);
    if has_day {
        Some(Civil { year, month, day }.date())
    } else {
        None
    }
}

/// `Z` or `±HH:MM`, in minutes; `None` where it is not written so.
fn offset(fields: &mut Fields<'_>) -> Option<Result<i32, Fault>> {
    let negative = match fields.next()? {
        b'Z' => return Some(Ok(0)),
        b'+' => false,
        b'-' => true,
        _ => return None,
    };
    let hour = fields.two_digits()?;
    fields.require(b':')?;
    let minute = fields.two_digits()?;
    Some(offset_minutes(negative, hour, minute).ok_or(OFFSET_RANGE))
}

/// `2021-W53`, `2021-W53-1`, `2021W53` or `2021W531`.
fn week(fields: &mut Fields<'_>) -> Option<Literal> {
    fields.two_digits()?;
    fields.two_digits()?;
    let extended = fields.eat(b'-');
    fields.require(b'W')?;
    fields.two_digits()?;
    let has_day = if extended {
        fields.eat(b'-')
    } else {
        !fields.is_at_end()
    };
    if has_day && !fields.next()?.is_ascii_digit() {
        return None;
    }
    Some(Literal::Week)
}

/// The text argument of an offset, in minutes.
pub fn offset_argument(text: &str) -> Result<i32, Fault> {
    let mut fields = Fields::new(text.as_bytes());
    match offset(&mut fields) {
        Some(result) if fields.is_at_end() => result,
        _ if text.starts_with(|first: char| first.is_ascii_alphabetic()) => Err(NO_ZONES),
        _ => Err(Fault::domain(
            "an offset is Z or a sign and HH:MM, as in \"+02:00\"",
        )),
    }
}

/// The text argument of a day's name: Monday 1 to Sunday 7.
pub fn weekday_argument(text: &str) -> Result<i32, Fault> {
    match crate::text::WEEKDAYS
        .iter()
        .position(|name| name.eq_ignore_ascii_case(text))
    {
        Some(index) => Ok(index as i32 + 1),
        None => Err(Fault::domain(
            "the name of a day is Monday, Tuesday and so on, in full and in English",
        )),
    }
}

/// A name of a time zone.
pub const NO_ZONES: Fault = Fault::unsupported(
    "names of time zones are not known here: write the offset, as in 2024-02-29T04:20+02:00",
);

/// The duration of a whole ISO word, or `None` where it is none.
pub fn iso(word: &[u8]) -> Option<Result<Duration, Fault>> {
    let mut fields = Fields::new(word);
    fields.require(b'P')?;
    let mut quantities = Quantities::NONE;
    let mut last = None;
    loop {
        if !quantities.timed && fields.eat(b'T') {
            // A quantity must follow: reading one fails at the end.
            quantities.timed = true;
        }
        let whole = fields.integer()?;
        let has_fraction = fields.peek() == Some(b'.');
        let nanoseconds = fields.fraction()?;
        let unit = match (quantities.timed, fields.next()?) {
            (false, b'Y') => Unit::Year,
            (false, b'M') => Unit::Month,
            (false, b'W') if last.is_none() => Unit::Week,
            (false, b'D') => Unit::Day,
            (true, b'H') => Unit::Hour,
            (true, b'M') => Unit::Minute,
            (true, b'S') => Unit::Second,
            _ => return None,
        };
        let is_in_order = last.map_or(true, |last| unit > last);
        if !is_in_order || (has_fraction && unit != Unit::Second) {
            return None;
        }
        quantities.add(unit, whole, nanoseconds);
        last = Some(unit);
        if fields.is_at_end() {
            return Some(quantities.duration());
        }
        // Weeks stand alone.
        if unit == Unit::Week {
            return None;
        }
    }
}
