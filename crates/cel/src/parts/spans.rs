//! Where the nodes of an expression begin and end. The parser keeps only the place that errors point at; the rest
//! follows from the tokens around it.

use std::ops::Range;

use crate::ast::{Ast, Expr, Id, operator};
use crate::lexer::{self, Kind, Token};
use crate::source::Issues;

pub(super) struct Spans<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    /// The token that closes or opens what a token opens or closes; of all others, themselves.
    partner: Vec<usize>,
}

/// The first and the last token.
type Span = (usize, usize);

impl<'a> Spans<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut tokens = lexer::tokens(text, &mut Issues::new(text));
        tokens.retain(|it| it.kind != Kind::Eof);
        let mut partner: Vec<usize> = (0..tokens.len()).collect();
        let mut open = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            match token.kind {
                Kind::LParen | Kind::LBracket | Kind::LBrace => open.push(at),
                Kind::RParen | Kind::RBracket | Kind::RBrace => {
                    if let Some(before) = open.pop() {
                        (partner[before], partner[at]) = (at, before);
                    }
                }
                _ => {}
            }
        }
        Self {
            text,
            tokens,
            partner,
        }
    }

    /// The bytes of a node that the author of the expression wrote.
    pub(super) fn of(&self, ast: &Ast, id: Id) -> Range<usize> {
        let (first, last) = self.span(ast, id);
        let start = self.tokens.get(first).map_or(0, |it| it.start as usize);
        let end = (self.tokens.get(last)).map_or(self.text.len(), |it| it.end as usize);
        start..end.max(start)
    }

    fn kind(&self, at: Option<usize>) -> Kind {
        at.and_then(|at| self.tokens.get(at))
            .map_or(Kind::Eof, |it| it.kind)
    }

    fn span(&self, ast: &Ast, id: Id) -> Span {
        let place = ast.nodes[id.index()].at;
        let at = self.tokens.partition_point(|it| it.start < place);
        let close = self.partner.get(at).copied().unwrap_or(at);
        match (self.kind(Some(at)), ast.expr(id)) {
            // A call, also of a macro.
            (Kind::LParen, _) => (self.begin_of_member(at.saturating_sub(1)), close),
            (Kind::Dot, Expr::Select { .. } | Expr::Call { .. }) => {
                let is_optional = self.kind(Some(at + 1)) == Kind::Question;
                let begin = self.begin_of_member(at.saturating_sub(1));
                (begin, at + 1 + usize::from(is_optional))
            }
            (Kind::LBracket, Expr::Call { .. }) => {
                (self.begin_of_member(at.saturating_sub(1)), close)
            }
            (Kind::LBracket | Kind::LBrace, _) => (self.begin_of_name(at), close),
            (_, Expr::Call { function, args, .. }) => match &args[..] {
                [one] => {
                    let (first, last) = self.span(ast, *one);
                    let own = self.kind(Some(at));
                    let (_, last) = self.widened((first, last), |(first, _)| {
                        self.kind(first.checked_sub(1)) == own
                    });
                    (at, last)
                }
                [left, .., right] => {
                    let (first, _) = self.widened(self.span(ast, *left), |it| it.1 + 1 == at);
                    let is_conditional = &**function == operator::CONDITIONAL;
                    let (_, last) = self.widened(self.span(ast, *right), |(first, _)| {
                        if is_conditional {
                            self.kind(first.checked_sub(1)) == Kind::Colon
                        } else {
                            first == at + 1
                        }
                    });
                    (first, last)
                }
                [] => (at, at),
            },
            (Kind::Minus, Expr::Literal(_)) => (at, at + 1),
            (Kind::Ident, Expr::Ident(name)) if name.starts_with('.') => (at.saturating_sub(1), at),
            _ => (at, at),
        }
    }

    /// With the parentheses around it, until something else is beside it.
    fn widened(&self, (mut first, mut last): Span, is_enough: impl Fn(Span) -> bool) -> Span {
        while !is_enough((first, last))
            && self.kind(first.checked_sub(1)) == Kind::LParen
            && self.kind(Some(last + 1)) == Kind::RParen
        {
            first -= 1;
            last += 1;
        }
        (first, last)
    }

    fn ends_value(&self, at: Option<usize>) -> bool {
        matches!(
            self.kind(at),
            Kind::Ident
                | Kind::EscIdent
                | Kind::RParen
                | Kind::RBracket
                | Kind::RBrace
                | Kind::String
                | Kind::Bytes
                | Kind::Int
                | Kind::Uint
                | Kind::Float
                | Kind::True
                | Kind::False
                | Kind::Null
        )
    }

    /// The first token of a value, and of what it is selected from, whose last token is given.
    fn begin_of_member(&self, mut last: usize) -> usize {
        loop {
            let open = self.partner.get(last).copied().unwrap_or(last);
            let mut first = open;
            match self.kind(Some(last)) {
                Kind::RParen if self.kind(open.checked_sub(1)) == Kind::Ident => first = open - 1,
                Kind::RBracket if open > 0 && self.ends_value(Some(open - 1)) => {
                    last = open - 1;
                    continue;
                }
                Kind::RBrace => first = self.begin_of_name(open),
                _ => {}
            }
            let mut before = first.checked_sub(1);
            if self.kind(before) == Kind::Question {
                before = before.and_then(|it| it.checked_sub(1));
            }
            if self.kind(before) != Kind::Dot {
                return first;
            }
            match before.and_then(|it| it.checked_sub(1)) {
                Some(value) if self.ends_value(Some(value)) => last = value,
                // A name from the root.
                _ => return first - 1,
            }
        }
    }

    /// The first token of the name of a type before a brace.
    fn begin_of_name(&self, brace: usize) -> usize {
        let mut first = brace;
        while self.kind(Some(brace)) == Kind::LBrace
            && let Some(before) = first.checked_sub(1)
            && matches!(self.kind(Some(before)), Kind::Ident | Kind::Dot)
            && (first == brace || self.kind(Some(before)) != self.kind(Some(first)))
        {
            first = before;
        }
        first
    }
}
