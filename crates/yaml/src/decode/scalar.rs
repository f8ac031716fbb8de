//! Scalars to values.

use encoding::base64;
use json::{Number, Value};

use super::Decoder;
use crate::resolve::{Rules, Scalar, resolve, short_tag};
use crate::{Error, Node, Style};

impl Decoder<'_> {
    pub(super) fn scalar(&mut self, node: &Node) -> Result<Value, Error> {
        Ok(match self.resolved(node)? {
            (Scalar::Null, _) => Value::Null,
            (Scalar::Bool(it), _) => it.into(),
            (Scalar::Int(it), _) => it.into(),
            (Scalar::Uint(it), _) => float_value(uint_to_float(it)),
            (Scalar::Float(it), _) => {
                if !it.is_finite() {
                    let name = match it {
                        it if it.is_nan() => "NaN",
                        it if it > 0.0 => "+Inf",
                        _ => "-Inf",
                    };
                    self.unsupported_value
                        .get_or_insert(Error::UnsupportedValue(name));
                    return Ok(Value::Null);
                }
                float_value(it)
            }
            (Scalar::Timestamp(it), _) if self.rules == Rules::V3 => it.to_rfc3339().into(),
            (Scalar::Timestamp(_) | Scalar::String, text) => text.into(),
        })
    }

    /// What it is, and its text (which differs from the node's for `!!binary`).
    pub(super) fn resolved(&self, node: &Node) -> Result<(Scalar, String), Error> {
        let text = || node.value.clone();
        let tag = short_tag(&node.tag);
        let quoted = !matches!(node.style, Style::Plain | Style::Flow);
        let no_tag = tag.is_empty() || tag == "!" && self.rules == Rules::V3;
        if tag == "!!str" || quoted && no_tag {
            return Ok((Scalar::String, text()));
        }
        let wanted = match &*tag {
            "" => "",
            "!!bool" => "!!bool",
            "!!int" => "!!int",
            "!!float" => "!!float",
            "!!null" => "!!null",
            "!!timestamp" => "!!timestamp",
            "!!binary" => {
                let bytes = base64::decode(&node.value).map_err(|_| Error::InvalidBase64)?;
                return Ok((Scalar::String, String::from_utf8_lossy(&bytes).into_owned()));
            }
            _ => return Ok((Scalar::String, text())),
        };
        let timestamps = matches!(wanted, "" | "!!timestamp");
        let found = resolve(&node.value, self.rules, timestamps);
        match found {
            _ if wanted.is_empty() || found.tag() == wanted => {}
            #[expect(clippy::cast_precision_loss, reason = "a float was asked for")]
            Scalar::Int(it) if wanted == "!!float" => {
                return Ok((Scalar::Float(it as f64), text()));
            }
            _ => {
                return Err(Error::WrongTag {
                    found: found.tag(),
                    value: text(),
                    wanted,
                });
            }
        }
        Ok((found, text()))
    }
}

#[expect(clippy::cast_precision_loss, reason = "what JSON readers make of it")]
fn uint_to_float(it: u64) -> f64 {
    it as f64
}

/// JSON has no floats without a fraction: up to 1e21 they are written, and so read again, as integers.
fn float_value(it: f64) -> Value {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "checked to be whole and within"
    )]
    if it.fract() == 0.0 && it.abs() < 9.2e18 {
        return (it as i64).into();
    }
    Number::Float(it).into()
}
