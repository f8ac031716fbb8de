//! Two texts, line by line.

use std::fmt::Write as _;

/// Lines around a change that stay.
const CONTEXT: usize = 3;

/// Above this many pairs of lines that may belong together, all of them are taken to differ.
const MAX_PAIRS: usize = 4_000_000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Line<'a> {
    Same(&'a str),
    Gone(&'a str),
    New(&'a str),
}

/// Appends hunks as `diff -u` has them.
pub(super) fn unified(out: &mut String, old: &str, new: &str) {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let script = script(&old, &new);
    let is_change = |it: &Line<'_>| !matches!(it, Line::Same(_));
    // How many lines of each text come before a place of the script.
    let (mut old_at, mut new_at, mut from) = (0, 0, 0);
    while let Some(first) = script[from..].iter().position(is_change) {
        let first = from + first;
        let start = first.saturating_sub(CONTEXT).max(from);
        old_at += start - from;
        new_at += start - from;
        let mut end = first;
        // Changes with little between them are one hunk.
        while let Some(more) = script[end..]
            .iter()
            .position(is_change)
            .filter(|gap| *gap <= 2 * CONTEXT)
        {
            end += more + 1;
        }
        let end = (end + CONTEXT).min(script.len());
        hunk(out, &script[start..end], &mut old_at, &mut new_at);
        from = end;
    }
}

fn hunk(out: &mut String, lines: &[Line<'_>], old_at: &mut usize, new_at: &mut usize) {
    let old = lines
        .iter()
        .filter(|it| !matches!(it, Line::New(_)))
        .count();
    let new = lines
        .iter()
        .filter(|it| !matches!(it, Line::Gone(_)))
        .count();
    let range = |at: usize, count: usize| match count {
        0 => format!("{at},0"),
        1 => format!("{}", at + 1),
        _ => format!("{},{count}", at + 1),
    };
    _ = writeln!(
        out,
        "@@ -{} +{} @@",
        range(*old_at, old),
        range(*new_at, new)
    );
    for line in lines {
        _ = match line {
            Line::Same(text) => writeln!(out, " {text}"),
            Line::Gone(text) => writeln!(out, "-{text}"),
            Line::New(text) => writeln!(out, "+{text}"),
        };
    }
    *old_at += old;
    *new_at += new;
}

/// The shortest way from one text to the other, by the longest common subsequence.
fn script<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (a, b) = (&old[start..], &new[start..]);
    let same_end = (a.iter().rev()).zip(b.iter().rev());
    let end = same_end.take_while(|(a, b)| a == b).count();
    let (a, b, tail) = (
        &a[..a.len() - end],
        &b[..b.len() - end],
        &a[a.len() - end..],
    );
    let mut all: Vec<Line<'a>> = old[..start].iter().map(|it| Line::Same(it)).collect();
    if a.len().saturating_mul(b.len()) > MAX_PAIRS {
        all.extend(a.iter().map(|it| Line::Gone(it)));
        all.extend(b.iter().map(|it| Line::New(it)));
    } else {
        middle(a, b, &mut all);
    }
    all.extend(tail.iter().map(|it| Line::Same(it)));
    all
}

fn middle<'a>(a: &[&'a str], b: &[&'a str], all: &mut Vec<Line<'a>>) {
    let width = b.len() + 1;
    // How many lines the rests of both texts have in common.
    let mut common = vec![0u32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            common[i * width + j] = if a[i] == b[j] {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            all.push(Line::Same(a[i]));
            (i, j) = (i + 1, j + 1);
        } else if common[(i + 1) * width + j] >= common[i * width + j + 1] {
            all.push(Line::Gone(a[i]));
            i += 1;
        } else {
            all.push(Line::New(b[j]));
            j += 1;
        }
    }
    all.extend(a[i..].iter().map(|it| Line::Gone(it)));
    all.extend(b[j..].iter().map(|it| Line::New(it)));
}

#[cfg(test)]
mod tests {
    use super::unified;

    fn diff(old: &str, new: &str) -> String {
        let mut out = String::new();
        unified(&mut out, &old.replace(' ', "\n"), &new.replace(' ', "\n"));
        out.replace('\n', "|")
    }

    #[test]
    fn as_diff_u() {
        assert_eq!(diff("a b c", "a b c"), "");
        assert_eq!(diff("", "a b"), "@@ -0,0 +1,2 @@|+a|+b|");
        assert_eq!(diff("a", ""), "@@ -1 +0,0 @@|-a|");
        assert_eq!(
            diff("1 2 3 4 5 6 7 8 9", "1 2 3 4 x 6 7 8 9"),
            "@@ -2,7 +2,7 @@| 2| 3| 4|-5|+x| 6| 7| 8|"
        );
        let far = diff("a 1 2 3 4 5 6 7 8 b", "A 1 2 3 4 5 6 7 8 B");
        assert_eq!(
            far,
            "@@ -1,4 +1,4 @@|-a|+A| 1| 2| 3|@@ -7,4 +7,4 @@| 6| 7| 8|-b|+B|"
        );
        let near = diff("a 1 2 3 4 5 6 b", "A 1 2 3 4 5 6 B");
        assert_eq!(near.matches("@@ -").count(), 1, "{near}");
    }
}
