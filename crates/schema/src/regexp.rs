//! Go's regular expressions, as definitions use them for strings, with a cost that is bounded by their size.
//!
//! The syntax, what it means and the texts of errors are those of Go's `regexp`: `\d`, `\w`, `\s` and `\b` are about
//! ASCII, and a set of characters is one step, however many characters it has. The `regex` crate turns a set into
//! an automaton of bytes: `[\p{L}]{40}` takes it milliseconds and megabytes. So it is used for small expressions and
//! short texts only, where it is the faster one; all others are matched by a list of states, step by step.

mod class;
mod fast;
mod parse;
mod program;

use program::Program;

/// No longer expression is taken.
const MAX_TEXT: usize = 16 << 10;

#[derive(Debug)]
pub(crate) struct Regexp {
    program: Program,
    fast: Option<fast::Fast>,
}

impl Regexp {
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        let node = parse::parse(text)?;
        let program =
            Program::new(&node).ok_or_else(|| parse::error("expression too large", text))?;
        let fast = fast::Fast::new(&node, program.size());
        Ok(Self { program, fast })
    }

    /// Whether it is a regular expression. Compiles nothing.
    pub(crate) fn check(text: &str) -> Result<(), String> {
        let node = parse::parse(text)?;
        if program::fits(&node) {
            Ok(())
        } else {
            Err(parse::error("expression too large", text))
        }
    }

    /// How many states it has.
    pub(crate) fn size(&self) -> usize {
        self.program.size()
    }

    /// Whether it matches anywhere. Takes from the steps; when none are left the answer means nothing.
    pub(crate) fn is_match(&self, text: &str, steps: &mut usize) -> bool {
        match &self.fast {
            Some(fast) if text.len() <= fast::LONGEST => {
                *steps = steps.saturating_sub(text.len() / 64);
                fast.is_match(text)
            }
            _ => self.program.is_match(text, steps),
        }
    }
}

#[cfg(test)]
mod tests;
