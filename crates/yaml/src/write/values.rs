//! JSON values to YAML, as `sigs.k8s.io/yaml` marshals them: keys in natural order, lines folded at 80 columns.

use json::{Number, Object, Value};

use super::emit::{Emitter, Event, Kind as Is};
use super::order::natural;
use super::{Options, SequenceStyle};
use crate::resolve::{Rules, Scalar, format_float, is_base60, resolve};
use crate::{Error, Style};

pub fn value_to_string(value: &Value) -> String {
    let mut out = Vec::new();
    write_value(&mut out, value);
    String::from_utf8(out)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

pub fn write_value(out: &mut Vec<u8>, value: &Value) {
    let options = Options {
        indent: 2,
        sequences: SequenceStyle::Compact,
        width: Some(80),
    };
    let mut numbers = Vec::new();
    number_texts(value, &mut numbers);
    let mut emitter = Emitter::new(out, options, true);
    let result = write_document(&mut emitter, value, &numbers);
    debug_assert!(
        result.is_ok(),
        "values have no anchors, the only cause of errors"
    );
}

enum Open<'a> {
    Items(std::slice::Iter<'a, Value>),
    Pairs(std::vec::IntoIter<(&'a str, &'a Value)>),
}

/// The pairs of an object in the order they are written.
pub(super) fn sorted(object: &Object, rules: Rules) -> Vec<(&str, &Value)> {
    let mut pairs: Vec<_> = object.iter().map(|(k, v)| (k.as_str(), v)).collect();
    // By bytes first, as upstream's order is not total; for the same reason not `sort_by`, which may panic on such.
    pairs.sort_by_key(|(key, _)| *key);
    merge_sort(&mut pairs, rules);
    pairs
}

fn merge_sort<'a>(pairs: &mut Vec<(&'a str, &'a Value)>, rules: Rules) {
    let mut width = 1;
    while width < pairs.len() {
        let mut merged = Vec::with_capacity(pairs.len());
        for run in pairs.chunks(width * 2) {
            let (mut a, mut b) = run.split_at(width.min(run.len()));
            while let ([x, more_a @ ..], [y, more_b @ ..]) = (a, b) {
                if natural(y.0, x.0, rules).is_lt() {
                    merged.push(*y);
                    b = more_b;
                } else {
                    merged.push(*x);
                    a = more_a;
                }
            }
            merged.extend_from_slice(a);
            merged.extend_from_slice(b);
        }
        *pairs = merged;
        width *= 2;
    }
}

/// The texts of all numbers in the order they are written, so that events can borrow them.
fn number_texts(value: &Value, texts: &mut Vec<String>) {
    let mut open = vec![Open::Items(std::slice::from_ref(value).iter())];
    while let Some(top) = open.last_mut() {
        let next = match top {
            Open::Items(items) => items.next(),
            Open::Pairs(pairs) => pairs.next().map(|(_, value)| value),
        };
        match next {
            None => _ = open.pop(),
            Some(Value::Number(number)) => texts.push(number_text(*number)),
            Some(Value::Array(items)) => open.push(Open::Items(items.iter())),
            Some(Value::Object(object)) => {
                open.push(Open::Pairs(sorted(object, Rules::V2).into_iter()));
            }
            Some(_) => {}
        }
    }
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

fn write_document<'a>(
    emitter: &mut Emitter<'a, '_>,
    value: &'a Value,
    numbers: &'a [String],
) -> Result<(), Error> {
    let mut numbers = numbers.iter();
    emitter.emit(&Event::new(Is::DocumentStart))?;
    let mut open: Vec<Open<'a>> = Vec::new();
    let mut next = Some(value);
    loop {
        if let Some(value) = next.take() {
            let mut event = Event::new(Is::Scalar);
            match value {
                Value::Null => event.value = "null",
                Value::Bool(true) => event.value = "true",
                Value::Bool(false) => event.value = "false",
                Value::Number(_) => event.value = numbers.next().map_or("null", String::as_str),
                Value::String(text) => event = string(text),
                Value::Array(items) => {
                    event.kind = Is::SequenceStart(items.is_empty());
                    open.push(Open::Items(items.iter()));
                }
                Value::Object(object) => {
                    event.kind = Is::MappingStart(object.is_empty());
                    open.push(Open::Pairs(sorted(object, Rules::V2).into_iter()));
                }
            }
            emitter.emit(&event)?;
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
fn string(text: &str) -> Event<'_> {
    let mut event = Event::new(Is::Scalar);
    event.value = text;
    if text.contains('\n') {
        event.style = Style::Literal;
    } else if resolve(text, Rules::V2, true) != Scalar::String || is_base60(text) {
        event.style = Style::DoubleQuoted;
    }
    event
}
