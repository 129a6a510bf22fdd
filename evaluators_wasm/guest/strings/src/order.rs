//! Functions on the order of clusters.

use alloc::vec;
use alloc::vec::Vec;

use crate::clusters::{self, Clusters};
use crate::sorting::{Counts, Sorter};
use crate::utf8;
use crate::value::{Answer, Arguments, Value};

/// `is_palindrome(s)`.
pub fn is_palindrome(arguments: Arguments<'_>) -> Answer {
    let clusters = Clusters::new(arguments.text(0));
    Ok(Value::Boolean(clusters.iter().eq(clusters.iter().rev())))
}

/// `reverse(s)`.
pub fn reverse(arguments: Arguments<'_>) -> Answer {
    let text = arguments.text(0);
    if clusters::is_bytewise(text) {
        return Ok(Value::Text(text.iter().rev().copied().collect()));
    }
    let mut reversed = vec![0; text.len()];
    clusters::each(text, |cluster| {
        let place = text.len() - cluster.end..text.len() - cluster.start;
        utf8::copy(&mut reversed[place], &text[cluster.start..cluster.end]);
    });
    Ok(Value::Text(reversed))
}

/// `sort(s)`: by code points, which is the order of their UTF-8 too.
pub fn sort(arguments: Arguments<'_>) -> Answer {
    let text = arguments.text(0);
    let mut counts = Counts::new();
    let mut others = Sorter::new(text);
    if clusters::is_bytewise(text) {
        if text.windows(2).all(|pair| pair[0] <= pair[1]) {
            return Ok(Value::Text(text.into()));
        }
        counts.add_bytes(text);
        return Ok(Value::Text(others.sorted().merged(&counts)));
    }
    let mut is_sorted = true;
    let mut last = 0;
    clusters::each(text, |cluster| {
        if counts.add(cluster) == 0 {
            others.push(cluster);
        }
        // A code point comes before what begins with it; how longer clusters compare, the sorter knows.
        let order = cluster.first << 1 | u32::from(!cluster.is_small());
        is_sorted &= last <= order;
        last = order;
    });
    if is_sorted && !others.descends() {
        return Ok(Value::Text(text.into()));
    }
    Ok(Value::Text(others.sorted().merged(&counts)))
}

/// `unique(s)`: of equal clusters the first.
pub fn unique(arguments: Arguments<'_>) -> Answer {
    let text = arguments.text(0);
    let mut counts = Counts::new();
    let mut others = Sorter::new(text);
    let mut is_kept = vec![false; text.len()];
    clusters::each(text, |cluster| match counts.add(cluster) {
        0 => others.push(cluster),
        1 => is_kept[cluster.start..cluster.end].fill(true),
        _ => {}
    });
    others.sorted().first_of_equals(|span| is_kept[span].fill(true));
    let mut kept = Vec::with_capacity(text.len());
    kept.extend(text.iter().zip(is_kept).filter(|(_, is_kept)| *is_kept).map(|(byte, _)| *byte));
    Ok(Value::Text(kept))
}
