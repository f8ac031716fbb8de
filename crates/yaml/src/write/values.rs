//! Values to YAML, as `sigs.k8s.io/yaml` marshals them: keys in natural order, lines folded at 80 columns. Hot path.

use std::borrow::Cow;

use json::{Number, Value};

use super::emit::{Emitter, Event, Kind as Is};
use super::order::sort;
use super::tree::Unwritten;
use super::{Options, SequenceStyle};
use crate::Style;
use crate::resolve::{Rules, Scalar, format_float, is_base60, resolve};

/// What is written as a JSON value is.
pub trait Tree: Sized {
    /// What shapes depend on besides the node.
    type Context: Copy;

    /// None if it is not to be written after all. The pairs of an object are pushed, in any order.
    fn shape<'a>(
        &'a self,
        context: Self::Context,
        is_root: bool,
        pairs: &mut Vec<(&'a str, &'a Self)>,
    ) -> Option<Shape<'a, Self>>;
}

/// One node of a [`Tree`].
#[derive(Debug)]
pub enum Shape<'a, T> {
    /// Null, a boolean or a number, by its text.
    Plain(Cow<'a, str>),
    String(Cow<'a, str>),
    Items(&'a [T]),
    Pairs,
}

impl Tree for Value {
    type Context = ();

    fn shape<'a>(
        &'a self,
        (): (),
        _: bool,
        pairs: &mut Vec<(&'a str, &'a Self)>,
    ) -> Option<Shape<'a, Self>> {
        Some(match self {
            Self::Null => Shape::Plain("null".into()),
            Self::Bool(it) => Shape::Plain(if *it { "true" } else { "false" }.into()),
            Self::Number(it) => Shape::Plain(number_text(*it).into()),
            Self::String(text) => Shape::String(text.as_str().into()),
            Self::Array(items) => Shape::Items(items),
            Self::Object(object) => {
                pairs.extend(object.iter().map(|(k, v)| (k.as_str(), v)));
                Shape::Pairs
            }
        })
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

pub fn write_value(out: &mut Vec<u8>, value: &Value) {
    let written = write_tree(out, value, ());
    debug_assert!(written, "all of a value has a shape");
}

/// Says whether it was written: not if it has a node without a shape, or a key twice.
pub fn write_tree<T: Tree>(out: &mut Vec<u8>, root: &T, context: T::Context) -> bool {
    let options = Options {
        indent: 2,
        sequences: SequenceStyle::Compact,
        width: Some(80),
    };
    let start = out.len();
    match Emitter::new(out, options, true).tree(root, context) {
        Ok(()) => true,
        Err(Unwritten::Odd) => {
            out.truncate(start);
            false
        }
        Err(Unwritten::LongKey) => {
            out.truncate(start);
            let emitter = &mut Emitter::new(out, options, true);
            write_document(emitter, root, context).is_some()
        }
    }
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

/// By events. None as above.
fn write_document<T: Tree>(
    emitter: &mut Emitter<'_, '_>,
    root: &T,
    context: T::Context,
) -> Option<()> {
    // Fails on anchors only, and there are none.
    let mut emit = |event: &Event<'_, 'static>| emitter.emit(event).ok();
    emit(&Event::new(Is::DocumentStart))?;
    let mut open: Vec<Open<'_, T>> = Vec::new();
    let mut next = Some(root);
    loop {
        if let Some(value) = next.take() {
            let mut event = Event::new(Is::Scalar);
            let mut pairs = Vec::new();
            match value.shape(context, open.is_empty(), &mut pairs)? {
                Shape::Plain(text) => {
                    event.value = &text;
                    emit(&event)?;
                }
                Shape::String(text) => emit(&string(&text))?,
                Shape::Items(items) => {
                    event.kind = Is::SequenceStart(items.is_empty());
                    emit(&event)?;
                    open.push(Open::Items(items.iter()));
                }
                Shape::Pairs => {
                    event.kind = Is::MappingStart(pairs.is_empty());
                    emit(&event)?;
                    sort(&mut pairs, 0, Rules::V2).then_some(())?;
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
                    emit(&string(key))?;
                    next = Some(value);
                }
                Is::MappingEnd
            }
        };
        if next.is_none() {
            emit(&Event::new(end))?;
            open.pop();
        }
    }
    emit(&Event::new(Is::DocumentEnd))
}

/// Quoted if it would be read as something else.
pub(super) fn string(text: &str) -> Event<'_, 'static> {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn by_events(value: &Value) -> String {
        let mut out = Vec::new();
        let options = Options {
            width: Some(80),
            ..Options::default()
        };
        let written = write_document(&mut Emitter::new(&mut out, options, true), value, ());
        assert_eq!(written, Some(()));
        String::from_utf8(out).expect("made of strings")
    }

    fn value() -> impl Strategy<Value = Value> {
        let text = || {
            prop_oneof![
                4 => "[a-zA-Z0-9./:#' -]{0,10}",
                1 => "[a-z:# ]{60,130}",
                1 => "[a-z\n\t ]{0,12}",
                1 => "\\PC{0,6}",
                1 => Just("\u{2028}x\n".to_owned()),
            ]
        };
        let leaf = prop_oneof![
            6 => text().prop_map(Value::from),
            1 => any::<i64>().prop_map(Value::from),
            1 => any::<bool>().prop_map(Value::from),
            1 => Just(Value::Null),
        ];
        leaf.prop_recursive(5, 40, 5, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
                prop::collection::btree_map(text(), inner, 0..5).prop_map(|pairs| {
                    let mut object = json::Object::new();
                    for (key, value) in pairs {
                        object.insert(key.as_str(), value);
                    }
                    Value::Object(object)
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn without_events_the_text_is_the_same(value in value()) {
            prop_assert_eq!(value_to_string(&value), by_events(&value));
        }
    }
}
