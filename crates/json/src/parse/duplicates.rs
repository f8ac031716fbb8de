//! Where keys come more than once. A walk of its own, over text that is known to be JSON, so that those who write each
//! key once do not pay for paths.

use std::collections::HashSet;
use std::fmt::Write as _;

use super::Limits;
use super::parser::Parser;
use crate::Text;

/// Kubernetes' strict decoding stops counting here, too.
const MOST: usize = 100;
/// Long keys in each other must not make paths larger than the text they come from.
const MOST_BYTES: usize = 1 << 16;

pub(super) fn paths(text: &[u8], limits: Limits) -> Vec<String> {
    let Ok(mut parser) = Parser::new(text, limits) else {
        return Vec::new();
    };
    parser.next_token();
    let mut walk = Walk {
        start: parser.at,
        parser,
        path: String::new(),
        found: Vec::new(),
        bytes: 0,
    };
    // The text has been read before. Were it not JSON, the walk would end with what it has.
    walk.value();
    walk.found
}

struct Walk<'a> {
    parser: Parser<'a>,
    /// Of the outermost value.
    start: usize,
    path: String,
    found: Vec<String>,
    bytes: usize,
}

impl Walk<'_> {
    /// Nothing once it is over.
    fn value(&mut self) -> Option<()> {
        match self.parser.next_token()? {
            b'{' => self.object(),
            b'[' => self.array(),
            b'"' => self.string().map(drop),
            _ => {
                while let Some(b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'E') =
                    self.parser.peek()
                {
                    self.parser.at += 1;
                }
                Some(())
            }
        }
    }

    fn string(&mut self) -> Option<Text> {
        if let Some(plain) = self.parser.plain_string() {
            return Some(plain.into());
        }
        self.parser.unescape()?;
        Some(self.parser.scratch.unescaped.as_str().into())
    }

    fn object(&mut self) -> Option<()> {
        let (mut seen, mut told) = (HashSet::new(), HashSet::new());
        let length = self.path.len();
        let outermost = self.parser.at == self.start;
        loop {
            self.parser.at += 1;
            if self.parser.next_token()? == b'}' {
                break;
            }
            let key = self.string()?;
            self.parser.next_token()?;
            self.parser.at += 1;
            if !outermost {
                self.path.push('.');
            }
            self.path.push_str(&key);
            if !seen.insert(key.clone()) && told.insert(key) && !self.found.contains(&self.path) {
                self.found.push(self.path.clone());
                self.bytes += self.path.len();
                if self.found.len() == MOST || self.bytes > MOST_BYTES {
                    return None;
                }
            }
            self.value()?;
            self.path.truncate(length);
            if self.parser.next_token()? == b'}' {
                break;
            }
        }
        self.parser.at += 1;
        Some(())
    }

    fn array(&mut self) -> Option<()> {
        let length = self.path.len();
        let mut index = 0;
        loop {
            self.parser.at += 1;
            if self.parser.next_token()? == b']' {
                break;
            }
            write!(self.path, "[{index}]").expect("a String takes all");
            self.value()?;
            self.path.truncate(length);
            index += 1;
            if self.parser.next_token()? == b']' {
                break;
            }
        }
        self.parser.at += 1;
        Some(())
    }
}
