//! Tests of the operator, on the host.

mod clusters;
mod functions;
mod limits;
mod order;
mod search;
mod syntax;
mod unicode;
mod utf8;

use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use evalspan_abi::{Code, Request, Response};

/// An answer: a text, or an error's code and offset.
pub type Outcome = Result<String, (Code, usize)>;

/// What the operator answers under some limits.
pub fn answer_under(options: [u32; 3], input: &[u8]) -> Outcome {
    let mut response = Response::new();
    match crate::evaluate(
        &Request {
            options: &options,
            input,
        },
        &mut response,
    ) {
        Ok(()) => Ok(String::from_utf8(response.text().to_vec()).unwrap()),
        Err(error) => Err((error.code, error.offset)),
    }
}

/// What the operator answers under the largest limits.
pub fn answer(input: &str) -> Outcome {
    answer_under([16384, 64, 16384], input.as_bytes())
}

/// The text of a value.
pub fn value(input: &str) -> String {
    answer(input).unwrap_or_else(|error| panic!("{}: {:?}", input, error))
}

/// A text as a literal.
pub fn literal(text: &str) -> String {
    let mut literal = String::from("\"");
    for unit in text.encode_utf16() {
        literal += &format!("\\u{:04x}", unit);
    }
    literal + "\""
}

/// The clusters of a text by the plainest way: one pass over all characters.
pub fn plain_clusters(text: &str) -> Vec<String> {
    let mut breaks = crate::unicode::Breaks::new();
    let mut clusters: Vec<String> = Vec::new();
    for character in text.chars() {
        if breaks.before(character.into()) {
            clusters.push(character.to_string());
        } else {
            clusters.last_mut().unwrap().push(character);
        }
    }
    clusters
}

/// A character of each class of segmentation, some twice, and of each length in UTF-8.
pub const SAMPLES: [char; 28] = [
    'a',
    'B',
    ' ',
    '\r',
    '\n',
    '\0',
    'é',
    'ß',
    '漢',
    '\u{301}',
    '\u{302}',
    '\u{903}',
    '\u{200c}',
    '\u{200d}',
    '\u{94d}',
    '\u{915}',
    '\u{937}',
    '\u{600}',
    '\u{1100}',
    '\u{1161}',
    '\u{11a8}',
    '가',
    '각',
    '🇩',
    '🇪',
    '👩',
    '❤',
    '\u{1f3fd}',
];

/// Texts that any mix of samples may make, from a fixed linear congruential sequence.
pub struct Mixes(pub u32);

impl Mixes {
    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as usize % end
    }

    /// A text of less than `end` characters, which are few different ones more often than not.
    pub fn text(&mut self, end: usize) -> String {
        let (from, kinds) = (self.below(SAMPLES.len()), self.below(SAMPLES.len()) + 1);
        let length = self.below(end);
        (0..length)
            .map(|_| SAMPLES[(from + self.below(kinds)) % SAMPLES.len()])
            .collect()
    }
}
