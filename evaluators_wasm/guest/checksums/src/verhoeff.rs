//! Verhoeff's scheme over the dihedral group of order 10.

/// The product of each pair.
static PRODUCTS: [[u8; 10]; 10] = products();

/// The permutation applied 0 to 7 times; the eighth is the identity again.
static PERMUTATIONS: [[u8; 10]; 8] = permutations([1, 5, 7, 6, 2, 8, 3, 0, 9, 4]);

/// 0 to 4 are rotations of a pentagon, 5 to 9 reflections.
const fn products() -> [[u8; 10]; 10] {
    let mut table = [[0; 10]; 10];
    let mut j = 0;
    while j < 10 {
        let mut k = 0;
        while k < 10 {
            let rotation = if j < 5 { j + k } else { j + 10 - k };
            let reflected = if (j < 5) == (k < 5) { 0 } else { 5 };
            table[j][k] = (rotation % 5 + reflected) as u8;
            k += 1;
        }
        j += 1;
    }
    table
}

const fn permutations(once: [u8; 10]) -> [[u8; 10]; 8] {
    let mut table = [[0; 10]; 8];
    let mut digit = 0;
    while digit < 10 {
        let mut image = digit as u8;
        let mut times = 0;
        while times < 8 {
            table[times][digit] = image;
            image = once[image as usize];
            times += 1;
        }
        digit += 1;
    }
    table
}

/// The check digit of one or more digits.
pub(crate) fn digit(payload: &[u8]) -> Option<u8> {
    if payload.is_empty() {
        return None;
    }
    let product = payload
        .iter()
        .rev()
        .enumerate()
        .fold(0, |product: u8, (at, digit)| {
            let image = PERMUTATIONS[(at + 1) % 8][usize::from(*digit)];
            PRODUCTS[usize::from(product)][usize::from(image)]
        });
    // The check digit stands before all others in the product, so it is the inverse of the rest.
    Some(if product < 5 { (5 - product) % 5 } else { product })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_numbers_have_their_digit() {
        assert_eq!(digit(&[2, 3, 6]), Some(3));
        assert_eq!(digit(&[1, 2, 3, 4, 5]), Some(1));
        assert_eq!(digit(&[1, 4, 2, 8, 5, 7]), Some(0));
        assert_eq!(digit(&[]), None);
    }

    #[test]
    fn the_products_are_a_group_that_does_not_commute() {
        let product = |a: usize, b: usize| usize::from(PRODUCTS[a][b]);
        for a in 0..10 {
            assert_eq!((product(a, 0), product(0, a)), (a, a));
            assert!((0..10).any(|b| product(a, b) == 0));
            for b in 0..10 {
                for c in 0..10 {
                    assert_eq!(product(product(a, b), c), product(a, product(b, c)));
                }
            }
        }
        assert_ne!(product(1, 5), product(5, 1));
    }

    #[test]
    fn the_permutation_has_order_eight() {
        for (digit, image) in PERMUTATIONS[7].iter().enumerate() {
            assert_eq!(usize::from(PERMUTATIONS[1][usize::from(*image)]), digit);
        }
    }
}
