//! Small expressions and short texts: the `regex` crate, given the same expression in its own syntax.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};

use regex::Regex;

use super::class::{Class, Item};
use super::parse::{Look, Node};

/// Longer texts are not matched by it: it does not count its steps.
pub(super) const LONGEST: usize = 16 << 10;
/// Larger expressions neither.
const MAX_STATES: usize = 512;
/// Of what they compile to, and of what is built while they match: for each thread that uses it.
const MAX_COMPILED: usize = 32 << 10;
const MAX_CACHE: usize = 64 << 10;
/// Nor more of them in the whole process: together they take no more than some hundred megabytes.
const MAX_LIVE: usize = 1_000;

static LIVE: AtomicUsize = AtomicUsize::new(0);

#[derive(Debug)]
pub(super) struct Fast(Regex);

impl Fast {
    pub(super) fn new(node: &Node, states: usize) -> Option<Self> {
        if states > MAX_STATES || weight(node) > MAX_STATES {
            return None;
        }
        let taken = LIVE.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |it| {
            (it < MAX_LIVE).then_some(it + 1)
        });
        taken.ok()?;
        let mut text = String::new();
        write(node, &mut text);
        let compiled = regex::RegexBuilder::new(&text)
            .size_limit(MAX_COMPILED)
            .dfa_size_limit(MAX_CACHE)
            .build();
        let Ok(regex) = compiled else {
            LIVE.fetch_sub(1, Ordering::Relaxed);
            return None;
        };
        Some(Self(regex))
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

impl Drop for Fast {
    fn drop(&mut self) {
        LIVE.fetch_sub(1, Ordering::Relaxed);
    }
}

/// About how much the automaton of bytes has for each state: large sets of characters, and cases of any, make it large.
fn weight(node: &Node) -> usize {
    match node {
        Node::Class(class, fold) => {
            let foreign = |item: &Item| match item {
                Item::Range(_, to) => usize::from(!to.is_ascii()),
                Item::Named { name, .. } => usize::from(!name.is_empty()),
            };
            let foreign: usize = class.items.iter().map(foreign).sum();
            1 + foreign * if *fold { MAX_STATES } else { MAX_STATES / 4 }
        }
        Node::Any(_) => 8,
        Node::Empty | Node::Char(..) | Node::Look(_) => 1,
        Node::Cat(all) | Node::Alternate(all) => {
            all.iter().map(weight).fold(0, usize::saturating_add)
        }
        Node::Repeat(inner, min, max) => {
            let times = max.unwrap_or(min + 1).max(1);
            weight(inner).saturating_mul(times)
        }
    }
}

fn write(node: &Node, out: &mut String) {
    let done = match node {
        Node::Empty => Ok(()),
        Node::Char(it, fold) => {
            let i = if *fold { "i" } else { "" };
            write!(out, "(?{i}:\\x{{{:X}}})", u32::from(*it))
        }
        Node::Any(true) => out.write_str("(?s:.)"),
        Node::Any(false) => out.write_str("(?-s:.)"),
        Node::Class(class, fold) => {
            write_class(class, *fold, out);
            Ok(())
        }
        Node::Look(look) => out.write_str(match look {
            Look::BeginText => "\\A",
            Look::EndText => "\\z",
            Look::BeginLine => "(?m:^)",
            Look::EndLine => "(?m:$)",
            Look::Word => "(?-u:\\b)",
            Look::NotWord => "(?-u:\\B)",
        }),
        Node::Cat(all) => {
            for it in all {
                write(it, out);
            }
            Ok(())
        }
        Node::Alternate(all) => {
            out.push_str("(?:");
            for (index, it) in all.iter().enumerate() {
                out.push_str(if index > 0 { "|" } else { "" });
                write(it, out);
            }
            out.write_str(")")
        }
        Node::Repeat(inner, min, max) => {
            out.push_str("(?:");
            write(inner, out);
            match max {
                Some(max) => write!(out, "){{{min},{max}}}"),
                None => write!(out, "){{{min},}}"),
            }
        }
    };
    done.expect("a String takes all");
}

fn write_class(class: &Class, fold: bool, out: &mut String) {
    let code = |it: char| format!("\\x{{{:X}}}", u32::from(it));
    out.push_str(if fold { "(?i:" } else { "(?:" });
    out.push_str(if class.negated { "[^" } else { "[" });
    for item in &class.items {
        match item {
            Item::Range(from, to) => {
                let _ = write!(out, "{}-{}", code(*from), code(*to));
            }
            Item::Named {
                name,
                ranges,
                negated,
            } => {
                let not = if *negated { "^" } else { "" };
                if name.is_empty() {
                    let _ = write!(out, "[{not}");
                    for (from, to) in ranges.iter() {
                        let _ = write!(out, "{}-{}", code(*from), code(*to));
                    }
                    out.push(']');
                } else {
                    let _ = write!(out, "[{not}\\p{{{name}}}]");
                }
            }
        }
    }
    out.push_str("])");
}
