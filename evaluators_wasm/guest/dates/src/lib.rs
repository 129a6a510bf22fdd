//! dates/1 (`docs/operators/dates.md`): dates, times, durations and the calendar between them.
//!
//! One pass: what is read is evaluated at once, every operation taking constant time. The first fault of the
//! evaluation is kept until the input is known to be well formed, and from then on only types are computed.

#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

extern crate alloc;

mod civil;
mod clock;
mod duration;
mod fault;
mod functions;
mod hint;
mod literal;
mod operators;
mod parser;
mod text;
mod value;
mod word;
mod zone;

use evalspan_abi::{Error, Request, Response};

evalspan_abi::evaluator! {
    manifest: include_bytes!("../manifest.json"),
    evaluate: evaluate,
}

/// Evaluates an expression of dates/1. The options are `max_input_bytes`, `max_depth` and `max_result_bytes`.
///
/// # Errors
/// All codes but `division_by_zero`, each where the specification says.
pub fn evaluate(request: &Request<'_>, response: &mut Response) -> Result<(), Error> {
    request.check_length(request.options[0])?;
    let value = parser::evaluate(request.input, request.options[1])?;
    // The longest text is that of a duration, about 60 bytes, so that measuring it needs no calculation
    // beforehand.
    text::write(&value, response);
    Response::check_size(response.len(), request.options[2])
}

#[cfg(test)]
mod tests;
