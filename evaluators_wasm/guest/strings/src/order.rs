//! Functions on the order of clusters.

use alloc::vec;
use alloc::vec::Vec;

use crate::clusters::{self, Cluster, Clusters, Piece};
use crate::counts::Counts;
use crate::sorting::Sorter;
use crate::utf8::{self, CodePoint};
use crate::value::{Answer, Arguments, Value};

/// `is_palindrome(s)`.
pub fn is_palindrome(arguments: Arguments<'_>) -> Answer {
    let clusters = Clusters::new(arguments.text(0));
    Ok(Value::Boolean(clusters.iter().eq(clusters.iter().rev())))
}

/// `reverse(s)`.
pub fn reverse(arguments: Arguments<'_>) -> Answer {
    let text = arguments.text(0);
    let mut reversed = vec![0; text.len()];
    let mut rest = &mut reversed[..];
    clusters::each(text, |piece| {
        let (Piece::Bytes(start, end) | Piece::Cluster(Cluster { start, end, .. })) = piece;
        let (before, place) = core::mem::take(&mut rest).split_at_mut(text.len() - end);
        rest = before;
        match piece {
            Piece::Bytes(..) => place
                .iter_mut()
                .zip(text[start..end].iter().rev())
                .for_each(|(to, from)| *to = *from),
            Piece::Cluster(_) => utf8::copy(place, &text[start..end]),
        }
    });
    Ok(Value::Text(reversed))
}

/// `sort(s)`: by code points, which is the order of their UTF-8 too.
pub fn sort(arguments: Arguments<'_>) -> Answer {
    let text = arguments.text(0);
    let mut counts = Counts::new();
    let mut others = Sorter::new(text);
    let mut is_sorted = true;
    let mut last = 0;
    // A code point comes before what begins with it; how longer clusters compare, the sorter knows.
    let order = |first: CodePoint, is_longer: bool| first << 1 | u32::from(is_longer);
    clusters::each(text, |piece| match piece {
        Piece::Bytes(start, end) => {
            for byte in &text[start..end] {
                counts.add_byte(*byte);
                let next = order(CodePoint::from(*byte), false);
                if last > next {
                    is_sorted = false;
                }
                last = next;
            }
        }
        Piece::Cluster(cluster) => {
            if !counts.add(cluster) {
                others.push(cluster);
            }
            let next = order(cluster.first, !cluster.is_small());
            if last > next {
                is_sorted = false;
            }
            last = next;
        }
    });
    if is_sorted && others.is_ascending() {
        return Ok(Value::Text(text.into()));
    }
    Ok(Value::Text(others.sorted().merged(&counts)))
}

/// `unique(s)`: of equal clusters the first.
pub fn unique(arguments: Arguments<'_>) -> Answer {
    let text = arguments.text(0);
    let mut seen = Counts::new();
    let mut others = Sorter::new(text);
    let mut is_kept = vec![false; text.len()];
    clusters::each(text, |piece| match piece {
        Piece::Bytes(start, end) => {
            for at in start..end {
                is_kept[at] = seen.times_byte(text[at]) == 0;
                seen.add_byte(text[at]);
            }
        }
        Piece::Cluster(cluster) => {
            let is_new = seen.times(cluster) == 0;
            if !seen.add(cluster) {
                others.push(cluster);
            } else if is_new {
                is_kept[cluster.start..cluster.end].fill(true);
            }
        }
    });
    others.sorted().first_of_equals(|span| is_kept[span].fill(true));
    let mut kept = Vec::with_capacity(text.len());
    kept.extend(
        text.iter()
            .zip(is_kept)
            .filter(|(_, is_kept)| *is_kept)
            .map(|(byte, _)| *byte),
    );
    Ok(Value::Text(kept))
}
