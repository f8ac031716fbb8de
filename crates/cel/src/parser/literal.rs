//! Literals: numbers, strings with their escapes, and words.

use std::sync::Arc;

use super::{Parsed, Parser, Stop};
use crate::ast::{Expr, Literal};
use crate::lexer::Kind;

impl Parser<'_> {
    pub(super) fn literal(&mut self) -> Parsed {
        let first = self.take();
        let (token, negative) = if first.kind == Kind::Minus {
            (self.take(), true)
        } else {
            (first, false)
        };
        if negative && !matches!(token.kind, Kind::Int | Kind::Float) {
            return Err(Stop::Syntax);
        }
        let text = token.text(self.text);
        let literal = match token.kind {
            Kind::Int => int(text, negative).map(Literal::Int),
            Kind::Uint => uint(text).map(Literal::Uint),
            Kind::Float => double(text, negative).map(Literal::Double),
            Kind::String => {
                unescape(text, false).map(|it| Literal::String(String::from_utf8_lossy(&it).into()))
            }
            Kind::Bytes => unescape(&text[1..], true).map(|it| Literal::Bytes(Arc::from(it))),
            Kind::True => Ok(Literal::Bool(true)),
            Kind::False => Ok(Literal::Bool(false)),
            Kind::Null => Ok(Literal::Null),
            _ => return Err(Stop::Syntax),
        };
        match literal {
            Ok(it) => Ok(self.add(first.start, Expr::Literal(it))),
            Err(message) => Ok(self.report(first.start, message)),
        }
    }
}

fn int(text: &str, negative: bool) -> Result<i64, &'static str> {
    let (digits, radix) = text.strip_prefix("0x").map_or((text, 10), |it| (it, 16));
    let signed = format!("{}{digits}", if negative { "-" } else { "" });
    i64::from_str_radix(&signed, radix).map_err(|_| "invalid int literal")
}

fn uint(text: &str) -> Result<u64, &'static str> {
    let text = &text[..text.len() - 1];
    let (digits, radix) = text.strip_prefix("0x").map_or((text, 10), |it| (it, 16));
    u64::from_str_radix(digits, radix).map_err(|_| "invalid uint literal")
}

fn double(text: &str, negative: bool) -> Result<f64, &'static str> {
    let value: f64 = text.parse().map_err(|_| "invalid double literal")?;
    if value.is_infinite() {
        return Err("invalid double literal");
    }
    Ok(if negative { -value } else { value })
}

/// The content of a string literal. The lexer has seen that its quotes and escapes are whole.
fn unescape(text: &str, is_bytes: bool) -> Result<Vec<u8>, &'static str> {
    let raw = text.starts_with(['r', 'R']);
    let text = if raw { &text[1..] } else { text };
    let triple = text.len() >= 6 && (text.starts_with("'''") || text.starts_with("\"\"\""));
    let quotes = if triple { 3 } else { 1 };
    let inner = &text[quotes..text.len() - quotes];
    // Line ends are written as Unix writes them.
    let inner = if inner.contains('\r') {
        inner.replace("\r\n", "\n").replace('\r', "\n")
    } else {
        inner.to_owned()
    };
    if raw || !inner.contains('\\') {
        return Ok(inner.into_bytes());
    }
    let mut out = Vec::with_capacity(inner.len());
    let mut rest = inner.as_str();
    while let Some(at) = rest.find('\\') {
        out.extend_from_slice(&rest.as_bytes()[..at]);
        rest = escape(&rest[at + 1..], is_bytes, &mut out)?;
    }
    out.extend_from_slice(rest.as_bytes());
    Ok(out)
}

/// Writes what an escape sequence means; returns the text behind it.
fn escape<'t>(text: &'t str, is_bytes: bool, out: &mut Vec<u8>) -> Result<&'t str, &'static str> {
    const BROKEN: &str = "unable to unescape string";
    let code = *text.as_bytes().first().ok_or(BROKEN)?;
    let simple = match code {
        b'a' => 7,
        b'b' => 8,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        b'\\' | b'\'' | b'"' | b'`' | b'?' => code,
        _ => 0,
    };
    if simple != 0 {
        out.push(simple);
        return Ok(&text[1..]);
    }
    let (begin, end, radix) = match code {
        b'x' | b'X' => (1, 3, 16),
        b'u' if !is_bytes => (1, 5, 16),
        b'U' if !is_bytes => (1, 9, 16),
        b'0'..=b'3' => (0, 3, 8),
        _ => return Err(BROKEN),
    };
    let digits = text.get(begin..end).ok_or(BROKEN)?;
    let value = u32::from_str_radix(digits, radix).map_err(|_| BROKEN)?;
    if is_bytes {
        out.push(u8::try_from(value).map_err(|_| BROKEN)?);
    } else {
        let value = char::from_u32(value).ok_or("invalid unicode code point")?;
        out.extend_from_slice(value.encode_utf8(&mut [0; 4]).as_bytes());
    }
    Ok(&text[end..])
}
