//! Sets of kinds of tokens.

use std::fmt;

use crate::lexer::Kind;

/// Kinds of tokens, and whether the rule may end.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Set(u64);

const END: u64 = 1 << 63;

impl Set {
    pub(super) const fn of(kind: Kind) -> Self {
        Self(1 << kind as u64)
    }

    pub(super) fn all(kinds: &[Kind]) -> Self {
        kinds
            .iter()
            .fold(Self(0), |all, it| all.union(Self::of(*it)))
    }

    /// The rule may also end.
    pub(super) fn or_end(self) -> Self {
        Self(self.0 | END)
    }

    pub(super) fn end() -> Self {
        Self(END)
    }

    pub(super) fn has_end(self) -> bool {
        self.0 & END != 0
    }

    pub(super) fn without_end(self) -> Self {
        Self(self.0 & !END)
    }

    pub(super) fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn contains(self, kind: Kind) -> bool {
        self.0 & (1 << kind as u64) != 0
    }
}

impl fmt::Display for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = KINDS
            .iter()
            .filter(|it| self.contains(**it))
            .map(|it| it.display())
            .collect();
        match &names[..] {
            [one] => f.write_str(one),
            all => write!(f, "{{{}}}", all.join(", ")),
        }
    }
}

/// In the order in which errors name them.
const KINDS: [Kind; 36] = [
    Kind::Eof,
    Kind::Equals,
    Kind::NotEquals,
    Kind::In,
    Kind::Less,
    Kind::LessEquals,
    Kind::GreaterEquals,
    Kind::Greater,
    Kind::And,
    Kind::Or,
    Kind::LBracket,
    Kind::RBracket,
    Kind::LBrace,
    Kind::RBrace,
    Kind::LParen,
    Kind::RParen,
    Kind::Dot,
    Kind::Comma,
    Kind::Minus,
    Kind::Exclam,
    Kind::Question,
    Kind::Colon,
    Kind::Plus,
    Kind::Star,
    Kind::Slash,
    Kind::Percent,
    Kind::True,
    Kind::False,
    Kind::Null,
    Kind::Float,
    Kind::Int,
    Kind::Uint,
    Kind::String,
    Kind::Bytes,
    Kind::Ident,
    Kind::EscIdent,
];
