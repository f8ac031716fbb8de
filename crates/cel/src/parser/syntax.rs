//! What is wrong with text that does not parse, in ANTLR's words.
//!
//! This reads the text again as ANTLR's generated parser reads it, rule by rule, with its ways to recover from an error:
//! a token too many is skipped, a missing one is made up, and else tokens are skipped until something fits that an
//! outer rule waits for. What it recovers is only looked at for errors that cel-go reports when it visits the tree.

mod rules;
mod sets;

use crate::lexer::{Kind, Token};
use crate::source::{Issues, Location};
use sets::Set;

/// So many attempts to recover are made.
const MAX_RECOVERIES: usize = 30;
/// So many tokens are skipped in one attempt.
const MAX_SKIPPED: usize = 256;

pub(super) fn explain(text: &str, tokens: &[Token]) -> Issues {
    let mut issues = Issues::new(text);
    crate::lexer::tokens(text, &mut issues);
    let mut reader = Reader {
        text,
        tokens,
        next: 0,
        issues,
        follow: Vec::new(),
        recovering: false,
        last_error: None,
        error_states: Vec::new(),
        state: (0, 0),
        recoveries: 0,
        depth: 0,
    };
    reader.start();
    if reader.issues.is_empty() {
        // The fast parser has refused it, so something is wrong.
        reader
            .issues
            .report(text.len(), "Syntax error: unexpected input");
    }
    reader.issues
}

/// A rule gives up: what it would have waited for is for the rules around it.
#[derive(Debug)]
enum Halt {
    /// The error was reported; the rule that catches it recovers.
    Reported,
    /// Nothing more is read.
    Stop,
}

type Read<T = ()> = Result<T, Halt>;

/// A place in the rules: ANTLR calls it a state of the parser.
type State = (u32, u32);

struct Reader<'a> {
    text: &'a str,
    tokens: &'a [Token],
    next: usize,
    issues: Issues,
    /// What can follow each of the rules that are being read.
    follow: Vec<Set>,
    /// Errors are not told again until a token fits.
    recovering: bool,
    last_error: Option<usize>,
    /// The places in the rules where errors were found since a token fitted last.
    error_states: Vec<State>,
    state: State,
    recoveries: usize,
    depth: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Kind {
        self.tokens[self.next].kind
    }

    fn peek_at(&self, ahead: usize) -> Kind {
        let last = self.tokens.len() - 1;
        self.tokens[(self.next + ahead).min(last)].kind
    }

    fn token(&self) -> Token {
        self.tokens[self.next]
    }

    fn consume(&mut self) -> Token {
        let token = self.token();
        if token.kind != Kind::Eof {
            self.next += 1;
        }
        token
    }

    fn shown(&self, token: Token) -> String {
        if token.kind == Kind::Eof {
            return "'<EOF>'".to_owned();
        }
        let text = token.text(self.text);
        let text = text
            .replace('\n', "\\n")
            .replace('\r', "\\r")
            .replace('\t', "\\t");
        format!("'{text}'")
    }

    fn report(&mut self, message: impl std::fmt::Display) {
        if self.recovering {
            return;
        }
        self.recovering = true;
        let at = self.token().start as usize;
        self.issues.report(at, format!("Syntax error: {message}"));
    }

    fn matched(&mut self) -> Token {
        self.recovering = false;
        self.last_error = None;
        self.error_states.clear();
        self.consume()
    }

    /// Takes a token of a kind. One too many before it is skipped; if it is only missing, it is made up.
    #[track_caller]
    fn expect(&mut self, kind: Kind, after: Set) -> Read<Token> {
        self.enter();
        if self.peek() == kind {
            return Ok(self.matched());
        }
        self.attempt()?;
        // One token too many.
        if self.peek_at(1) == kind {
            self.unwanted(Set::of(kind));
            self.consume();
            return Ok(self.matched());
        }
        // One token missing: the current one is what would come behind it.
        let mut behind = after;
        if behind.has_end() {
            behind = behind.without_end().union(self.context());
        }
        if behind.contains(self.peek()) {
            let shown = self.shown(self.token());
            self.report(format!("missing {} at {shown}", kind.display()));
            return Ok(self.token());
        }
        self.mismatch(Set::of(kind))
    }

    #[track_caller]
    fn enter(&mut self) {
        let caller = std::panic::Location::caller();
        self.state = (caller.line(), caller.column());
    }

    fn attempt(&mut self) -> Read {
        if self.recoveries == MAX_RECOVERIES {
            self.recoveries += 1;
            self.recovering = false;
            self.report(format!(
                "error recovery attempt limit exceeded: {MAX_RECOVERIES}"
            ));
            return Err(Halt::Stop);
        }
        self.recoveries += 1;
        Ok(())
    }

    fn unwanted(&mut self, expected: Set) {
        let shown = self.shown(self.token());
        self.report(format!("extraneous input {shown} expecting {expected}"));
    }

    fn mismatch<T>(&mut self, expected: Set) -> Read<T> {
        let shown = self.shown(self.token());
        self.report(format!("mismatched input {shown} expecting {expected}"));
        Err(Halt::Reported)
    }

    /// No alternative begins with the tokens from the current one to another.
    #[track_caller]
    fn no_viable<T>(&mut self, ahead: usize) -> Read<T> {
        self.enter();
        if self.recovering {
            return Err(Halt::Reported);
        }
        self.recovering = true;
        let last = self.tokens[(self.next + ahead).min(self.tokens.len() - 1)];
        // Blanks between tokens belong to the input, characters that are no tokens do not.
        let mut text = String::new();
        let mut end = self.token().start as usize;
        for it in &self.tokens[self.next..=(self.next + ahead).min(self.tokens.len() - 1)] {
            let gap = self.text[end..it.start as usize].chars();
            text.extend(gap.filter(char::is_ascii_whitespace));
            text.push_str(it.text(self.text));
            end = it.end as usize;
        }
        let text = text
            .replace('\n', "\\n")
            .replace('\r', "\\r")
            .replace('\t', "\\t");
        let message = match text.strip_prefix('.') {
            // As older versions of cel-go had it.
            Some(word @ ("true" | "false" | "null")) => {
                format!("mismatched input '{word}' expecting IDENTIFIER")
            }
            _ => format!("no viable alternative at input '{text}'"),
        };
        let at = last.start as usize;
        self.issues.report(at, format!("Syntax error: {message}"));
        Err(Halt::Reported)
    }

    /// What the rules around this one wait for.
    fn context(&self) -> Set {
        let mut all = Set::default();
        for it in self.follow.iter().rev() {
            all = all.union(it.without_end());
            if !it.has_end() {
                return all;
            }
        }
        all.union(Set::of(Kind::Eof))
    }

    /// All that any rule around this one waits for.
    fn anywhere(&self) -> Set {
        self.follow
            .iter()
            .fold(Set::default(), |all, it| all.union(it.without_end()))
            .union(Set::of(Kind::Eof))
    }

    /// Looks at the current token before a part that must be there. One token too many is skipped.
    #[track_caller]
    fn sync(&mut self, expected: Set) -> Read {
        self.enter();
        if self.recovering || expected.contains(self.peek()) {
            return Ok(());
        }
        if expected.contains(self.peek_at(1)) {
            self.unwanted(expected);
            self.consume();
            self.recovering = false;
            return Ok(());
        }
        self.mismatch(expected)
    }

    /// As [`Self::sync`], behind one of several: all that does not fit is skipped.
    fn sync_repeated(&mut self, expected: Set) {
        if self.recovering || expected.contains(self.peek()) {
            return;
        }
        self.unwanted(expected);
        let all = expected.union(self.anywhere());
        while !all.contains(self.peek()) {
            self.consume();
        }
    }

    /// Skips tokens until one fits a rule around this one.
    fn recover(&mut self) -> Read {
        self.attempt()?;
        if self.last_error == Some(self.next) && self.error_states.contains(&self.state) {
            // No endless attempts at the same place.
            self.consume();
        }
        self.last_error = Some(self.next);
        self.error_states.push(self.state);
        let all = self.anywhere();
        let mut skipped = 0;
        while !all.contains(self.peek()) {
            if skipped >= MAX_SKIPPED {
                self.issues.report_at(
                    Location::NONE,
                    format!("error recovery token lookahead limit exceeded: {MAX_SKIPPED}"),
                );
                return Err(Halt::Stop);
            }
            skipped += 1;
            self.consume();
        }
        Ok(())
    }

    /// Reads a rule that something can follow, and recovers if it goes wrong.
    fn rule(&mut self, follow: Set, read: impl FnOnce(&mut Self) -> Read) -> Read {
        if self.depth > 250 * 12 {
            return Err(Halt::Stop);
        }
        self.depth += 1;
        self.follow.push(follow);
        let result = match read(self) {
            Err(Halt::Reported) => self.recover(),
            other => other,
        };
        self.follow.pop();
        self.depth -= 1;
        result
    }
}
