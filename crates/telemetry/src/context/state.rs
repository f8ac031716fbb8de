//! `tracestate`: what tracing systems on the way want to have carried along.

const MEMBERS: usize = 32;
const KEY: usize = 256;
const VALUE: usize = 256;
/// What is carried along at most: W3C asks for 512 at least.
const CARRIED: usize = 512;
/// Members longer than this go first when it is too much.
const LONG: usize = 128;

/// The members of all headers in one, or nothing if any of it is wrong.
pub fn tracestate<'a>(headers: impl Iterator<Item = &'a [u8]>) -> Option<String> {
    let mut members: Vec<(&str, &str)> = Vec::new();
    let mut count = 0;
    for header in headers {
        // Anything else than ASCII is wrong in every place.
        let header = std::str::from_utf8(header).ok()?;
        for member in header.split(',') {
            let member = member.trim_matches([' ', '\t']);
            if member.is_empty() {
                continue;
            }
            count += 1;
            let (key, value) = member.split_once('=')?;
            if count > MEMBERS || !is_key(key.as_bytes()) || !is_value(value.as_bytes()) {
                return None;
            }
            if members.iter().all(|(known, _)| *known != key) {
                members.push((key, value));
            }
        }
    }
    shorten(&mut members);
    let members: Vec<_> = members.iter().map(|(k, v)| format!("{k}={v}")).collect();
    (!members.is_empty()).then(|| members.join(","))
}

fn is_key(key: &[u8]) -> bool {
    let is_first = |it: &u8| it.is_ascii_lowercase() || it.is_ascii_digit();
    let is_other = |it: &u8| is_first(it) || b"_-*/@".contains(it);
    key.len() <= KEY && key.first().is_some_and(is_first) && key.iter().all(is_other)
}

fn is_value(value: &[u8]) -> bool {
    let is_fine = |it: &u8| (b' '..=b'~').contains(it) && *it != b'=';
    let ends = value.last().is_some_and(|it| *it != b' ');
    value.len() <= VALUE && ends && value.iter().all(is_fine)
}

/// Whole members go: the long ones first, then those that were added first, which are the last.
fn shorten(members: &mut Vec<(&str, &str)>) {
    let size = |(key, value): &(&str, &str)| key.len() + 1 + value.len();
    let mut total = members.iter().map(size).sum::<usize>() + members.len().saturating_sub(1);
    while total > CARRIED {
        let long = members.iter().rposition(|it| size(it) > LONG);
        let Some(index) = long.or_else(|| members.len().checked_sub(1)) else {
            return;
        };
        total = total.saturating_sub(size(&members.remove(index)) + 1);
    }
}
