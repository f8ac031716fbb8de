//! The rules of cel-go's grammar, as ANTLR reads them.

use super::sets::Set;
use super::{Read, Reader};
use crate::lexer::Kind;
use crate::parser::primary::RESERVED;

use Kind::{
    And, Bytes, Colon, Comma, Dot, Eof, EscIdent, Exclam, False, Float, Ident, Int, LBrace,
    LBracket, LParen, Minus, Null, Or, Question, RBrace, RBracket, RParen, String, True, Uint,
};

/// What a primary begins with.
fn primary_first() -> Set {
    Set::all(&[
        LBracket, LBrace, LParen, Dot, Minus, True, False, Null, Float, Int, Uint, String, Bytes,
        Ident,
    ])
}

/// What an expression begins with.
fn first() -> Set {
    primary_first().union(Set::of(Exclam))
}

fn is_relation(kind: Kind) -> bool {
    use Kind::{Equals, Greater, GreaterEquals, In, Less, LessEquals, NotEquals};
    matches!(
        kind,
        Equals | NotEquals | In | Less | LessEquals | GreaterEquals | Greater
    )
}

fn relations() -> Set {
    use Kind::{Equals, Greater, GreaterEquals, In, Less, LessEquals, NotEquals};
    Set::all(&[
        Equals,
        NotEquals,
        In,
        Less,
        LessEquals,
        GreaterEquals,
        Greater,
    ])
}

fn operators() -> Set {
    Set::all(&[Kind::Plus, Minus, Kind::Star, Kind::Slash, Kind::Percent])
}

fn fields() -> Set {
    Set::all(&[Question, Ident, EscIdent])
}

impl Reader<'_> {
    pub(super) fn start(&mut self) {
        let read = self.rule(Set::end(), |it| {
            it.expr(Set::of(Eof))?;
            it.expect(Eof, Set::default()).map(|_| ())
        });
        drop(read);
    }

    fn expr(&mut self, follow: Set) -> Read {
        self.rule(follow, |it| {
            it.disjunction(Set::of(Question).or_end())?;
            if it.peek() == Question {
                it.matched();
                it.disjunction(Set::of(Colon))?;
                it.expect(Colon, first())?;
                it.expr(Set::end())?;
            }
            Ok(())
        })
    }

    fn disjunction(&mut self, follow: Set) -> Read {
        self.rule(follow, |it| {
            it.conjunction(Set::of(Or).or_end())?;
            while it.peek() == Or {
                it.matched();
                it.conjunction(Set::of(Or).or_end())?;
            }
            Ok(())
        })
    }

    fn conjunction(&mut self, follow: Set) -> Read {
        self.rule(follow, |it| {
            it.relation(Set::of(And).or_end())?;
            while it.peek() == And {
                it.matched();
                it.relation(Set::of(And).or_end())?;
            }
            Ok(())
        })
    }

    fn relation(&mut self, follow: Set) -> Read {
        self.rule(follow, |it| {
            it.calc(relations().or_end())?;
            while is_relation(it.peek()) {
                it.matched();
                // The right side is a relation of its own, with nothing but a calc in it.
                it.rule(relations().or_end(), |it| it.calc(relations().or_end()))?;
            }
            Ok(())
        })
    }

    fn calc(&mut self, follow: Set) -> Read {
        self.rule(follow, |it| {
            it.unary(operators().or_end())?;
            while operators().contains(it.peek()) {
                it.matched();
                it.rule(operators().or_end(), |it| it.unary(operators().or_end()))?;
            }
            Ok(())
        })
    }

    fn unary(&mut self, follow: Set) -> Read {
        self.rule(follow, |it| {
            it.sync(first())?;
            let sign = it.peek();
            match sign {
                Minus if matches!(it.peek_at(1), Int | Float) => return it.member(Set::end()),
                Minus if !primary_first().contains(it.peek_at(1)) => return it.no_viable(1),
                Minus | Exclam => {}
                _ if !first().contains(sign) => return it.no_viable(0),
                _ => return it.member(Set::end()),
            }
            loop {
                it.matched();
                it.sync_repeated(Set::of(sign).union(primary_first()));
                if it.peek() != sign {
                    break;
                }
                // A minus is one more sign, or begins a number.
                if sign == Minus && !primary_first().contains(it.peek_at(1)) {
                    return it.no_viable(1);
                }
            }
            it.member(Set::end())
        })
    }

    fn member(&mut self, follow: Set) -> Read {
        let below = Set::all(&[Dot, LBracket]).or_end();
        self.rule(follow, |it| {
            it.primary(below)?;
            loop {
                match it.peek() {
                    Dot if it.peek_at(1) == Ident && it.peek_at(2) == LParen => {
                        it.matched();
                        it.matched();
                        it.args(below)?;
                    }
                    Dot if fields().contains(it.peek_at(1)) => {
                        it.matched();
                        if it.peek() == Question {
                            it.matched();
                        }
                        it.escape_ident(below)?;
                    }
                    Dot => return it.no_viable(1),
                    LBracket => {
                        it.matched();
                        it.sync(first().union(Set::of(Question)))?;
                        if it.peek() == Question {
                            it.matched();
                        }
                        it.expr(Set::of(RBracket))?;
                        it.expect(RBracket, below)?;
                    }
                    _ => return Ok(()),
                }
            }
        })
    }

    fn escape_ident(&mut self, follow: Set) -> Read {
        self.rule(follow, |it| {
            it.sync(Set::all(&[Ident, EscIdent]))?;
            if matches!(it.peek(), Ident | EscIdent) {
                it.matched();
                return Ok(());
            }
            it.no_viable(0)
        })
    }

    /// Arguments, from the opening parenthesis to the closing one.
    fn args(&mut self, after: Set) -> Read {
        self.matched();
        self.sync(first().union(Set::of(RParen)))?;
        if first().contains(self.peek()) {
            self.rule(Set::of(RParen), |it| {
                it.expr(Set::of(Comma).or_end())?;
                while it.peek() == Comma {
                    it.matched();
                    it.expr(Set::of(Comma).or_end())?;
                }
                Ok(())
            })?;
        }
        self.expect(RParen, after).map(|_| ())
    }

    fn primary(&mut self, follow: Set) -> Read {
        self.rule(follow, |it| {
            it.sync(primary_first())?;
            match it.peek() {
                Dot if it.peek_at(1) != Ident => it.no_viable(1),
                Dot | Ident => it.named(),
                LParen => {
                    it.matched();
                    it.expr(Set::of(RParen))?;
                    it.expect(RParen, Set::end()).map(|_| ())
                }
                LBracket => it.list(),
                LBrace => it.map(),
                kind if primary_first().contains(kind) => it.literal(),
                _ => it.no_viable(0),
            }
        })
    }

    fn named(&mut self) -> Read {
        let begin = self.token().start as usize;
        let mut length = usize::from(self.peek() == Dot) + 1;
        while self.peek_at(length) == Dot && self.peek_at(length + 1) == Ident {
            length += 2;
        }
        if self.peek_at(length) == LBrace {
            for _ in 0..=length {
                self.matched();
            }
            return self.message();
        }
        if self.peek() == Dot {
            self.matched();
        }
        let name = self.matched();
        if RESERVED.contains(&name.text(self.text)) {
            let message = format!("reserved identifier: {}", name.text(self.text));
            self.issues.report(begin, message);
        }
        if self.peek() == LParen {
            return self.args(Set::end());
        }
        Ok(())
    }

    /// The end of an aggregate, before which a comma may stand.
    fn close(&mut self, kind: Kind) -> Read {
        self.sync(Set::all(&[Comma, kind]))?;
        if self.peek() == Comma {
            self.matched();
        }
        self.expect(kind, Set::end()).map(|_| ())
    }

    fn message(&mut self) -> Read {
        self.sync(fields().union(Set::all(&[Comma, RBrace])))?;
        if fields().contains(self.peek()) {
            let begin = self.token().start as usize;
            self.rule(Set::all(&[Comma, RBrace]), |it| {
                it.field(begin)?;
                while it.peek() == Comma && fields().contains(it.peek_at(1)) {
                    it.matched();
                    it.field(begin)?;
                }
                Ok(())
            })?;
        }
        self.close(RBrace)
    }

    fn field(&mut self, list: usize) -> Read {
        let mut has_name = false;
        self.rule(Set::of(Colon), |it| {
            it.sync(fields())?;
            if it.peek() == Question {
                it.matched();
            }
            has_name = matches!(it.peek(), Ident | EscIdent);
            it.escape_ident(Set::end())
        })?;
        self.expect(Colon, first())?;
        self.expr(Set::of(Comma).or_end())?;
        if !has_name {
            // Found when cel-go walks the tree, which has a field with a value and without a name.
            self.issues.report(list, "unsupported ident kind");
        }
        Ok(())
    }

    fn optional_expr(&mut self, follow: Set) -> Read {
        self.rule(follow, |it| {
            it.sync(first().union(Set::of(Question)))?;
            if it.peek() == Question {
                it.matched();
            }
            it.expr(Set::end())
        })
    }

    fn list(&mut self) -> Read {
        self.matched();
        let begin = first().union(Set::of(Question));
        self.sync(begin.union(Set::all(&[Comma, RBracket])))?;
        if begin.contains(self.peek()) {
            self.rule(Set::all(&[Comma, RBracket]), |it| {
                it.optional_expr(Set::of(Comma).or_end())?;
                while it.peek() == Comma && begin.contains(it.peek_at(1)) {
                    it.matched();
                    it.optional_expr(Set::of(Comma).or_end())?;
                }
                Ok(())
            })?;
        }
        self.close(RBracket)
    }

    fn map(&mut self) -> Read {
        self.matched();
        let begin = first().union(Set::of(Question));
        self.sync(begin.union(Set::all(&[Comma, RBrace])))?;
        if begin.contains(self.peek()) {
            self.rule(Set::all(&[Comma, RBrace]), |it| {
                it.entry()?;
                while it.peek() == Comma && begin.contains(it.peek_at(1)) {
                    it.matched();
                    it.entry()?;
                }
                Ok(())
            })?;
        }
        self.close(RBrace)
    }

    fn entry(&mut self) -> Read {
        self.optional_expr(Set::of(Colon))?;
        self.expect(Colon, first())?;
        self.expr(Set::of(Comma).or_end())
    }

    fn literal(&mut self) -> Read {
        self.rule(Set::end(), |it| {
            if it.peek() == Minus {
                if !matches!(it.peek_at(1), Int | Float) {
                    return it.no_viable(1);
                }
                it.matched();
            }
            it.matched();
            Ok(())
        })
    }
}
