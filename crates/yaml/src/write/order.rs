//! The order of keys: numbers inside names count as numbers.

use std::cmp::Ordering;

use crate::resolve::Rules;

pub(super) fn natural(a: &str, b: &str, rules: Rules) -> Ordering {
    if less(a, b, rules) {
        Ordering::Less
    } else if less(b, a, rules) {
        Ordering::Greater
    } else {
        // Upstream's order is not total; the bytes decide where it says nothing.
        a.cmp(b)
    }
}

fn less(a: &str, b: &str, rules: Rules) -> bool {
    let common = (a.bytes().zip(b.bytes())).take_while(|(a, b)| a == b);
    let mut at = common.count();
    while !a.is_char_boundary(at) || !b.is_char_boundary(at) {
        at -= 1;
    }
    let (rest_a, rest_b) = (&a[at..], &b[at..]);
    let (Some(x), Some(y)) = (rest_a.chars().next(), rest_b.chars().next()) else {
        return rest_a.is_empty() && !rest_b.is_empty();
    };
    match (x.is_alphabetic(), y.is_alphabetic()) {
        (true, true) => return x < y,
        (false, false) => {}
        // v3 takes a letter behind digits as the end of the number.
        (first, _) if rules == Rules::V3 && a[..at].ends_with(|it: char| it.is_ascii_digit()) => {
            return first;
        }
        (_, second) => return second,
    }
    // A zero counts only behind other digits.
    let digits_before = a[..at].chars().rev().take_while(char::is_ascii_digit);
    let zeros = x == '0' || y == '0';
    let seed = i64::from(zeros && { digits_before }.any(|it| it != '0'));
    let ((an, al), (bn, bl)) = (number(rest_a, seed), number(rest_b, seed));
    if an != bn {
        return an < bn;
    }
    if al != bl {
        return al < bl;
    }
    x < y
}

/// The digits at the start, and how many.
fn number(text: &str, seed: i64) -> (i64, usize) {
    let digits = text.chars().take_while(char::is_ascii_digit);
    digits.fold((seed, 0), |(value, count), it| {
        let digit = i64::from(u32::from(it)) - i64::from(b'0');
        (value.wrapping_mul(10).wrapping_add(digit), count + 1)
    })
}
