//! The functions: names, parameters, types and values.

use crate::civil::{days_in_month, is_leap_year, Civil, Date, LAST_YEAR};
use crate::clock::{DateTime, Length, Time, SECONDS_OF_DAY};
use crate::fault::{Fault, MIXED_OFFSETS, OUTSIDE_CALENDAR};
use crate::operators::between;
use crate::value::{Kind, Value};

/// What an argument must be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Parameter {
    /// A date or a datetime.
    Day,
    Date,
    DateTime,
    Integer,
    /// The name of a day.
    Weekday,
    /// The text of an offset.
    Offset,
}

impl Parameter {
    /// Whether an expression of a type fits.
    pub fn takes(self, kind: Kind) -> bool {
        match self {
            _ if kind == Kind::Any => true,
            Self::Day => kind == Kind::Date || kind == Kind::DateTime,
            Self::Date => kind == Kind::Date,
            Self::DateTime => kind == Kind::DateTime,
            Self::Integer => kind == Kind::Integer,
            // A string, which is no expression; the text that a function returns is a result only.
            Self::Weekday | Self::Offset => false,
        }
    }

    /// Whether a string literal is an argument.
    pub fn is_text(self) -> bool {
        self == Self::Weekday || self == Self::Offset
    }

    /// What an argument of another type is told.
    pub fn wanted(self) -> &'static str {
        match self {
            Self::Day => "expected a date or a datetime here, as in 2024-02-29",
            Self::Date => "expected a date here, as in 2024-02-29",
            Self::DateTime => "expected a datetime here, as in 2024-02-29T04:20Z",
            Self::Integer => "expected an integer here",
            Self::Weekday => "expected the name of a day in quotes here, as in \"Friday\"",
            Self::Offset => "expected an offset in quotes here, as in \"+02:00\"",
        }
    }
}

/// What a function does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Function {
    /// Whole units of so many seconds.
    Between(i32),
    /// Whole units of so many months.
    MonthsBetween(i32),
    /// Steps of so many days.
    AddDays(i32),
    /// Steps of so many months.
    AddMonths(i32),
    AddWorkdays,
    WorkdaysBetween,
    Weekday,
    IsoWeekday,
    IsoWeek,
    DayOfYear,
    Quarter,
    StartOfMonth,
    EndOfMonth,
    Next,
    Previous,
    DaysInMonth,
    IsLeapYear,
    ToUnix,
    FromUnix,
    ToOffset,
}

/// The functions by name.
static FUNCTIONS: [(&str, Function); 28] = [
    ("days_between", Function::Between(SECONDS_OF_DAY as i32)),
    ("weeks_between", Function::Between(7 * SECONDS_OF_DAY as i32)),
    ("hours_between", Function::Between(3600)),
    ("minutes_between", Function::Between(60)),
    ("seconds_between", Function::Between(1)),
    ("months_between", Function::MonthsBetween(1)),
    ("years_between", Function::MonthsBetween(12)),
    ("age", Function::MonthsBetween(12)),
    ("add_days", Function::AddDays(1)),
    ("add_weeks", Function::AddDays(7)),
    ("add_months", Function::AddMonths(1)),
    ("add_years", Function::AddMonths(12)),
    ("add_workdays", Function::AddWorkdays),
    ("workdays_between", Function::WorkdaysBetween),
    ("weekday", Function::Weekday),
    ("iso_weekday", Function::IsoWeekday),
    ("iso_week", Function::IsoWeek),
    ("day_of_year", Function::DayOfYear),
    ("quarter", Function::Quarter),
    ("start_of_month", Function::StartOfMonth),
    ("end_of_month", Function::EndOfMonth),
    ("next", Function::Next),
    ("previous", Function::Previous),
    ("days_in_month", Function::DaysInMonth),
    ("is_leap_year", Function::IsLeapYear),
    ("to_unix", Function::ToUnix),
    ("from_unix", Function::FromUnix),
    ("to_offset", Function::ToOffset),
];

/// The function of a name.
pub fn find(name: &[u8]) -> Option<Function> {
    FUNCTIONS
        .iter()
        .find(|(known, _)| known.as_bytes() == name)
        .map(|(_, function)| *function)
}

impl Function {
    /// Its parameters, one or two.
    pub fn parameters(self) -> (Parameter, Option<Parameter>) {
        match self {
            Self::Between(_) | Self::MonthsBetween(_) => (Parameter::Day, Some(Parameter::Day)),
            Self::AddDays(_) | Self::AddMonths(_) | Self::AddWorkdays => {
                (Parameter::Day, Some(Parameter::Integer))
            }
            Self::WorkdaysBetween => (Parameter::Date, Some(Parameter::Date)),
            Self::Next | Self::Previous => (Parameter::Day, Some(Parameter::Weekday)),
            Self::DaysInMonth => (Parameter::Integer, Some(Parameter::Integer)),
            Self::ToOffset => (Parameter::DateTime, Some(Parameter::Offset)),
            Self::IsLeapYear | Self::FromUnix => (Parameter::Integer, None),
            Self::ToUnix => (Parameter::DateTime, None),
            Self::Weekday | Self::IsoWeekday | Self::IsoWeek | Self::DayOfYear | Self::Quarter => {
                (Parameter::Day, None)
            }
            Self::StartOfMonth | Self::EndOfMonth => (Parameter::Day, None),
        }
    }

    /// The type of its result; some have that of the first argument.
    pub fn kind(self, first: Kind) -> Kind {
        match self {
            Self::AddDays(_) | Self::AddMonths(_) | Self::AddWorkdays => first,
            Self::StartOfMonth | Self::EndOfMonth | Self::Next | Self::Previous => Kind::Date,
            Self::FromUnix | Self::ToOffset => Kind::DateTime,
            Self::Weekday | Self::IsoWeek => Kind::Text,
            Self::IsLeapYear => Kind::Boolean,
            _ => Kind::Integer,
        }
    }

    /// Its value; a function of one argument is given that one twice.
    pub fn apply(self, first: Value, second: Value) -> Result<Value, Fault> {
        match (self, first, second) {
            (Self::Between(unit), _, _) => {
                Ok(Value::Integer(difference(first, second)?.whole(i64::from(unit))))
            }
            (Self::MonthsBetween(unit), _, _) => {
                Ok(Value::Integer(months_between(first, second, i64::from(unit))?))
            }
            (Self::WorkdaysBetween, Value::Date(start), Value::Date(end)) => {
                Ok(Value::Integer(i64::from(start.workdays_until(end))))
            }
            (Self::DaysInMonth, Value::Integer(year), Value::Integer(month)) => {
                let year = year_of(year)?;
                if !(1..=12).contains(&month) {
                    return Err(Fault::range("a month is 1 to 12"));
                }
                Ok(Value::Integer(i64::from(days_in_month(year, month as i32))))
            }
            (Self::IsLeapYear, Value::Integer(year), _) => Ok(Value::Boolean(is_leap_year(year_of(year)?))),
            (Self::ToUnix, Value::DateTime(moment), _) => to_unix(moment).map(Value::Integer),
            (Self::FromUnix, Value::Integer(seconds), _) => DateTime::from_unix(seconds)
                .map(Value::DateTime)
                .ok_or(OUTSIDE_CALENDAR),
            (Self::ToOffset, Value::DateTime(moment), Value::Offset(offset)) => {
                if moment.offset.is_none() {
                    return Err(NO_OFFSET);
                }
                moment
                    .at_offset(offset)
                    .map(Value::DateTime)
                    .ok_or(OUTSIDE_CALENDAR)
            }
            (_, Value::Date(date), _) => self.of_date(date, second, Value::Date),
            (_, Value::DateTime(moment), _) => self.of_date(moment.date, second, |date| {
                Value::DateTime(DateTime { date, ..moment })
            }),
            _ => Err(WRONG_TYPE),
        }
    }

    /// The functions of a day; `moved` gives a day the type of the first argument.
    fn of_date(self, date: Date, second: Value, moved: impl Fn(Date) -> Value) -> Result<Value, Fault> {
        let civil = date.civil();
        let first_of_month = Civil { day: 1, ..civil };
        match (self, second) {
            (Self::AddDays(days), Value::Integer(n)) => n
                .checked_mul(i64::from(days))
                .and_then(|days| date.plus_days(days))
                .map(moved)
                .ok_or(OUTSIDE_CALENDAR),
            (Self::AddMonths(months), Value::Integer(n)) => n
                .checked_mul(i64::from(months))
                .and_then(|months| civil.plus_months(months))
                .map(|civil| moved(civil.date()))
                .ok_or(OUTSIDE_CALENDAR),
            (Self::AddWorkdays, Value::Integer(n)) => {
                date.plus_workdays(n).map(moved).ok_or(OUTSIDE_CALENDAR)
            }
            (Self::Next, Value::Weekday(day)) => {
                let days = (day - date.iso_weekday() + 6) % 7 + 1;
                date.plus_days(i64::from(days))
                    .map(Value::Date)
                    .ok_or(OUTSIDE_CALENDAR)
            }
            (Self::Previous, Value::Weekday(day)) => {
                let days = (date.iso_weekday() - day + 6) % 7 + 1;
                date.plus_days(-i64::from(days))
                    .map(Value::Date)
                    .ok_or(OUTSIDE_CALENDAR)
            }
            (Self::Weekday, _) => Ok(Value::Weekday(date.iso_weekday())),
            (Self::IsoWeekday, _) => Ok(Value::Integer(i64::from(date.iso_weekday()))),
            (Self::IsoWeek, _) => {
                let (year, week) = date.iso_week();
                Ok(Value::Week(year, week))
            }
            (Self::DayOfYear, _) => Ok(Value::Integer(i64::from(date.day_of_year()))),
            (Self::Quarter, _) => Ok(Value::Integer(i64::from((civil.month + 2) / 3))),
            (Self::StartOfMonth, _) => Ok(Value::Date(first_of_month.date())),
            (Self::EndOfMonth, _) => {
                let last = Civil {
                    day: days_in_month(civil.year, civil.month),
                    ..civil
                };
                Ok(Value::Date(last.date()))
            }
            _ => Err(WRONG_TYPE),
        }
    }
}

/// The types were checked where the call was read, so that no evaluation gets here.
const WRONG_TYPE: Fault = Fault::domain("the function does not take these types");

const NO_OFFSET: Fault = Fault::domain(
    "the datetime has no offset, so that its instant is not known: write one, as in 2024-02-29T04:20Z",
);

fn year_of(year: i64) -> Result<i32, Fault> {
    if !(1..=i64::from(LAST_YEAR)).contains(&year) {
        return Err(Fault::range("a year is 1 to 9999"));
    }
    Ok(year as i32)
}

/// Two moments of the same type, a date as its midnight.
fn moments(first: Value, second: Value) -> Result<(DateTime, DateTime), Fault> {
    match (first, second) {
        (Value::Date(first), Value::Date(second)) => {
            let midnight = |date| DateTime {
                date,
                time: Time::MIDNIGHT,
                offset: None,
            };
            Ok((midnight(first), midnight(second)))
        }
        (Value::DateTime(first), Value::DateTime(second)) => {
            if first.offset.is_some() != second.offset.is_some() {
                return Err(MIXED_OFFSETS);
            }
            Ok((first, second))
        }
        _ => Err(Fault::domain(
            "one is a date and the other a datetime: write both with a time, or none",
        )),
    }
}

/// The length from the first to the second.
fn difference(first: Value, second: Value) -> Result<Length, Fault> {
    let (first, second) = moments(first, second)?;
    between(second, first)
}

/// Whole steps of `unit` months from the first to the second, truncated towards zero.
fn months_between(first: Value, second: Value, unit: i64) -> Result<i64, Fault> {
    let (start, end) = moments(first, second)?;
    // No step leaves the calendar, so that an end outside of it, on the clock of the start, is as good as the
    // nearest moment inside.
    let end = start
        .offset
        .map_or(end, |offset| end.at_offset_or_nearest(offset));
    let (from, to) = (start.date.civil(), end.date.civil());
    let months = i64::from(to.year - from.year) * 12 + i64::from(to.month - from.month);
    let steps = if unit == 1 {
        months
    } else {
        i64::from(to.year - from.year)
    };
    // That many steps lead to the month, or the year, of the end: perhaps past it, but then one less does
    // not.
    let reached = from.plus_months(steps * unit).ok_or(OUTSIDE_CALENDAR)?.date();
    let past = DateTime {
        date: reached,
        ..start
    }
    .local()
    .minus(end.local())
    .sign();
    let overshoots = past * end.local().minus(start.local()).sign() > 0;
    Ok(if overshoots { steps - past } else { steps })
}

fn to_unix(moment: DateTime) -> Result<i64, Fault> {
    if moment.offset.is_none() {
        return Err(NO_OFFSET);
    }
    if moment.time.nanoseconds != 0 {
        return Err(Fault::domain(
            "a Unix time is in whole seconds, and this has a fraction of one",
        ));
    }
    Ok(moment.unix())
}
