//! How deep constructs nest.

use evalspan_abi::{Code, Error};

/// A counter of nested constructs; an atom has depth 0.
#[derive(Clone, Copy, Debug)]
pub struct Depth {
    now: u32,
    limit: u32,
}

impl Depth {
    /// Depth 0 of at most `limit`.
    #[must_use]
    pub fn new(limit: u32) -> Self {
        Self { now: 0, limit }
    }

    /// Enters a construct whose first byte is at `offset`.
    ///
    /// # Errors
    /// `too_deep`, where the limit is already reached.
    pub fn enter(&mut self, offset: usize) -> Result<(), Error> {
        if self.now >= self.limit {
            return Err(Error::new(
                Code::TooDeep,
                offset,
                "constructs nest deeper than max_depth",
            ));
        }
        self.now += 1;
        Ok(())
    }

    /// Leaves the innermost construct.
    pub fn leave(&mut self) {
        self.now -= 1;
    }

    /// Leaves the innermost `count` constructs.
    pub fn leave_many(&mut self, count: u32) {
        self.now -= count;
    }

    /// How many constructs are open.
    #[must_use]
    pub fn now(&self) -> u32 {
        self.now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_itself_is_allowed() {
        let mut depth = Depth::new(2);
        assert!(depth.enter(0).is_ok() && depth.enter(1).is_ok());
        let error = depth.enter(2).unwrap_err();
        assert_eq!((error.code, error.offset), (Code::TooDeep, 2));
        depth.leave();
        assert!(depth.enter(3).is_ok());
    }
}
