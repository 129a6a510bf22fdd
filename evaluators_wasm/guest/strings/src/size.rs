//! Lengths, and the functions whose result may be longer than their arguments.

use alloc::vec::Vec;

use crate::clusters;
use crate::utf8::{self, Text};
use crate::value::{Answer, Arguments, Fault, Value};

/// `len(s)`: clusters.
pub fn len(arguments: Arguments<'_>) -> Answer {
    Ok(Value::Integer(clusters::count(arguments.text(0)) as i64))
}

/// `codepoints(s)`.
pub fn codepoints(arguments: Arguments<'_>) -> Answer {
    Ok(Value::Integer(utf8::count(arguments.text(0)) as i64))
}

/// `bytes(s)`, in UTF-8.
pub fn bytes(arguments: Arguments<'_>) -> Answer {
    Ok(Value::Integer(arguments.text(0).len() as i64))
}

/// `repeat(s, n)`.
pub fn repeat(arguments: Arguments<'_>) -> Answer {
    let text = arguments.text(0);
    let times = at_least_zero(arguments.integer(1))?;
    arguments.check_size(0, times, text.len())?;
    // An empty text may be repeated more often than a usize can say.
    let times = if text.is_empty() { 0 } else { times as usize };
    Ok(Value::Text(text.repeat(times)))
}

/// `concat(s, …)`, its arguments being [`join`]ed already.
pub fn concat(arguments: Arguments<'_>) -> Answer {
    if arguments.overflow() {
        return Err(Fault::too_large());
    }
    Ok(Value::Text(arguments.text(0).into()))
}

/// Appends an argument of `concat` to those before it, unless a text of them all would have more than `limit` bytes.
pub fn join(joined: &mut Value, next: &Value, limit: usize) {
    match (&mut *joined, next) {
        (Value::Text(text), Value::Text(next)) if text.len() + next.len() <= limit => {
            text.extend_from_slice(next)
        }
        _ => *joined = Value::Overflow,
    }
}

/// `pad_left(s, n[, c])`.
pub fn pad_left(arguments: Arguments<'_>) -> Answer {
    let padding = Padding::new(&arguments)?;
    let mut padded = Vec::with_capacity(padding.bytes);
    padding.push_to(&mut padded);
    padded.extend_from_slice(arguments.text(0));
    Ok(Value::Text(padded))
}

/// `pad_right(s, n[, c])`.
pub fn pad_right(arguments: Arguments<'_>) -> Answer {
    let padding = Padding::new(&arguments)?;
    let mut padded = Vec::with_capacity(padding.bytes);
    padded.extend_from_slice(arguments.text(0));
    padding.push_to(&mut padded);
    Ok(Value::Text(padded))
}

/// What a pad adds.
struct Padding<'a> {
    cluster: &'a [u8],
    times: u64,
    /// Bytes of the padded text.
    bytes: usize,
}

impl<'a> Padding<'a> {
    fn new(arguments: &Arguments<'a>) -> Result<Self, Fault> {
        let width = at_least_zero(arguments.integer(1))?;
        let cluster = if arguments.len() > 2 {
            arguments.text(2)
        } else {
            b" "
        };
        if clusters::count(cluster) != 1 {
            return Err(Fault::domain("a pad needs exactly one character"));
        }
        let text = arguments.text(0);
        let times = width.saturating_sub(clusters::count(text) as u64);
        let bytes = arguments.check_size(text.len(), times, cluster.len())?;
        Ok(Self {
            cluster,
            times,
            bytes,
        })
    }

    fn push_to(&self, text: &mut Text) {
        for _ in 0..self.times {
            text.extend_from_slice(self.cluster);
        }
    }
}

fn at_least_zero(integer: Option<i64>) -> Result<u64, Fault> {
    integer
        .and_then(|integer| u64::try_from(integer).ok())
        .ok_or_else(|| Fault::domain("n must not be negative"))
}
