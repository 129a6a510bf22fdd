//! ABI 1 of evalspan evaluators (`docs/abi.md`): what a guest needs to be a module, and nothing of any
//! operator.
//!
//! The only crate of the workspace with `unsafe`. A guest is a safe function from a [`Request`] to a
//! [`Response`] or an [`Error`], and one use of [`evaluator!`].

#![no_std]
#![warn(missing_docs)]

extern crate alloc;

// Not used, but linked for its allocation-failure handler and its panic runtime, both of which end in a
// trap: Rust gained a default handler for `no_std` only in 1.68.
extern crate std;

mod error;
mod exports;
mod heap;
mod manifest;
mod request;
mod response;

pub use error::{Code, Error, MESSAGE_BYTES, PIECE_BYTES};
pub use exports::{run, Evaluate};
pub use heap::{Heap, HeapUse};
pub use manifest::{option_count, request_bytes};
pub use request::{Request, RequestBuffer};
pub use response::Response;
