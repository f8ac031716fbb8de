//! Members and primaries: identifiers, selections, calls, lists, maps and messages.

use std::sync::Arc;

use super::{Parsed, Parser, Rule, Stop};
use crate::ast::{Element, Entry, Expr, Field, Id, Literal, Name, operator};
use crate::lexer::{Kind, Token};

/// Words that are no names of variables or functions.
pub(crate) const RESERVED: &[&str] = &[
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

impl Parser<'_> {
    pub(super) fn member(&mut self) -> Parsed {
        self.enter(Rule::Member)?;
        let mut operand = self.primary()?;
        loop {
            let height = self.height;
            operand = match self.peek() {
                Kind::Dot => self.selection(operand)?,
                Kind::LBracket => self.index(operand)?,
                _ => break,
            };
            self.raise(height)?;
        }
        self.leave(Rule::Member);
        Ok(operand)
    }

    /// `a.b`, `a.?b`, `a.b(...)`.
    fn selection(&mut self, operand: Id) -> Parsed {
        let dot = self.take();
        if self.peek() == Kind::Ident && self.peek_at(1) == Kind::LParen {
            let function = self.take();
            let function = self.name(function);
            let open = self.take();
            let args = self.args()?;
            return Ok(self.call_or_macro(open.start, function, Some(operand), args));
        }
        let optional = self.take_if(Kind::Question).is_some();
        let field = self.take();
        let name = self.field_name(field)?;
        if !optional {
            return Ok(self.add(
                dot.start,
                Expr::Select {
                    operand,
                    field: name,
                    test_only: false,
                },
            ));
        }
        if !self.options.optional_syntax {
            return Ok(self.report(dot.start, "unsupported syntax '.?'"));
        }
        let field = self.add(field.start, Expr::Literal(Literal::String(name)));
        Ok(self.call(dot.start, operator::OPT_SELECT, vec![operand, field]))
    }

    /// `` a.b `` or `` a.`b-c` ``.
    fn field_name(&mut self, token: Token) -> Parsed<Name> {
        match token.kind {
            Kind::Ident => Ok(self.name(token)),
            Kind::EscIdent => {
                let text = token.text(self.text);
                Ok(Arc::from(&text[1..text.len() - 1]))
            }
            _ => Err(Stop::Syntax),
        }
    }

    fn index(&mut self, operand: Id) -> Parsed {
        let open = self.take();
        let optional = self.take_if(Kind::Question).is_some();
        let index = self.expr()?;
        self.expect(Kind::RBracket)?;
        if optional && !self.options.optional_syntax {
            return Ok(self.report(open.start, "unsupported syntax '[?'"));
        }
        let function = if optional {
            operator::OPT_INDEX
        } else {
            operator::INDEX
        };
        Ok(self.call(open.start, function, vec![operand, index]))
    }

    /// What stands between parentheses, behind the opening one.
    fn args(&mut self) -> Parsed<Vec<Id>> {
        let mut args = Vec::new();
        let mut height = 0;
        if self.take_if(Kind::RParen).is_none() {
            loop {
                args.push(self.expr()?);
                height = height.max(self.height);
                if self.take_if(Kind::Comma).is_none() {
                    self.expect(Kind::RParen)?;
                    break;
                }
            }
        }
        self.height = height;
        Ok(args)
    }

    fn primary(&mut self) -> Parsed {
        self.height = 0;
        match self.peek() {
            Kind::Dot | Kind::Ident => self.named(),
            Kind::LParen => {
                self.take();
                let inner = self.expr()?;
                self.expect(Kind::RParen)?;
                Ok(inner)
            }
            Kind::LBracket => self.list(),
            Kind::LBrace => self.map(),
            _ => self.literal(),
        }
    }

    /// An identifier, a call, or a message; each may begin with a point.
    fn named(&mut self) -> Parsed {
        if let Some(length) = self.message_name() {
            return self.message(length);
        }
        let dot = self.take_if(Kind::Dot);
        let token = self.expect(Kind::Ident)?;
        let start = dot.map_or(token.start, |it| it.start);
        let text = token.text(self.text);
        let name: Name = if dot.is_some() {
            Arc::from(format!(".{text}"))
        } else {
            Arc::from(text)
        };
        let reserved = RESERVED.contains(&text);
        if let Some(open) = self.take_if(Kind::LParen) {
            let args = self.args()?;
            if reserved {
                return Ok(self.report(start, format!("reserved identifier: {text}")));
            }
            return Ok(self.call_or_macro(open.start, name, None, args));
        }
        if reserved {
            return Ok(self.report(start, format!("reserved identifier: {text}")));
        }
        Ok(self.add(token.start, Expr::Ident(name)))
    }

    /// How many tokens the name of a message has, if one begins here.
    fn message_name(&self) -> Option<usize> {
        let mut length = usize::from(self.peek() == Kind::Dot);
        loop {
            if self.peek_at(length) != Kind::Ident {
                return None;
            }
            length += 1;
            match self.peek_at(length) {
                Kind::Dot => length += 1,
                Kind::LBrace => return Some(length),
                _ => return None,
            }
        }
    }

    fn message(&mut self, length: usize) -> Parsed {
        let mut name = String::new();
        for _ in 0..length {
            name.push_str(self.take().text(self.text));
        }
        let open = self.take();
        let mut fields = Vec::new();
        let mut height = 0;
        while !self.closes(Kind::RBrace, fields.is_empty())? {
            let optional = self.take_if(Kind::Question);
            let token = self.take();
            let name = self.field_name(token)?;
            let colon = self.expect(Kind::Colon)?;
            let value = self.expr()?;
            height = height.max(self.height);
            if let Some(mark) = optional.filter(|_| !self.options.optional_syntax) {
                self.report(mark.start, "unsupported syntax '?'");
                continue;
            }
            fields.push(Field {
                name,
                value,
                optional: optional.is_some(),
                at: colon.start,
            });
        }
        self.height = height;
        let name = Arc::from(name);
        Ok(self.add(open.start, Expr::Struct { name, fields }))
    }

    /// Takes what stands before an element, or the closing token. A comma may stand before that one.
    fn closes(&mut self, close: Kind, first: bool) -> Parsed<bool> {
        if self.take_if(close).is_some() {
            return Ok(true);
        }
        if first {
            if self.peek() == Kind::Comma && self.peek_at(1) == close {
                self.take();
                self.take();
                return Ok(true);
            }
            return Ok(false);
        }
        self.expect(Kind::Comma)?;
        Ok(self.take_if(close).is_some())
    }

    fn list(&mut self) -> Parsed {
        let open = self.take();
        let mut elements = Vec::new();
        let mut height = 0;
        while !self.closes(Kind::RBracket, elements.is_empty())? {
            let optional = self.take_if(Kind::Question);
            let value = self.expr()?;
            height = height.max(self.height);
            if let Some(mark) = optional.filter(|_| !self.options.optional_syntax) {
                self.report(mark.start, "unsupported syntax '?'");
            }
            elements.push(Element {
                value,
                optional: optional.is_some(),
            });
        }
        self.height = height;
        Ok(self.add(open.start, Expr::List(elements)))
    }

    fn map(&mut self) -> Parsed {
        let open = self.take();
        let mut entries = Vec::new();
        let mut height = 0;
        while !self.closes(Kind::RBrace, entries.is_empty())? {
            let optional = self.take_if(Kind::Question);
            let key = self.expr()?;
            height = height.max(self.height);
            self.expect(Kind::Colon)?;
            let value = self.expr()?;
            height = height.max(self.height);
            if let Some(mark) = optional.filter(|_| !self.options.optional_syntax) {
                self.report(mark.start, "unsupported syntax '?'");
            }
            entries.push(Entry {
                key,
                value,
                optional: optional.is_some(),
            });
        }
        self.height = height;
        Ok(self.add(open.start, Expr::Map(entries)))
    }
}
