//! The canonical text of a value.

use evalspan_abi::Response;

use crate::civil::Date;
use crate::clock::{DateTime, Time, SECONDS_OF_DAY};
use crate::duration::Duration;
use crate::value::Value;

/// The days of the week, Monday first.
pub const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// Appends the text of a value; nothing for one that is missing, which is never a result.
pub fn write(value: &Value, response: &mut Response) {
    match *value {
        Value::Missing(_) => {}
        Value::Integer(number) => {
            if number < 0 {
                response.push('-');
            }
            response.push_u64(number.unsigned_abs());
        }
        Value::Date(date) => write_date(date, response),
        Value::Time(time) => write_time(time, response),
        Value::DateTime(moment) => write_datetime(moment, response),
        Value::Duration(duration) => write_duration(duration, response),
        Value::Boolean(truth) => response.push_str(if truth { "true" } else { "false" }),
        Value::Weekday(day) => response.push_str(WEEKDAYS.get(day as usize - 1).unwrap_or(&"")),
        Value::Week(year, week) => {
            response.push_padded(year as u64, 4);
            response.push_str("-W");
            write_two(week, response);
        }
        Value::Offset(offset) => write_offset(offset, response),
    }
}

/// Appends a number below 100 with two digits.
fn write_two(number: i32, response: &mut Response) {
    response.push((b'0' + (number / 10) as u8) as char);
    response.push((b'0' + (number % 10) as u8) as char);
}

fn write_date(date: Date, response: &mut Response) {
    let civil = date.civil();
    write_two(civil.year / 100, response);
    write_two(civil.year % 100, response);
    response.push('-');
    write_two(civil.month, response);
    response.push('-');
    write_two(civil.day, response);
}

fn write_time(time: Time, response: &mut Response) {
    write_two(time.seconds / 3600, response);
    response.push(':');
    write_two(time.seconds / 60 % 60, response);
    response.push(':');
    write_two(time.seconds % 60, response);
    write_fraction(time.nanoseconds, response);
}

fn write_datetime(moment: DateTime, response: &mut Response) {
    write_date(moment.date, response);
    response.push('T');
    write_time(moment.time, response);
    if let Some(offset) = moment.offset {
        write_offset(offset, response);
    }
}

fn write_offset(offset: i32, response: &mut Response) {
    if offset == 0 {
        response.push('Z');
        return;
    }
    response.push(if offset < 0 { '-' } else { '+' });
    write_two(offset.abs() / 60, response);
    response.push(':');
    write_two(offset.abs() % 60, response);
}

/// Appends the point and the digits of nanoseconds, without trailing zeros; nothing for 0.
fn write_fraction(nanoseconds: i32, response: &mut Response) {
    if nanoseconds == 0 {
        return;
    }
    let (mut digits, mut width) = (nanoseconds as u64, 9);
    while digits % 10 == 0 {
        digits /= 10;
        width -= 1;
    }
    response.push('.');
    response.push_padded(digits, width);
}

fn write_duration(duration: Duration, response: &mut Response) {
    let length = duration.length.magnitude();
    if duration.months < 0 || duration.length.sign() < 0 {
        response.push('-');
    }
    let months = duration.months.unsigned_abs();
    response.push('P');
    write_quantity(months / 12, 'Y', response);
    write_quantity(months % 12, 'M', response);
    let seconds = length.seconds as u64;
    write_quantity(seconds / SECONDS_OF_DAY as u64, 'D', response);
    let (clock, fraction) = (seconds % SECONDS_OF_DAY as u64, length.nanoseconds);
    let is_zero = months == 0 && seconds == 0 && fraction == 0;
    if clock == 0 && fraction == 0 && !is_zero {
        return;
    }
    response.push('T');
    write_quantity(clock / 3600, 'H', response);
    write_quantity(clock / 60 % 60, 'M', response);
    if clock % 60 != 0 || fraction != 0 || is_zero {
        response.push_u64(clock % 60);
        write_fraction(fraction, response);
        response.push('S');
    }
}

/// Appends a number and its designator; nothing for 0.
fn write_quantity(number: u64, designator: char, response: &mut Response) {
    if number != 0 {
        response.push_u64(number);
        response.push(designator);
    }
}
