//! The order of keys: numbers inside names count as numbers.

use std::cmp::Ordering;

use crate::resolve::Rules;

/// Puts the pairs from some place on in the order of their keys. Says whether all keys are different.
pub(super) fn sort<T: Copy>(pairs: &mut [(&str, T)], from: usize, rules: Rules) -> bool {
    let pairs = &mut pairs[from..];
    // By bytes first, as upstream's order is not total; for the same reason not `sort_by`, which may panic on such.
    if !pairs.is_sorted_by_key(|(key, _)| *key) {
        pairs.sort_by_key(|(key, _)| *key);
    }
    let distinct = pairs.windows(2).all(|pair| pair[0].0 != pair[1].0);
    if !pairs.iter().all(|(key, _)| is_common(key)) {
        merge_sort(pairs, rules);
    }
    distinct
}

/// Whether the natural order of such keys is that of their bytes: no digits, and all else stands before the letters.
fn is_common(key: &str) -> bool {
    let common = |it: u8| it.is_ascii_alphabetic() || it < b'0' || (b':'..=b'@').contains(&it);
    key.bytes().all(common)
}

fn merge_sort<T: Copy>(pairs: &mut [(&str, T)], rules: Rules) {
    let mut width = 1;
    while width < pairs.len() {
        let mut merged = Vec::with_capacity(pairs.len());
        for run in pairs.chunks(width * 2) {
            let (mut a, mut b) = run.split_at(width.min(run.len()));
            while let ([x, more_a @ ..], [y, more_b @ ..]) = (a, b) {
                if natural(y.0, x.0, rules).is_lt() {
                    merged.push(*y);
                    b = more_b;
                } else {
                    merged.push(*x);
                    a = more_a;
                }
            }
            merged.extend_from_slice(a);
            merged.extend_from_slice(b);
        }
        pairs.copy_from_slice(&merged);
        width *= 2;
    }
}

fn natural(a: &str, b: &str, rules: Rules) -> Ordering {
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
