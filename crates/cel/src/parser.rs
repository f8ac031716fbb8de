//! Text to [`Ast`]: a recursive descent over cel-go's grammar that expands macros on the way.
//!
//! The limits are cel-go's. Text that does not parse is read again by [`syntax`], which is slower and knows how
//! ANTLR words its errors.

mod literal;
mod macros;
mod primary;
mod syntax;

use std::sync::Arc;

use crate::ast::{Ast, Expr, Id, Name, Node, operator};
use crate::lexer::{self, Kind, Token};
use crate::source::{Issues, Location};

pub(crate) use macros::Macros;
pub(crate) use primary::RESERVED;

const MAX_CODE_POINTS: usize = 100_000;
const MAX_DEPTH: usize = 250;

/// Which syntax an environment knows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    pub(crate) macros: Macros,
    /// `a.?b`, `a[?b]`, `{?k: v}` and the like.
    pub(crate) optional_syntax: bool,
}

pub(crate) fn parse(text: &str, options: Options) -> Result<Ast, Issues> {
    let mut issues = Issues::new(text);
    let size = text.chars().count();
    if size > MAX_CODE_POINTS {
        let message = format!(
            "expression code point size exceeds limit: size: {size}, limit {MAX_CODE_POINTS}"
        );
        issues.report_at(Location::NONE, message);
        return Err(issues);
    }
    let tokens = lexer::tokens(text, &mut issues);
    let mut parser = Parser::new(text, &tokens, options, issues);
    let root = match parser.start() {
        Ok(root) => root,
        Err(Stop::Depth(message)) => {
            parser.issues.report_at(Location::NONE, message);
            return Err(parser.issues);
        }
        Err(Stop::Syntax) => return Err(syntax::explain(text, &tokens)),
    };
    if !parser.issues.is_empty() {
        return Err(parser.issues);
    }
    Ok(Ast {
        text: Arc::from(text),
        nodes: parser.nodes,
        root,
    })
}

/// Why parsing cannot go on.
enum Stop {
    Syntax,
    Depth(String),
}

type Parsed<T = Id> = Result<T, Stop>;

struct Parser<'a> {
    text: &'a str,
    tokens: &'a [Token],
    next: usize,
    nodes: Vec<Node>,
    issues: Issues,
    options: Options,
    /// How deep the rules `expr`, `relation`, `calc` and `member` of the grammar are nested.
    depth: [usize; 4],
    /// How many nodes that cel-go's visitor counts are nested in what was parsed last.
    height: usize,
}

#[derive(Clone, Copy)]
enum Rule {
    Expr,
    Relation,
    Calc,
    Member,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, tokens: &'a [Token], options: Options, issues: Issues) -> Self {
        Self {
            text,
            tokens,
            next: 0,
            nodes: Vec::with_capacity(tokens.len()),
            issues,
            options,
            depth: [0; 4],
            height: 0,
        }
    }

    fn start(&mut self) -> Parsed {
        let expr = self.expr()?;
        self.expect(Kind::Eof)?;
        Ok(expr)
    }

    fn peek(&self) -> Kind {
        self.tokens[self.next].kind
    }

    fn peek_at(&self, ahead: usize) -> Kind {
        let last = self.tokens.len() - 1;
        self.tokens[(self.next + ahead).min(last)].kind
    }

    fn take(&mut self) -> Token {
        let token = self.tokens[self.next];
        if token.kind != Kind::Eof {
            self.next += 1;
        }
        token
    }

    fn take_if(&mut self, kind: Kind) -> Option<Token> {
        (self.peek() == kind).then(|| self.take())
    }

    fn expect(&mut self, kind: Kind) -> Parsed<Token> {
        if self.peek() == kind {
            Ok(self.take())
        } else {
            Err(Stop::Syntax)
        }
    }

    fn add(&mut self, at: u32, expr: Expr) -> Id {
        let id = Id(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(Node { expr, at });
        id
    }

    fn report(&mut self, at: u32, message: impl Into<String>) -> Id {
        self.issues.report(at as usize, message);
        self.add(at, Expr::Unspecified)
    }

    fn name(&self, token: Token) -> Name {
        Arc::from(token.text(self.text))
    }

    fn enter(&mut self, rule: Rule) -> Parsed<()> {
        let depth = &mut self.depth[rule as usize];
        *depth += 1;
        if *depth > MAX_DEPTH {
            return Err(Stop::Depth(format!(
                "expression recursion limit exceeded: {MAX_DEPTH}"
            )));
        }
        Ok(())
    }

    /// What was parsed last is a node that cel-go's visitor counts, above others of these heights.
    fn raise(&mut self, below: usize) -> Parsed<()> {
        self.height = self.height.max(below) + 1;
        if self.height > MAX_DEPTH {
            return Err(Stop::Depth("max recursion depth exceeded".to_owned()));
        }
        Ok(())
    }

    fn leave(&mut self, rule: Rule) {
        self.depth[rule as usize] -= 1;
    }

    /// `a ? b : c`, and all that binds tighter.
    fn expr(&mut self) -> Parsed {
        self.enter(Rule::Expr)?;
        let mut result = self.logic(Kind::Or)?;
        if let Some(op) = self.take_if(Kind::Question) {
            let mut height = self.height;
            let yes = self.logic(Kind::Or)?;
            height = height.max(self.height);
            self.expect(Kind::Colon)?;
            let no = self.expr()?;
            self.raise(height)?;
            result = self.call(op.start, operator::CONDITIONAL, vec![result, yes, no]);
        }
        self.leave(Rule::Expr);
        Ok(result)
    }

    /// `a || b || c` and `a && b && c` become balanced trees.
    fn logic(&mut self, kind: Kind) -> Parsed {
        let (function, inner) = if kind == Kind::Or {
            (operator::OR, Kind::And)
        } else {
            (operator::AND, Kind::Equals)
        };
        let term = |parser: &mut Self| {
            if inner == Kind::And {
                parser.logic(inner)
            } else {
                parser.relation()
            }
        };
        let first = term(self)?;
        if self.peek() != kind {
            return Ok(first);
        }
        let mut terms = vec![first];
        let mut ops = Vec::new();
        let mut height = self.height;
        while let Some(op) = self.take_if(kind) {
            terms.push(term(self)?);
            ops.push(op.start);
            height = height.max(self.height);
        }
        self.height = height;
        Ok(self.balanced(&Name::from(function), &terms, &ops, 0, ops.len() - 1))
    }

    fn balanced(&mut self, function: &Name, terms: &[Id], ops: &[u32], lo: usize, hi: usize) -> Id {
        let mid = usize::midpoint(lo, hi + 1);
        let left = if mid == lo {
            terms[mid]
        } else {
            self.balanced(function, terms, ops, lo, mid - 1)
        };
        let right = if mid == hi {
            terms[mid + 1]
        } else {
            self.balanced(function, terms, ops, mid + 1, hi)
        };
        self.add(
            ops[mid],
            Expr::Call {
                function: function.clone(),
                target: None,
                args: vec![left, right],
            },
        )
    }

    fn relation(&mut self) -> Parsed {
        self.enter(Rule::Relation)?;
        let mut left = self.calc(0)?;
        while let Some(function) = relation_operator(self.peek()) {
            let op = self.take();
            // The right side is a relation of its own, with nothing but a calc in it.
            self.enter(Rule::Relation)?;
            let height = self.height;
            let right = self.calc(0)?;
            self.leave(Rule::Relation);
            self.raise(height)?;
            left = self.call(op.start, function, vec![left, right]);
        }
        self.leave(Rule::Relation);
        Ok(left)
    }

    /// `*` binds tighter than `+`; both to the left.
    fn calc(&mut self, min: u8) -> Parsed {
        self.enter(Rule::Calc)?;
        let mut left = self.unary()?;
        while let Some((function, precedence)) = calc_operator(self.peek())
            && precedence >= min
        {
            let op = self.take();
            let height = self.height;
            let right = self.calc(precedence + 1)?;
            self.raise(height)?;
            left = self.call(op.start, function, vec![left, right]);
        }
        self.leave(Rule::Calc);
        Ok(left)
    }

    /// An even number of `!` or `-` is none at all. A single `-` before a number belongs to the number.
    fn unary(&mut self) -> Parsed {
        let kind = self.peek();
        let function = match kind {
            Kind::Exclam => operator::NOT,
            Kind::Minus if !matches!(self.peek_at(1), Kind::Int | Kind::Float) => operator::NEGATE,
            _ => return self.member(),
        };
        let first = self.take();
        let mut count = 1;
        while self.take_if(kind).is_some() {
            count += 1;
        }
        let operand = self.member()?;
        if count % 2 == 0 {
            return Ok(operand);
        }
        Ok(self.call(first.start, function, vec![operand]))
    }

    fn call(&mut self, at: u32, function: &str, args: Vec<Id>) -> Id {
        self.add(
            at,
            Expr::Call {
                function: Arc::from(function),
                target: None,
                args,
            },
        )
    }
}

fn relation_operator(kind: Kind) -> Option<&'static str> {
    Some(match kind {
        Kind::Equals => operator::EQUALS,
        Kind::NotEquals => operator::NOT_EQUALS,
        Kind::In => operator::IN,
        Kind::Less => "_<_",
        Kind::LessEquals => "_<=_",
        Kind::GreaterEquals => "_>=_",
        Kind::Greater => "_>_",
        _ => return None,
    })
}

fn calc_operator(kind: Kind) -> Option<(&'static str, u8)> {
    Some(match kind {
        Kind::Plus => (operator::ADD, 0),
        Kind::Minus => ("_-_", 0),
        Kind::Star => ("_*_", 1),
        Kind::Slash => ("_/_", 1),
        Kind::Percent => ("_%_", 1),
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
