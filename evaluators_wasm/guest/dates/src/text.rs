//! The canonical text of a value.

use evalspan_abi::Response;

use crate::civil::Date;
use crate::clock::{DateTime, Time, SECONDS_OF_DAY};
use crate::duration::Duration;
use crate::value::Value;

/// The days of the week, Monday first.
pub static WEEKDAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];

/// Appends the text of a value; nothing for one that is missing, which is never a result.
pub fn write(value: &Value, response: &mut Response) {
    let mut text = Text {
        bytes: [0; LONGEST],
        length: 0,
    };
    match *value {
        Value::Missing(_) => {}
        Value::Integer(number) => {
            if number < 0 {
                text.push(b'-');
            }
            text.number(number.unsigned_abs());
        }
        Value::Date(date) => text.date(date),
        Value::Time(time) => text.time(time),
        Value::DateTime(moment) => text.datetime(moment),
        Value::Duration(duration) => text.duration(duration),
        Value::Boolean(truth) => response.push_str(if truth { "true" } else { "false" }),
        Value::Weekday(day) => response.push_str(WEEKDAYS.get(day as usize - 1).unwrap_or(&"")),
        Value::Week(year, week) => {
            text.year(year);
            text.push(b'-');
            text.push(b'W');
            text.two_digits(week);
        }
        Value::Offset(offset) => text.offset(offset),
    }
    let written = text.bytes.get(..text.length).unwrap_or(&[]);
    // Every byte pushed is ASCII.
    response.push_str(core::str::from_utf8(written).unwrap_or(""));
}

/// The longest text is a duration: `-P83333333333333333Y3M11574074074074DT23H59M59.999999999S`, 57 bytes. In
/// whole words, so that it is cleared by a few stores.
const LONGEST: usize = 60;

/// A text in the making, so that it is checked and copied once.
struct Text {
    bytes: [u8; LONGEST],
    length: usize,
}

impl Text {
    fn push(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.length) {
            *place = byte;
            self.length += 1;
        }
    }

    /// A number without leading zeros.
    fn number(&mut self, number: u64) {
        // Quotients of u64 cost more than those of u32, and most numbers are small.
        match (u32::try_from(number), number / 1_000_000_000) {
            (Ok(number), 0) => self.small(number),
            (_, high) => {
                self.number(high);
                self.digits((number % 1_000_000_000) as u32, 9);
            }
        }
    }

    fn small(&mut self, number: u32) {
        let (mut width, mut rest) = (1, number / 10);
        while rest != 0 {
            rest /= 10;
            width += 1;
        }
        self.digits(number, width);
    }

    /// The last `width` digits of a number.
    fn digits(&mut self, mut number: u32, width: usize) {
        let end = self.length + width;
        if let Some(places) = self.bytes.get_mut(self.length..end) {
            for place in places.iter_mut().rev() {
                *place = b'0' + (number % 10) as u8;
                number /= 10;
            }
            self.length = end;
        }
    }

    fn two_digits(&mut self, number: i32) {
        self.push(b'0' + (number / 10) as u8);
        self.push(b'0' + (number % 10) as u8);
    }

    fn year(&mut self, year: i32) {
        self.digits(year as u32, 4);
    }

    fn date(&mut self, date: Date) {
        let civil = date.civil();
        self.year(civil.year);
        self.push(b'-');
        self.two_digits(civil.month);
        self.push(b'-');
        self.two_digits(civil.day);
    }

    fn time(&mut self, time: Time) {
        self.two_digits(time.seconds / 3600);
        self.push(b':');
        self.two_digits(time.seconds / 60 % 60);
        self.push(b':');
        self.two_digits(time.seconds % 60);
        self.fraction(time.nanoseconds);
    }

    fn datetime(&mut self, moment: DateTime) {
        self.date(moment.date);
        self.push(b'T');
        self.time(moment.time);
        if let Some(offset) = moment.offset {
            self.offset(offset);
        }
    }

    fn offset(&mut self, offset: i32) {
        if offset == 0 {
            self.push(b'Z');
            return;
        }
        self.push(if offset < 0 { b'-' } else { b'+' });
        self.two_digits(offset.abs() / 60);
        self.push(b':');
        self.two_digits(offset.abs() % 60);
    }

    /// The point and the digits of nanoseconds, without trailing zeros; nothing for 0.
    fn fraction(&mut self, nanoseconds: i32) {
        if nanoseconds == 0 {
            return;
        }
        let (mut digits, mut width) = (nanoseconds as u32, 9);
        while digits % 10 == 0 {
            digits /= 10;
            width -= 1;
        }
        self.push(b'.');
        self.digits(digits, width);
    }

    fn duration(&mut self, duration: Duration) {
        let length = duration.length.magnitude();
        if duration.months < 0 || duration.length.sign() < 0 {
            self.push(b'-');
        }
        self.push(b'P');
        let months = duration.months.unsigned_abs();
        self.quantity(months / 12, b'Y');
        self.quantity(months % 12, b'M');
        let seconds = length.seconds as u64;
        let (days, clock) = (seconds / SECONDS_OF_DAY as u64, seconds % SECONDS_OF_DAY as u64);
        self.quantity(days, b'D');
        let is_zero = months == 0 && seconds == 0 && length.nanoseconds == 0;
        if clock == 0 && length.nanoseconds == 0 && !is_zero {
            return;
        }
        self.push(b'T');
        self.quantity(clock / 3600, b'H');
        self.quantity(clock / 60 % 60, b'M');
        if clock % 60 != 0 || length.nanoseconds != 0 || is_zero {
            self.number(clock % 60);
            self.fraction(length.nanoseconds);
            self.push(b'S');
        }
    }

    /// A number and its designator; nothing for 0.
    fn quantity(&mut self, number: u64, designator: u8) {
        if number != 0 {
            self.number(number);
            self.push(designator);
        }
    }
}
