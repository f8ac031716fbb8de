//! Sets of indexes, as `1,3-5,7`.

use meta::go::quote;

/// How many there are.
pub(super) fn count(text: &str, completions: i64) -> Result<i64, String> {
    let (mut total, mut last) = (0, None);
    for part in text.split(',').filter(|_| !text.is_empty()) {
        let (first, end) = interval(part, completions)?;
        if let Some(last) = last
            && last >= first
        {
            return Err(format!(
                "non-increasing order, previous: {last}, current: {first}"
            ));
        }
        total += end - first + 1;
        last = Some(end);
    }
    Ok(total)
}

fn interval(part: &str, completions: i64) -> Result<(i64, i64), String> {
    let ends: Vec<&str> = part.split('-').collect();
    if ends.len() > 2 {
        return Err(format!(
            "the fragment {} violates the requirement that an index interval can have at most two parts separated by '-'",
            quote(part)
        ));
    }
    let read = |text: &str| {
        let number = text.parse::<i64>();
        let number = number.map_err(|_| {
            format!(
                "cannot convert string to integer for index: {}",
                quote(text)
            )
        })?;
        if number >= completions {
            return Err(format!("too large index: {}", quote(text)));
        }
        Ok(number)
    };
    let first = read(ends[0])?;
    let Some(end) = ends.get(1) else {
        return Ok((first, first));
    };
    let end = read(end)?;
    if first >= end {
        return Err(format!(
            "non-increasing order, previous: {first}, current: {end}"
        ));
    }
    Ok((first, end))
}

/// The first index that is in both, whatever is wrong with the rest.
pub(super) fn overlap(a: &str, b: &str, completions: i64) -> Option<i64> {
    let read = |text: &str| -> Vec<(i64, i64)> {
        text.split(',')
            .filter_map(|part| interval(part, completions).ok())
            .collect()
    };
    let (a, b) = (read(a), read(b));
    let (mut i, mut j) = (0, 0);
    while let (Some(&(first, end)), Some(&(other, other_end))) = (a.get(i), b.get(j)) {
        if first <= other_end && other <= end {
            return Some(first.max(other));
        }
        if first <= other { i += 1 } else { j += 1 }
    }
    None
}
