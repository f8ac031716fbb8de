//! What go-yaml v3 decodes, as Go's `%#v` shows it: for objects that cannot become JSON.

use std::cmp::Ordering;

use encoding::go::quote;

use super::Decoder;
use crate::resolve::{Rules, Scalar, Timestamp};
use crate::{Kind, Node};

impl Node {
    /// The decoded object in Go's syntax. Only for what decodes; nothing for a tree with aliases or merged maps.
    pub fn go_syntax(&self) -> Option<String> {
        let root = match self.kind {
            Kind::Document => self.content.first()?,
            _ => self,
        };
        let decoder = Decoder::new(root, Rules::V3, true);
        if root.kind != Kind::Mapping {
            return shown(&decoder, root);
        }
        // Into a map with string keys, whatever they look like.
        let keys = root.pairs().map(|(key, _)| Key::String(key.value.clone()));
        map(&decoder, root, keys.collect())
    }
}

/// In the order of types that upstream's program happens to have.
enum Key {
    String(String),
    Uint(u64),
    Int(i64),
    Float(f64),
    Bool(bool),
    Time(Timestamp),
}

fn shown(decoder: &Decoder<'_>, node: &Node) -> Option<String> {
    match node.kind {
        Kind::Scalar => match decoder.resolved(node).ok()? {
            (Scalar::Null, _) => Some("interface {}(nil)".into()),
            (scalar, text) => Some(Key::of(scalar, text)?.to_string()),
        },
        Kind::Sequence => {
            let items = node.content.iter().map(|it| shown(decoder, it));
            let items = items.collect::<Option<Vec<_>>>()?;
            Some(format!("[]interface {{}}{{{}}}", items.join(", ")))
        }
        Kind::Mapping => {
            let keys = node.pairs().map(|(key, _)| {
                let (scalar, text) = decoder.resolved(key).ok()?;
                (key.kind == Kind::Scalar && key.value != "<<").then_some(())?;
                Key::of(scalar, text)
            });
            map(decoder, node, keys.collect::<Option<Vec<_>>>()?)
        }
        Kind::Alias | Kind::Document => None,
    }
}

fn map(decoder: &Decoder<'_>, node: &Node, keys: Vec<Key>) -> Option<String> {
    let strings = keys.iter().all(|it| matches!(it, Key::String(_)));
    let of = if strings { "string" } else { "interface {}" };
    let mut pairs: Vec<_> = keys.into_iter().zip(node.pairs()).collect();
    pairs.sort_by(|(a, _), (b, _)| a.order(b));
    let pairs = pairs.iter().map(|(key, (_, value))| {
        let value = shown(decoder, value)?;
        Some(format!("{key}:{value}"))
    });
    let pairs = pairs.collect::<Option<Vec<_>>>()?;
    Some(format!("map[{of}]interface {{}}{{{}}}", pairs.join(", ")))
}

impl Key {
    fn of(scalar: Scalar, text: String) -> Option<Self> {
        Some(match scalar {
            Scalar::Null => return None,
            Scalar::Bool(it) => Self::Bool(it),
            Scalar::Int(it) => Self::Int(it),
            Scalar::Uint(it) => Self::Uint(it),
            Scalar::Float(it) => Self::Float(it),
            Scalar::Timestamp(it) => Self::Time(it),
            Scalar::String => Self::String(text),
        })
    }

    fn rank(&self) -> u8 {
        match self {
            Self::String(_) => 0,
            Self::Uint(_) => 1,
            Self::Int(_) => 2,
            Self::Float(_) => 3,
            Self::Bool(_) => 4,
            Self::Time(_) => 5,
        }
    }

    fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::String(a), Self::String(b)) => a.cmp(b),
            (Self::Uint(a), Self::Uint(b)) => a.cmp(b),
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::Float(a), Self::Float(b)) => a.total_cmp(b),
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::String(it) => f.write_str(&quote(it)),
            Self::Uint(it) => write!(f, "{it:#x}"),
            Self::Int(it) => it.fmt(f),
            Self::Float(it) => f.write_str(&float(*it)),
            Self::Bool(it) => it.fmt(f),
            Self::Time(it) => f.write_str(&it.go_syntax()),
        }
    }
}

/// With an exponent below -4 and from 6 on.
fn float(value: f64) -> String {
    if value.is_nan() {
        return "NaN".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.into();
    }
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..6).contains(&exponent) {
        return value.to_string();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
}
