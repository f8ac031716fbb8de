//! Patterns for paths, as Go's `path/filepath` matches them.

use crate::error::{Error, Result};
use crate::fs::{FileSystem, exists, is_dir};
use crate::paths;

/// Paths that match, without hidden files unless the pattern asks for them.
pub(crate) fn glob(fs: &dyn FileSystem, pattern: &str) -> Result<Vec<String>> {
    let mut found = expand(fs, pattern)?;
    let is_hidden = |path: &str| paths::base(path).starts_with('.');
    if !is_hidden(pattern) {
        found.retain(|it| !is_hidden(it));
    }
    Ok(found)
}

fn expand(fs: &dyn FileSystem, pattern: &str) -> Result<Vec<String>> {
    // Whether it is a pattern at all is known before anything is looked up.
    matches(pattern, "")?;
    if !has_meta(pattern) {
        let there = exists(fs, pattern);
        return Ok(there.then(|| pattern.to_owned()).into_iter().collect());
    }
    let cut = pattern.rfind('/').map_or(0, |at| at + 1);
    let (dir, file) = pattern.split_at(cut);
    let dir = match dir {
        "" => ".",
        "/" => "/",
        dir => &dir[..dir.len() - 1],
    };
    let mut found = Vec::new();
    if !has_meta(dir) {
        list(fs, dir, file, &mut found)?;
        return Ok(found);
    }
    // As upstream, so that a pattern does not expand itself forever.
    if dir == pattern {
        return Err(bad_pattern());
    }
    for dir in expand(fs, dir)? {
        list(fs, &dir, file, &mut found)?;
    }
    Ok(found)
}

fn list(fs: &dyn FileSystem, dir: &str, pattern: &str, found: &mut Vec<String>) -> Result<()> {
    if !is_dir(fs, dir) {
        return Ok(());
    }
    // What cannot be looked into has no matches.
    let Ok(entries) = fs.entries(dir) else {
        return Ok(());
    };
    for entry in entries {
        if matches(pattern, &entry.name)? {
            found.push(paths::join(dir, &entry.name));
        }
    }
    Ok(())
}

fn has_meta(pattern: &str) -> bool {
    pattern.contains(['*', '?', '[', '\\'])
}

fn bad_pattern() -> Error {
    Error::new("syntax error in pattern")
}

/// Whether the whole of a name matches; stars and question marks stop at slashes.
pub(crate) fn matches(pattern: &str, name: &str) -> Result<bool> {
    let (mut pattern, mut name) = (pattern, name);
    'pattern: while !pattern.is_empty() {
        let (star, chunk, rest) = scan_chunk(pattern);
        pattern = rest;
        if star && chunk.is_empty() {
            return Ok(!name.contains('/'));
        }
        if let Some(left) = match_chunk(chunk, name)?
            && (left.is_empty() || !pattern.is_empty())
        {
            name = left;
            continue;
        }
        if star {
            for (at, c) in name.char_indices() {
                if c == '/' {
                    break;
                }
                if let Some(left) = match_chunk(chunk, &name[at + c.len_utf8()..])? {
                    if pattern.is_empty() && !left.is_empty() {
                        continue;
                    }
                    name = left;
                    continue 'pattern;
                }
            }
        }
        // The rest of the pattern may be wrong too.
        while !pattern.is_empty() {
            let (_, chunk, rest) = scan_chunk(pattern);
            pattern = rest;
            match_chunk(chunk, "")?;
        }
        return Ok(false);
    }
    Ok(name.is_empty())
}

/// Whether there are stars in front, what follows up to the next star, and the rest.
fn scan_chunk(pattern: &str) -> (bool, &str, &str) {
    let chunk = pattern.trim_start_matches('*');
    let star = chunk.len() < pattern.len();
    let mut in_range = false;
    let mut chars = chunk.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => _ = chars.next(),
            '[' => in_range = true,
            ']' => in_range = false,
            '*' if !in_range => return (star, &chunk[..at], &chunk[at..]),
            _ => {}
        }
    }
    (star, chunk, "")
}

/// What is left of the name behind a chunk, if it matches. The chunk is read to its end in any case.
fn match_chunk<'n>(chunk: &str, name: &'n str) -> Result<Option<&'n str>> {
    let mut left = Some(name);
    let mut chunk = chunk;
    while let Some(c) = chunk.chars().next() {
        if left == Some("") {
            left = None;
        }
        let next = left.and_then(|it| it.chars().next());
        let fits = match c {
            '[' => {
                let (fits, rest) = match_range(&chunk[1..], next)?;
                chunk = rest;
                fits
            }
            '?' => {
                chunk = &chunk[1..];
                next.is_some_and(|it| it != '/')
            }
            _ => {
                if c == '\\' {
                    chunk = &chunk[1..];
                }
                let c = chunk.chars().next().ok_or_else(bad_pattern)?;
                chunk = &chunk[c.len_utf8()..];
                next == Some(c)
            }
        };
        left = match (fits, left, next) {
            (true, Some(left), Some(next)) => Some(&left[next.len_utf8()..]),
            _ => None,
        };
    }
    Ok(left)
}

fn match_range(range: &str, c: Option<char>) -> Result<(bool, &str)> {
    let negated = range.starts_with('^');
    let mut range = range.strip_prefix('^').unwrap_or(range);
    let mut fits = false;
    let mut count = 0;
    loop {
        if count > 0
            && let Some(rest) = range.strip_prefix(']')
        {
            return Ok((c.is_some() && fits != negated, rest));
        }
        let (low, rest) = range_char(range)?;
        range = rest;
        let mut high = low;
        if let Some(rest) = range.strip_prefix('-') {
            (high, range) = range_char(rest)?;
        }
        fits |= c.is_some_and(|c| low <= c && c <= high);
        count += 1;
    }
}

fn range_char(range: &str) -> Result<(char, &str)> {
    if range.starts_with(['-', ']']) {
        return Err(bad_pattern());
    }
    let range = range.strip_prefix('\\').unwrap_or(range);
    let c = range.chars().next().ok_or_else(bad_pattern)?;
    let rest = &range[c.len_utf8()..];
    if rest.is_empty() {
        return Err(bad_pattern());
    }
    Ok((c, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_as_go_does() {
        // (pattern, name, match; none if the pattern is wrong)
        let table = [
            ("abc", "abc", Some(true)),
            ("*", "abc", Some(true)),
            ("*c", "abc", Some(true)),
            ("a*", "a", Some(true)),
            ("a*", "ab/c", Some(false)),
            ("a*/b", "abc/b", Some(true)),
            ("a*/b", "a/c/b", Some(false)),
            ("a*b*c*d*e*/f", "axbxcxdxe/f", Some(true)),
            ("a*b*c*d*e*/f", "axbxcxdxexxx/fff", Some(false)),
            ("ab[c]", "abc", Some(true)),
            ("ab[b-d]", "abc", Some(true)),
            ("ab[e-g]", "abc", Some(false)),
            ("ab[^c]", "abc", Some(false)),
            ("a\\*b", "a*b", Some(true)),
            ("a?b", "a\u{263a}b", Some(true)),
            ("a[^a]b", "a\u{263a}b", Some(true)),
            ("a???b", "a\u{263a}b", Some(false)),
            ("[a-\u{3b6}]*", "\u{3b1}", Some(true)),
            ("a?b", "a/b", Some(false)),
            ("[\\]a]", "]", Some(true)),
            ("[x\\-]", "-", Some(true)),
            ("[]a]", "]", None),
            ("[-]", "-", None),
            ("[a-b-c]", "a", None),
            ("[", "a", None),
            ("[^bc", "a", None),
            ("a[", "a", None),
            ("a[", "ab", None),
            ("a[", "x", None),
            ("a/b[", "x", None),
            ("*x", "xxx", Some(true)),
        ];
        for (pattern, name, wanted) in table {
            assert_eq!(matches(pattern, name).ok(), wanted, "{pattern} {name}");
        }
    }
}
