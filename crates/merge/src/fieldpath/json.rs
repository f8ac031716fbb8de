//! `FieldsV1`: a set as JSON. `f:` names a field, `k:` keys, `v:` a value, `i:` a position; `.` is the node itself.

use std::borrow::Cow;

use encoding::go::atoi;
use json::{Object, Text, Value};

use super::{Element, Node, Set};
use crate::go;

impl Set<'_> {
    pub fn to_json(&self) -> Value {
        self.object(false).into()
    }

    fn object(&self, member: bool) -> Object {
        let mut object = Object::with_capacity(self.0.len() + usize::from(member));
        if member && !self.0.is_empty() {
            object.push(".", Object::new());
        }
        for node in &self.0 {
            let children = node.children.object(node.member);
            object.push(node.element.to_json_key(), children);
        }
        object
    }
}

impl<'a> Set<'a> {
    pub fn from_json(value: &'a Value) -> Result<Self, String> {
        match value {
            Value::Null => Ok(Self::new()),
            Value::Object(object) => read(object).map(|(set, _)| set),
            other => Err(format!(
                "json: cannot unmarshal {} into a set of fields",
                go::json_kind(other)
            )),
        }
    }
}

/// The set, and whether the node that it is the children of is a member.
fn read(object: &Object) -> Result<(Set<'_>, bool), String> {
    let mut nodes = Vec::with_capacity(object.len());
    let mut member = false;
    for (key, value) in object.iter() {
        if key.as_str() == "." {
            member = true;
            continue;
        }
        let Some(element) = Element::from_json_key(key)? else {
            continue;
        };
        let (children, is_member) = match value {
            Value::Object(object) => read(object)?,
            Value::Null => (Set::new(), true),
            other => {
                return Err(format!(
                    "expected an object below {key:?}, got {}",
                    go::json_kind(other)
                ));
            }
        };
        nodes.push(Node {
            element,
            member: is_member,
            children,
        });
    }
    let mut set = Set::from_nodes(nodes);
    // Two spellings of one key are one node, the last of which counts.
    set.0.dedup_by(|b, a| {
        let same = a.element == b.element;
        if same {
            a.member |= b.member;
            if !b.children.is_empty() {
                a.children = std::mem::take(&mut b.children);
            }
        }
        same
    });
    (set.0).retain(|node| node.member || !node.children.is_empty());
    member |= set.is_empty();
    Ok((set, member))
}

impl<'a> Element<'a> {
    pub fn to_json_key(&self) -> Text {
        let text = match self {
            Self::Field(name) => format!("f:{name}"),
            Self::Key(keys) => {
                let mut out = b"k:{".to_vec();
                for (index, (name, value)) in keys.iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    json::write_str(&mut out, name);
                    out.push(b':');
                    json::write(&mut out, value);
                }
                out.push(b'}');
                String::from_utf8(out).expect("all that is written is UTF-8")
            }
            Self::Value(value) => format!("v:{}", json::to_string(value)),
            Self::Index(at) => format!("i:{at}"),
        };
        text.into()
    }

    /// Nothing for a kind of element that a later version may know.
    pub fn from_json_key(key: &'a str) -> Result<Option<Self>, String> {
        let Some((kind, rest)) = key.split_at_checked(2) else {
            return Err("key must be 2 characters long:".into());
        };
        if !kind.ends_with(':') {
            return Err(format!("missing colon: {key}"));
        }
        let parse = |text: &str| json::parse(text.as_bytes()).map_err(|why| why.to_string());
        Ok(Some(match kind {
            "f:" => Self::field(rest),
            "v:" => Self::Value(Cow::Owned(parse(rest)?)),
            "i:" => Self::Index(atoi(rest).map_err(|error| error.to_string())?),
            "k:" => {
                let Value::Object(keys) = parse(rest)? else {
                    return Err(format!("expected an object: {key}"));
                };
                let keys = keys.into_iter();
                let keys = keys.map(|(name, it)| (Cow::Owned(name.into()), Cow::Owned(it)));
                let mut keys: Vec<(Cow<str>, _)> = keys.collect();
                keys.sort_by(|(a, _), (b, _)| a.cmp(b));
                Self::Key(keys)
            }
            _ => return Ok(None),
        }))
    }
}
