//! The text form. Tokens and errors are upstream's, down to which token an error names.

use std::collections::BTreeSet;

use super::requirement::wrong_key;
use super::{Expected, Operator, ParseError, Requirement};
use crate::field::Path;

pub(super) fn parse(text: &str) -> Result<Vec<Requirement>, ParseError> {
    let mut parser = Parser {
        rest: text,
        next: "",
    };
    parser.advance();
    parser.requirements()
}

struct Parser<'a> {
    rest: &'a str,
    /// Empty at the end; words are those of neither space nor symbols.
    next: &'a str,
}

const SYMBOLS: [char; 7] = ['=', '!', '(', ')', ',', '>', '<'];
const SPACE: [char; 4] = [' ', '\t', '\r', '\n'];

fn is_word(token: &str) -> bool {
    !token.is_empty() && !token.starts_with(SYMBOLS)
}

impl<'a> Parser<'a> {
    /// Gives the token and moves on.
    fn advance(&mut self) -> &'a str {
        let rest = self.rest.trim_start_matches(SPACE);
        let length = if rest.starts_with("==") || rest.starts_with("!=") {
            2
        } else if rest.starts_with(SYMBOLS) {
            1
        } else {
            let end = |it: char| SYMBOLS.contains(&it) || SPACE.contains(&it);
            rest.find(end).unwrap_or(rest.len())
        };
        let (token, rest) = rest.split_at(length);
        self.rest = rest;
        std::mem::replace(&mut self.next, token)
    }

    fn requirements(&mut self) -> Result<Vec<Requirement>, ParseError> {
        let mut all = Vec::new();
        loop {
            match self.next {
                "" => return Ok(all),
                it if it == "!" || is_word(it) => {}
                it => return Err(expected(it, Expected::Requirement)),
            }
            let one = self.requirement();
            all.push(one.map_err(|it| ParseError::Requirement(Box::new(it)))?);
            match self.advance() {
                "" => return Ok(all),
                "," if self.next == "!" || is_word(self.next) => {}
                "," => return Err(expected(self.next, Expected::IdentifierAfterComma)),
                it => return Err(expected(it, Expected::CommaOrEnd)),
            }
        }
    }

    fn requirement(&mut self) -> Result<Requirement, ParseError> {
        let mut key = self.advance();
        let absent = key == "!";
        if absent {
            key = self.advance();
        }
        if !is_word(key) {
            return Err(expected(key, Expected::Identifier));
        }
        if let Some(error) = wrong_key(Path::root(), key) {
            return Err(ParseError::Key(error));
        }
        if absent {
            // What follows is for the caller to refuse.
            return Requirement::new(key, Operator::DoesNotExist, Vec::new());
        }
        if let "" | "," = self.next {
            return Requirement::new(key, Operator::Exists, Vec::new());
        }
        let operator = match self.advance() {
            "in" => Operator::In,
            "notin" => Operator::NotIn,
            "=" => Operator::Equals,
            "==" => Operator::DoubleEquals,
            "!=" => Operator::NotEquals,
            ">" => Operator::GreaterThan,
            "<" => Operator::LessThan,
            it => return Err(expected(it, Expected::Operator)),
        };
        let values = match operator {
            Operator::In | Operator::NotIn => self.values()?,
            _ => vec![self.value()?.into()],
        };
        Requirement::new(key, operator, values)
    }

    fn value(&mut self) -> Result<&'a str, ParseError> {
        match self.next {
            "" | "," => Ok(""),
            it if is_word(it) => Ok(self.advance()),
            it => Err(expected(it, Expected::Identifier)),
        }
    }

    /// Values are a set; between commas, and where nothing else is, stands the empty value.
    fn values(&mut self) -> Result<Vec<String>, ParseError> {
        match self.advance() {
            "(" => {}
            it => return Err(ParseError::NoParenthesis(it.to_owned())),
        }
        match self.next {
            ")" => {
                self.advance();
                return Ok(vec![String::new()]);
            }
            it if it == "," || is_word(it) => {}
            it => return Err(expected(it, Expected::FirstValue)),
        }
        let mut values = BTreeSet::new();
        loop {
            match self.advance() {
                "," => {
                    if values.is_empty() || matches!(self.next, ")" | ",") {
                        values.insert("");
                    }
                }
                it if is_word(it) => {
                    values.insert(it);
                    if !matches!(self.next, "," | ")") {
                        return Err(expected(self.next, Expected::CommaOrParenthesis));
                    }
                }
                it => return Err(expected(it, Expected::CommaOrIdentifier)),
            }
            if self.next == ")" {
                self.advance();
                return Ok(values.into_iter().map(Into::into).collect());
            }
        }
    }
}

fn expected(found: &str, expected: Expected) -> ParseError {
    ParseError::Unexpected {
        found: found.to_owned(),
        expected,
    }
}
