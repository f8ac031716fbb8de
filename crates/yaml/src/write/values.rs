//! Values to YAML, as `sigs.k8s.io/yaml` marshals them: keys in natural order, lines folded at 80 columns. Hot path.

use std::borrow::Cow;

use json::{Number, Value};

use super::emit::{Emitter, Event, Kind as Is};
use super::order::sort;
use super::{Options, SequenceStyle};
use crate::resolve::{Rules, Scalar, format_float, is_base60, resolve};
use crate::{Error, Style};

/// What is written as a JSON value is.
pub trait Tree: Sized {
    fn shape(&self) -> Shape<'_, Self>;
}

/// One node of a [`Tree`].
#[derive(Debug)]
pub enum Shape<'a, T> {
    /// Null, a boolean or a number, by its text.
    Plain(Cow<'a, str>),
    String(Cow<'a, str>),
    Items(&'a [T]),
    /// In any order.
    Pairs(Vec<(&'a str, &'a T)>),
}

impl Tree for Value {
    fn shape(&self) -> Shape<'_, Self> {
        match self {
            Self::Null => Shape::Plain("null".into()),
            Self::Bool(it) => Shape::Plain(if *it { "true" } else { "false" }.into()),
            Self::Number(it) => Shape::Plain(number_text(*it).into()),
            Self::String(text) => Shape::String(text.as_str().into()),
            Self::Array(items) => Shape::Items(items),
            Self::Object(object) => {
                Shape::Pairs(object.iter().map(|(k, v)| (k.as_str(), v)).collect())
            }
        }
    }
}

/// What go-yaml v3 decodes from one scalar that has a tag, or an empty one for none and is plain. Nothing if the text is
/// not of the tag, or no JSON.
pub fn scalar_shape<'a, T>(tag: &str, text: &'a str) -> Option<Shape<'a, T>> {
    let mut found = resolve(text, Rules::V3, matches!(tag, "" | "!!timestamp"));
    if !tag.is_empty() && found.tag() != tag {
        let Scalar::Int(it) = found else {
            return None;
        };
        if tag != "!!float" {
            return None;
        }
        #[expect(clippy::cast_precision_loss, reason = "a float was asked for")]
        let float = it as f64;
        found = Scalar::Float(float);
    }
    Some(match found {
        Scalar::Null => Shape::Plain("null".into()),
        Scalar::Bool(it) => Shape::Plain(if it { "true" } else { "false" }.into()),
        Scalar::Int(it) => Shape::Plain(it.to_string().into()),
        Scalar::Uint(it) => Shape::Plain(it.to_string().into()),
        Scalar::Float(it) if it.is_finite() => Shape::Plain(number_text(Number::Float(it)).into()),
        Scalar::Float(_) => return None,
        Scalar::Timestamp(it) => Shape::String(it.to_rfc3339().into()),
        Scalar::String => Shape::String(text.into()),
    })
}

pub fn value_to_string(value: &Value) -> String {
    let mut out = Vec::new();
    write_value(&mut out, value);
    String::from_utf8(out)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

pub fn write_value(out: &mut Vec<u8>, value: &impl Tree) {
    let options = Options {
        indent: 2,
        sequences: SequenceStyle::Compact,
        width: Some(80),
    };
    let mut emitter = Emitter::new(out, options, true);
    let result = write_document(&mut emitter, value);
    debug_assert!(
        result.is_ok(),
        "values have no anchors, the only cause of errors"
    );
}

enum Open<'a, T> {
    Items(std::slice::Iter<'a, T>),
    Pairs(std::vec::IntoIter<(&'a str, &'a T)>),
}

/// A float goes through JSON first, where one without a fraction looks like an integer.
pub(super) fn number_text(number: Number) -> String {
    match number {
        Number::Int(it) => it.to_string(),
        Number::Float(it) => {
            let json = json::to_string(&Value::Number(number));
            match resolve(&json, Rules::V2, false) {
                Scalar::Int(it) => it.to_string(),
                Scalar::Uint(it) => it.to_string(),
                _ => format_float(it),
            }
        }
    }
}

fn write_document<T: Tree>(emitter: &mut Emitter<'_, '_>, root: &T) -> Result<(), Error> {
    emitter.emit(&Event::new(Is::DocumentStart))?;
    let mut open: Vec<Open<'_, T>> = Vec::new();
    let mut next = Some(root);
    loop {
        if let Some(value) = next.take() {
            let mut event = Event::new(Is::Scalar);
            match value.shape() {
                Shape::Plain(text) => {
                    event.value = &text;
                    emitter.emit(&event)?;
                }
                Shape::String(text) => emitter.emit(&string(&text))?,
                Shape::Items(items) => {
                    event.kind = Is::SequenceStart(items.is_empty());
                    emitter.emit(&event)?;
                    open.push(Open::Items(items.iter()));
                }
                Shape::Pairs(mut pairs) => {
                    event.kind = Is::MappingStart(pairs.is_empty());
                    emitter.emit(&event)?;
                    sort(&mut pairs, Rules::V2);
                    open.push(Open::Pairs(pairs.into_iter()));
                }
            }
        }
        let end = match open.last_mut() {
            None => break,
            Some(Open::Items(items)) => {
                next = items.next();
                Is::SequenceEnd
            }
            Some(Open::Pairs(pairs)) => {
                if let Some((key, value)) = pairs.next() {
                    emitter.emit(&string(key))?;
                    next = Some(value);
                }
                Is::MappingEnd
            }
        };
        if next.is_none() {
            emitter.emit(&Event::new(end))?;
            open.pop();
        }
    }
    emitter.emit(&Event::new(Is::DocumentEnd))
}

/// Quoted if it would be read as something else.
fn string(text: &str) -> Event<'_, 'static> {
    let mut event = Event::new(Is::Scalar);
    event.value = text;
    if text.contains('\n') {
        event.style = Style::Literal;
    } else if resolve(text, Rules::V2, true) != Scalar::String
        || text.contains(':') && is_base60(text)
    {
        event.style = Style::DoubleQuoted;
    }
    event
}
