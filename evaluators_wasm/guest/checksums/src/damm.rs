//! Damm's scheme over his quasigroup of order 10.

/// Row: the interim digit; column: the next digit.
static QUASIGROUP: [[u8; 10]; 10] = [
    [0, 3, 1, 7, 5, 9, 8, 6, 4, 2],
    [7, 0, 9, 2, 1, 5, 4, 8, 6, 3],
    [4, 2, 0, 6, 8, 7, 1, 3, 5, 9],
    [1, 7, 5, 0, 9, 8, 3, 4, 2, 6],
    [6, 1, 2, 3, 0, 4, 5, 9, 7, 8],
    [3, 6, 7, 4, 2, 0, 9, 5, 8, 1],
    [5, 8, 6, 9, 7, 2, 0, 1, 3, 4],
    [8, 9, 4, 5, 3, 6, 2, 0, 1, 7],
    [9, 4, 3, 8, 6, 1, 7, 2, 0, 5],
    [2, 5, 8, 1, 4, 3, 6, 7, 9, 0],
];

/// The check digit of one or more digits.
pub(crate) fn digit(payload: &[u8]) -> Option<u8> {
    if payload.is_empty() {
        return None;
    }
    Some(payload.iter().fold(0, |interim: u8, digit| {
        QUASIGROUP[usize::from(interim)][usize::from(*digit)]
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_numbers_have_their_digit() {
        assert_eq!(digit(&[5, 7, 2]), Some(4));
        assert_eq!(digit(&[]), None);
    }

    #[test]
    fn the_table_is_a_weakly_totally_antisymmetric_quasigroup_with_a_zero_diagonal() {
        let entry = |a: usize, b: usize| usize::from(QUASIGROUP[a][b]);
        for a in 0..10 {
            assert_eq!(entry(a, a), 0);
            for b in 0..10 {
                assert!((0..10).any(|x| entry(a, x) == b) && (0..10).any(|x| entry(x, a) == b));
                // No two neighbours can change places, whatever stands before them.
                for c in 0..10 {
                    assert!(a == b || entry(entry(c, a), b) != entry(entry(c, b), a));
                }
            }
        }
    }
}
