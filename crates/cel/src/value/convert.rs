//! Values back to JSON, for what expressions make: patches and objects.

use json::{Number, Object};

use super::{Map, Origin, Value};
use crate::error::Error;

/// How much may become of a value. Parts of a value can be shared, and each use of them counts.
#[derive(Clone, Copy, Debug)]
pub struct JsonLimits {
    /// Values, and bytes of texts.
    pub size: usize,
    /// Lists and objects within one another.
    pub depth: usize,
}

impl Value<'_> {
    /// The value as JSON, as Go would write it. Types, optionals and values of libraries have no JSON.
    pub fn to_json(&self) -> Result<json::Value, Error> {
        self.to_json_within(JsonLimits {
            size: usize::MAX,
            depth: usize::MAX,
        })
    }

    /// As [`Self::to_json`], if it is not larger.
    pub fn to_json_within(&self, limits: JsonLimits) -> Result<json::Value, Error> {
        let mut left = limits.size;
        self.json(&mut left, limits.depth)
    }

    fn json(&self, left: &mut usize, depth: usize) -> Result<json::Value, Error> {
        let size = match self {
            Self::String(it) => it.len(),
            Self::Bytes(it) => it.len(),
            _ => 0,
        };
        let too_large = || Error::new("the value is too large or nested too deep");
        *left = left
            .checked_sub(size.saturating_add(1))
            .ok_or_else(too_large)?;
        let below = || depth.checked_sub(1).ok_or_else(too_large);
        Ok(match self {
            Self::Null => json::Value::Null,
            Self::Bool(it) => json::Value::Bool(*it),
            Self::Int(it) | Self::Duration(it) => json::Value::from(*it),
            #[expect(clippy::cast_precision_loss, reason = "as JSON is read again")]
            Self::Uint(it) => match i64::try_from(*it) {
                Ok(it) => json::Value::from(it),
                Err(_) => json::Value::Number(Number::Float(*it as f64)),
            },
            Self::Double(it) if it.is_finite() => json::Value::Number(Number::Float(*it)),
            Self::String(it) => json::Value::from(&**it),
            Self::Bytes(it) => json::Value::from(encoding::base64::encode(it)),
            Self::Timestamp(it) => json::Value::from(it.to_rfc3339()),
            Self::List(list) => {
                let depth = below()?;
                let items: Result<Vec<json::Value>, Error> =
                    list.iter().map(|it| it?.json(left, depth)).collect();
                json::Value::Array(items?)
            }
            Self::Map(Map::Json(object, Origin::Plain | Origin::Struct)) => {
                // Data is shared, not copied; it counts each time.
                count_object(object, left).ok_or_else(too_large)?;
                json::Value::Object((*object).clone())
            }
            Self::Map(map) => {
                let depth = below()?;
                let mut object = Object::new();
                for (key, value) in map.pairs() {
                    let Self::String(key) = &key else {
                        return Err(Error::new(format!(
                            "map key {key} is of type {}, not string",
                            key.type_name()
                        )));
                    };
                    object.insert(&**key, value?.json(left, depth)?);
                }
                json::Value::Object(object)
            }
            Self::Struct(it) => {
                let depth = below()?;
                let mut object = Object::new();
                for (name, value) in &it.fields {
                    object.insert(&**name, value.json(left, depth)?);
                }
                json::Value::Object(object)
            }
            Self::Unknown(it) => {
                count(it, left).ok_or_else(too_large)?;
                (*it).clone()
            }
            other => {
                return Err(Error::new(format!(
                    "a value of type {} has no JSON",
                    other.type_name()
                )));
            }
        })
    }
}

fn count(value: &json::Value, left: &mut usize) -> Option<()> {
    *left = left.checked_sub(1)?;
    match value {
        json::Value::String(it) => *left = left.checked_sub(it.len())?,
        json::Value::Array(all) => {
            for it in all {
                count(it, left)?;
            }
        }
        json::Value::Object(it) => count_object(it, left)?,
        _ => {}
    }
    Some(())
}

fn count_object(object: &Object, left: &mut usize) -> Option<()> {
    for (key, value) in object.iter() {
        *left = left.checked_sub(key.len())?;
        count(value, left)?;
    }
    Some(())
}
