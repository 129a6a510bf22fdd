//! From the raw input to the steps of an evaluation; types and numbers of arguments are part of the syntax.

use alloc::string::String;
use alloc::vec::Vec;

use evalspan_abi::Error;
use evalspan_syntax::{Cursor, Depth};

use crate::functions::Function;
use crate::value::Kind;

/// A step of an evaluation, in the order they are taken: arguments, then the call.
pub enum Step {
    /// A string literal.
    Text(String),
    /// An integer literal, or the nearest `i64`.
    Integer(i64),
    /// Two arguments of a variadic call made one, so that no call keeps many texts.
    Join,
    /// A call of the last `count` values.
    Call {
        function: &'static Function,
        count: usize,
        at: usize,
    },
}

/// A call that is open.
struct Frame {
    function: &'static Function,
    at: usize,
    count: usize,
}

/// The steps that evaluate an input. The stack of open calls is on the heap.
///
/// # Errors
/// `syntax` or `too_deep`, whichever comes first.
pub fn parse(input: &[u8], max_depth: u32) -> Result<Vec<Step>, Error> {
    let mut parser = Parser {
        cursor: Cursor::new(input),
        depth: Depth::new(max_depth),
        steps: Vec::with_capacity(8), // `count("strawberry", "r")` has three
        open: Vec::with_capacity(4),
    };
    let mut wanted = parser.open_call(None)?;
    while let Some(kind) = wanted {
        wanted = parser.argument(kind)?;
    }
    parser.cursor.finish()?;
    Ok(parser.steps)
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    depth: Depth,
    steps: Vec<Step>,
    open: Vec<Frame>,
}

impl Parser<'_> {
    /// Reads an argument and all that it ends, or the start of a call; answers the type of the next argument, or `None`
    /// after the end of the outermost call.
    fn argument(&mut self, wanted: Kind) -> Result<Option<Kind>, Error> {
        self.cursor.skip_white();
        match self.cursor.peek() {
            Some(b'"' | b'\'') if wanted == Kind::Text => {
                let text = self.cursor.string()?;
                self.steps.push(Step::Text(text));
            }
            Some(b'-' | b'0'..=b'9') if wanted == Kind::Integer => match self.cursor.integer()? {
                Some(integer) => self.steps.push(Step::Integer(integer.value)),
                None => return Err(self.cursor.unexpected("a - must stand right before digits")),
            },
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => return self.open_call(Some(wanted)),
            _ => return Err(self.unwanted(wanted)),
        }
        self.after_argument()
    }

    /// Reads a name and the parenthesis after it, and answers the type of the first argument; `wanted` is `None` for
    /// the outermost call.
    fn open_call(&mut self, wanted: Option<Kind>) -> Result<Option<Kind>, Error> {
        self.cursor.skip_white();
        let at = self.cursor.at();
        let name = match self.cursor.name() {
            Some(name) => name,
            None => return Err(self.cursor.unexpected("expected a call, such as len(\"text\")")),
        };
        let end = self.cursor.at();
        let function = match Function::find(name) {
            Some(function) => function,
            None => {
                let message = "this is not the name of a function";
                return Err(Error::syntax(at, message).piece(self.cursor.input(), end));
            }
        };
        if wanted.map_or(false, |wanted| wanted != function.result) {
            let message = match wanted {
                Some(Kind::Integer) => "expected an integer, this function gives another type",
                _ => "expected a string, this function gives another type",
            };
            return Err(Error::syntax(at, message).piece(self.cursor.input(), end));
        }
        self.depth
            .enter(at)
            .map_err(|error| error.piece(self.cursor.input(), end))?;
        self.cursor.skip_white();
        if !self.cursor.eat(b'(') {
            return Err(self.cursor.unexpected("expected an opening parenthesis"));
        }
        self.open.push(Frame {
            function,
            at,
            count: 0,
        });
        Ok(function.parameter(0))
    }

    /// Reads what follows an argument: the ends of calls, a comma.
    fn after_argument(&mut self) -> Result<Option<Kind>, Error> {
        while let Some(mut frame) = self.open.pop() {
            frame.count += 1;
            if frame.function.variadic && frame.count > 1 {
                self.steps.push(Step::Join);
            }
            self.cursor.skip_white();
            match self.cursor.peek() {
                Some(b',') => {
                    let next = frame.function.parameter(frame.count);
                    if next.is_none() {
                        return Err(self.cursor.unexpected("the function takes no more arguments"));
                    }
                    self.cursor.advance(1);
                    self.open.push(frame);
                    return Ok(next);
                }
                Some(b')') if frame.count < frame.function.required => {
                    return Err(self.cursor.unexpected("the function needs more arguments"));
                }
                Some(b')') => self.cursor.advance(1),
                _ if frame.count < frame.function.required => {
                    return Err(self.cursor.unexpected("expected a comma"))
                }
                _ => {
                    return Err(self
                        .cursor
                        .unexpected("expected a comma or a closing parenthesis"))
                }
            }
            self.depth.leave();
            let Frame { function, at, count } = frame;
            let count = if function.variadic { 1 } else { count };
            self.steps.push(Step::Call { function, count, at });
        }
        Ok(None)
    }

    fn unwanted(&self, wanted: Kind) -> Error {
        self.cursor.unexpected(match wanted {
            Kind::Integer => "expected an integer",
            _ => "expected a string in quotes or a function",
        })
    }
}
