//! `arithmetic/1`: exact rational arithmetic (`docs/operators/arithmetic.md`).

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

extern crate alloc;

mod fold;
mod function;
mod limits;
mod machine;
mod nat;
mod number;
mod output;
mod parser;
mod program;
mod rational;
#[cfg(test)]
mod tests;

use evalspan_abi::{Error, Request, Response};

use limits::Limits;

evalspan_abi::evaluator! {
    manifest: include_bytes!("../manifest.json"),
    evaluate: evaluate,
}

/// The options, in the manifest's order.
#[derive(Clone, Copy, Debug)]
struct Options {
    max_input_bytes: u32,
    max_depth: u32,
    max_digits: u32,
    max_result_bytes: u32,
    precision: u32,
}

/// Evaluates an expression.
///
/// # Errors
/// `too_long`; then the first `syntax` or `too_deep` by position; then the first `domain`,
/// `division_by_zero` or `too_large` of the evaluation.
pub fn evaluate(request: &Request<'_>, response: &mut Response) -> Result<(), Error> {
    let options = match *request.options {
        [max_input_bytes, max_depth, max_digits, max_result_bytes, precision] => Options {
            max_input_bytes,
            max_depth,
            max_digits,
            max_result_bytes,
            precision,
        },
        _ => unreachable!("the manifest declares five options"),
    };
    request.check_length(options.max_input_bytes)?;
    let steps = parser::parse(request.input, options.max_depth)?;
    let value = machine::run(&steps, request.input, &Limits::new(options.max_digits))?;
    output::write(value, options.precision, response);
    Response::check_size(response.len(), options.max_result_bytes)
}
