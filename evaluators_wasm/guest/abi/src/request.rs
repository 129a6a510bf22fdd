//! The request: the options in the manifest's order, then the raw input.

use core::cell::UnsafeCell;

use crate::{Code, Error};

/// The memory that the host writes a request to: `BYTES` bytes, zero at first.
#[repr(C, align(16))]
pub struct RequestBuffer<const BYTES: usize>(UnsafeCell<[u8; BYTES]>);

// SAFETY: a module has one thread, and the host writes the buffer only between calls, never during one.
unsafe impl<const BYTES: usize> Sync for RequestBuffer<BYTES> {}

impl<const BYTES: usize> RequestBuffer<BYTES> {
    /// An empty buffer.
    #[must_use]
    #[allow(clippy::new_without_default)] // only ever a static
    pub const fn new() -> Self {
        Self(UnsafeCell::new([0; BYTES]))
    }

    /// The bytes as the host wrote them.
    pub(crate) fn bytes(&self) -> &[u8; BYTES] {
        // SAFETY: nothing in this module writes the buffer, and the host does so only between calls.
        unsafe { &*self.0.get() }
    }
}

/// What one evaluation is asked.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The options, in the manifest's order.
    pub options: &'a [u32],
    /// The bytes of the span's content, unchecked.
    pub input: &'a [u8],
}

impl<'a> Request<'a> {
    /// Refuses an input of more than `limit` bytes: the check that comes before all others.
    ///
    /// # Errors
    /// `too_long`, at the first byte over the limit.
    pub fn check_length(&self, limit: u32) -> Result<(), Error> {
        if self.input.len() <= limit as usize {
            return Ok(());
        }
        Err(Error::new(
            Code::TooLong,
            limit as usize,
            "the input has more bytes than max_input_bytes",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_of_exactly_the_limit_is_not_too_long() {
        let request = Request {
            options: &[],
            input: b"1+1",
        };
        assert!(request.check_length(3).is_ok());
        assert_eq!(request.check_length(2).unwrap_err().code, Code::TooLong);
        assert_eq!(request.check_length(2).unwrap_err().offset, 2);
    }
}
