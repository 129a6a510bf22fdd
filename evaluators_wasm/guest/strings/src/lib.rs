//! strings/1 (`docs/operators/strings.md`): characters as a reader sees them.

#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod case;
mod clusters;
mod counts;
mod functions;
mod order;
mod pieces;
mod program;
mod search;
mod size;
mod sorting;
mod unicode;
mod utf8;
mod value;

#[cfg(test)]
mod tests;

use alloc::vec::Vec;

use evalspan_abi::{Error, Request, Response};

use program::Step;
use value::{Arguments, Value};

evalspan_abi::evaluator! {
    manifest: include_bytes!("../manifest.json"),
    evaluate: evaluate,
}

pub use unicode::UNICODE_VERSION;

/// Answers a call of strings/1.
///
/// # Errors
/// `too_long`, then `syntax` and `too_deep` by position, then `domain` and `too_large` as they are met.
pub fn evaluate(request: &Request<'_>, response: &mut Response) -> Result<(), Error> {
    let (max_input_bytes, max_depth, max_result_bytes) = match *request.options {
        [max_input_bytes, max_depth, max_result_bytes] => (max_input_bytes, max_depth, max_result_bytes),
        _ => (0, 0, 0), // not the options of the manifest: everything is too long
    };
    request.check_length(max_input_bytes)?;
    let steps = program::parse(request.input, max_depth)?;
    let limit = max_input_bytes.max(max_result_bytes) as usize;
    let value = run(steps, limit, request.input)?;
    write(&value, max_result_bytes, response)
}

/// The value of the steps; a text that a call gives has at most `limit` bytes.
fn run(steps: Vec<Step>, limit: usize, input: &[u8]) -> Result<Value, Error> {
    let mut stack: Vec<Value> = Vec::with_capacity(4);
    for step in steps {
        match step {
            Step::Text(text) => stack.push(Value::Text(text.into_bytes())),
            Step::Integer(integer) => stack.push(Value::Integer(integer)),
            Step::Join => {
                let next = stack.pop();
                if let (Some(joined), Some(next)) = (stack.last_mut(), next) {
                    size::join(joined, &next, limit);
                }
            }
            Step::Call { function, count, at } => {
                let first = stack.len() - count;
                let value = (function.call)(Arguments::new(&stack[first..], limit)).map_err(|fault| {
                    Error::new(fault.code, at, fault.message).piece(input, at + function.name.len())
                })?;
                stack.truncate(first);
                stack.push(value);
            }
        }
    }
    // The last step is the outermost call, which leaves its value alone.
    Ok(stack.pop().unwrap_or(Value::Overflow))
}

/// Writes a value's text, after a look at its size.
fn write(value: &Value, max_result_bytes: u32, response: &mut Response) -> Result<(), Error> {
    match value {
        Value::Text(text) => {
            Response::check_size(text.len(), max_result_bytes)?;
            // Pieces of literals, put together at the boundaries of characters.
            response.push_str(core::str::from_utf8(text).unwrap_or(""));
        }
        Value::Integer(integer) => {
            if *integer < 0 {
                response.push('-');
            }
            response.push_u64(integer.unsigned_abs());
        }
        Value::Boolean(boolean) => response.push_str(if *boolean { "true" } else { "false" }),
        Value::Overflow => {}
    }
    Response::check_size(response.len(), max_result_bytes)
}
