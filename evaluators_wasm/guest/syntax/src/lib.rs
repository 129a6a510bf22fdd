//! The syntax that all operators share (`docs/operators/`): white space, names, integers, string literals,
//! argument lists and nesting. Every error is at the first byte that cannot be right.

#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

extern crate alloc;

mod cursor;
mod depth;
mod literal;

pub use cursor::Cursor;
pub use depth::Depth;
pub use literal::Integer;
