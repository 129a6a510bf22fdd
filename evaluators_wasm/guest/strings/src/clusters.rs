//! Extended grapheme clusters of a text, the unit of most functions.

use alloc::vec;
use alloc::vec::Vec;

use crate::unicode::Breaks;
use crate::utf8::{CodePoint, CodePoints};

const CR: CodePoint = 0x0d;

/// Whether every byte is a cluster.
fn is_bytewise(text: &[u8]) -> bool {
    bytewise_length(text) == text.len()
}

/// The number of clusters.
pub fn count(text: &[u8]) -> usize {
    if is_bytewise(text) {
        return text.len();
    }
    let mut breaks = Breaks::new();
    CodePoints::new(text)
        .filter(|(_, code_point)| breaks.before(*code_point))
        .count()
}

/// A cluster in its text.
#[derive(Clone, Copy, Debug)]
pub struct Cluster {
    /// The offset of its first byte.
    pub start: usize,
    /// The offset behind its last byte.
    pub end: usize,
    /// Its first code point.
    pub first: CodePoint,
    /// Its second code point, or 0.
    pub second: CodePoint,
    /// Whether it has more than two.
    pub has_more: bool,
}

impl Cluster {
    /// Whether it is one code point of at most two bytes.
    pub fn is_small(self) -> bool {
        self.end - self.start == 1 + usize::from(self.first >= 0x80)
    }
}

/// What a text is made of.
pub enum Piece {
    /// Bytes that are clusters each, by their offsets: most ASCII.
    Bytes(usize, usize),
    /// One cluster.
    Cluster(Cluster),
}

/// Visits the pieces in order.
///
/// It calls `visit` in one place only, so that the compiler makes one loop of both.
pub fn each(text: &[u8], mut visit: impl FnMut(Piece)) {
    let mut code_points = CodePoints::new(text);
    let mut breaks = Breaks::new();
    let (mut start, mut first) = (0, 0);
    if let Some((_, code_point)) = code_points.next() {
        breaks.before(code_point);
        first = code_point;
    }
    while start < text.len() {
        let bytes = match text.get(start + 1) {
            _ if first >= 0x80 => 0,
            Some(b'\n') if first == CR => 0,
            Some(byte) if !byte.is_ascii() => 0,
            _ => bytewise_length(&text[start..]),
        };
        let piece = if bytes > 0 {
            let end = start + bytes;
            code_points = CodePoints::new_at(text, end);
            breaks = Breaks::new();
            let next = code_points.next();
            first = next.map_or(0, |(_, code_point)| code_point);
            breaks.before(first);
            Piece::Bytes(core::mem::replace(&mut start, end), end)
        } else {
            let (mut second, mut has_more) = (0, false);
            let next = code_points.find(|(_, code_point)| {
                if breaks.before(*code_point) {
                    return true;
                }
                has_more = second != 0;
                if !has_more {
                    second = *code_point;
                }
                false
            });
            let (end, code_point) = next.unwrap_or((text.len(), 0));
            let cluster = Cluster {
                start,
                end,
                first,
                second,
                has_more,
            };
            start = end;
            first = code_point;
            Piece::Cluster(cluster)
        };
        visit(piece);
    }
}

/// How many bytes at the start of a text are clusters for sure, each of them.
///
/// Between two ASCII characters there is a boundary, unless they are CR LF. The last of a run may go on with what is
/// behind it, and is left over.
fn bytewise_length(text: &[u8]) -> usize {
    let mut run = 0;
    while run < text.len()
        && text[run].is_ascii()
        && !(text[run] == b'\n' && run > 0 && text[run - 1] == b'\r')
    {
        run += 1;
    }
    if run == text.len() {
        run
    } else {
        run.saturating_sub(1)
    }
}

/// The clusters of a text by index.
pub struct Clusters<'a> {
    text: &'a [u8],
    /// 0, then the end of each cluster; `None` where every byte is one.
    bounds: Option<Vec<u32>>,
}

impl<'a> Clusters<'a> {
    /// The clusters of `text`.
    pub fn new(text: &'a [u8]) -> Self {
        if is_bytewise(text) {
            return Self { text, bounds: None };
        }
        let mut bounds = Vec::with_capacity(text.len() + 1);
        bounds.push(0);
        each(text, |piece| match piece {
            Piece::Bytes(start, end) => bounds.extend(start as u32 + 1..=end as u32),
            Piece::Cluster(cluster) => bounds.push(cluster.end as u32),
        });
        Self {
            text,
            bounds: Some(bounds),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match &self.bounds {
            None => self.text.len(),
            Some(bounds) => bounds.len() - 1,
        }
    }

    /// The text of those from index `start` up to, not including, `end`; neither is more than [`Clusters::len`].
    pub fn slice(&self, start: usize, end: usize) -> &'a [u8] {
        match &self.bounds {
            None => &self.text[start..end],
            Some(bounds) => &self.text[bounds[start] as usize..bounds[end] as usize],
        }
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &'a [u8]> + '_ {
        (0..self.len()).map(move |index| self.slice(index, index + 1))
    }
}

/// Where clusters begin and end, by byte.
pub enum Boundaries {
    /// Everywhere.
    Everywhere,
    /// Before the marked bytes; the last mark is that of the end.
    Marked(Vec<bool>),
}

impl Boundaries {
    /// The boundaries of `text`.
    pub fn new(text: &[u8]) -> Self {
        if is_bytewise(text) {
            return Self::Everywhere;
        }
        let mut marks = vec![false; text.len() + 1];
        marks[0] = true;
        each(text, |piece| match piece {
            Piece::Bytes(start, end) => marks[start + 1..=end].fill(true),
            Piece::Cluster(cluster) => marks[cluster.end] = true,
        });
        Self::Marked(marks)
    }

    /// Whether a boundary lies before byte `at`.
    pub fn at(&self, at: usize) -> bool {
        match self {
            Self::Everywhere => true,
            Self::Marked(marks) => marks[at],
        }
    }
}
