//! The difference of two values, for people: a unified diff of their indented texts.

use std::collections::HashMap;
use std::fmt::Write as _;

use json::Value;

/// Equal lines around a change.
const CONTEXT: usize = 3;
/// Longer texts are not compared line by line, which may take the square of their length: all between what they begin
/// and end with in common counts as changed.
const MAX_LINES: usize = 2_000;
/// And no more of a difference is shown.
const MAX_SHOWN: usize = 64 << 10;

pub(super) fn diff(old: &Value, new: &Value) -> String {
    let (old, new) = (indented(old), indented(new));
    let (a, b): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let mut blocks = Vec::new();
    if a.len().max(b.len()) > MAX_LINES {
        ends(&a, &b, &mut blocks);
    } else {
        matching(&a, &b, &mut blocks);
    }
    unified(&a, &b, &blocks)
}

fn ends(a: &[&str], b: &[&str], blocks: &mut Vec<Block>) {
    let same = |(a, b): &(&&str, &&str)| a == b;
    let begin = a.iter().zip(b).take_while(same).count();
    let (rest_a, rest_b) = (&a[begin..], &b[begin..]);
    let end = (rest_a.iter().rev().zip(rest_b.iter().rev()))
        .take_while(same)
        .count();
    blocks.push((0, 0, begin));
    blocks.push((a.len() - end, b.len() - end, end));
    blocks.push((a.len(), b.len(), 0));
}

/// One space a level, as upstream's.
fn indented(value: &Value) -> String {
    let mut out = String::new();
    write(&mut out, value, 0);
    out
}

fn write(out: &mut String, value: &Value, depth: usize) {
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', depth));
    };
    match value {
        Value::Array(items) if !items.is_empty() => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                line(out, depth + 1);
                write(out, item, depth + 1);
            }
            line(out, depth);
            out.push(']');
        }
        Value::Object(object) if !object.is_empty() => {
            out.push('{');
            for (index, (key, value)) in object.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                line(out, depth + 1);
                out.push_str(&json::to_string(&Value::from(key)));
                out.push_str(": ");
                write(out, value, depth + 1);
            }
            line(out, depth);
            out.push('}');
        }
        other => out.push_str(&json::to_string(other)),
    }
}

/// A run of equal lines: where in the old, where in the new, how many.
type Block = (usize, usize, usize);

/// Ratcliff and Obershelp's: the longest run, and the same to its left and right.
fn matching(a: &[&str], b: &[&str], blocks: &mut Vec<Block>) {
    let places = places(b);
    let mut todo = vec![(0, a.len(), 0, b.len())];
    while let Some((a_low, a_high, b_low, b_high)) = todo.pop() {
        let (at_a, at_b, length) = longest(a, b, &places, (a_low, a_high, b_low, b_high));
        if length > 0 {
            blocks.push((at_a, at_b, length));
            todo.push((a_low, at_a, b_low, at_b));
            todo.push((at_a + length, a_high, at_b + length, b_high));
        }
    }
    blocks.sort_unstable();
    blocks.push((a.len(), b.len(), 0));
}

/// Lines that are all over a long text say nothing about where a run is.
fn places<'a>(b: &[&'a str]) -> HashMap<&'a str, Vec<usize>> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, line) in b.iter().enumerate() {
        places.entry(line).or_default().push(at);
    }
    if b.len() >= 200 {
        places.retain(|_, at| at.len() <= b.len() / 100 + 1);
    }
    places
}

fn longest(
    a: &[&str],
    b: &[&str],
    places: &HashMap<&str, Vec<usize>>,
    (a_low, a_high, b_low, b_high): (usize, usize, usize, usize),
) -> Block {
    let mut best = (a_low, b_low, 0);
    let mut lengths: HashMap<usize, usize> = HashMap::new();
    for (i, line) in a.iter().enumerate().take(a_high).skip(a_low) {
        let mut next = HashMap::new();
        for &j in places.get(line).into_iter().flatten() {
            if j < b_low {
                continue;
            }
            if j >= b_high {
                break;
            }
            let length = j.checked_sub(1).and_then(|j| lengths.get(&j)).unwrap_or(&0) + 1;
            next.insert(j, length);
            if length > best.2 {
                best = (i + 1 - length, j + 1 - length, length);
            }
        }
        lengths = next;
    }
    while best.0 > a_low && best.1 > b_low && a[best.0 - 1] == b[best.1 - 1] {
        best = (best.0 - 1, best.1 - 1, best.2 + 1);
    }
    while best.0 + best.2 < a_high
        && best.1 + best.2 < b_high
        && a[best.0 + best.2] == b[best.1 + best.2]
    {
        best.2 += 1;
    }
    best
}

fn unified(a: &[&str], b: &[&str], blocks: &[Block]) -> String {
    // Lines with their sign, and where they are in the old and the new text.
    let mut lines: Vec<(char, &str, usize, usize)> = Vec::new();
    let (mut i, mut j) = (0, 0);
    for &(at_a, at_b, length) in blocks {
        lines.extend((i..at_a).map(|i| ('-', a[i], i, j)));
        lines.extend((j..at_b).map(|j| ('+', b[j], at_a, j)));
        lines.extend((0..length).map(|k| (' ', a[at_a + k], at_a + k, at_b + k)));
        (i, j) = (at_a + length, at_b + length);
    }
    let mut shown = vec![false; lines.len()];
    for (at, _) in lines.iter().enumerate().filter(|(_, line)| line.0 != ' ') {
        let end = (at + CONTEXT + 1).min(lines.len());
        shown[at.saturating_sub(CONTEXT)..end].fill(true);
    }
    let mut out = String::new();
    let mut at = 0;
    while at < lines.len() {
        if !shown[at] {
            at += 1;
            continue;
        }
        let end = (at..lines.len())
            .find(|at| !shown[*at])
            .unwrap_or(lines.len());
        let hunk = &lines[at..end];
        let count = |other| hunk.iter().filter(|line| line.0 != other).count();
        let (old, new) = (range(hunk[0].2, count('+')), range(hunk[0].3, count('-')));
        writeln!(out, "@@ -{old} +{new} @@").expect("a String takes all");
        for (sign, line, ..) in hunk {
            if out.len() >= MAX_SHOWN {
                out.push_str("...\n");
                return out;
            }
            out.push(*sign);
            out.push_str(line);
            out.push('\n');
        }
        at = end;
    }
    out
}

fn range(start: usize, length: usize) -> String {
    match length {
        0 => format!("{start},0"),
        1 => format!("{}", start + 1),
        _ => format!("{},{length}", start + 1),
    }
}
