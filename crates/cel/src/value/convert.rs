//! Values back to JSON, for what expressions make: patches and objects.

use json::{Number, Object};

use super::{Map, Value};
use crate::error::Error;
use crate::schema::formats::encode_base64;

impl Value<'_> {
    /// The value as JSON, as Go would write it. Types, optionals and values of libraries have no JSON.
    pub fn to_json(&self) -> Result<json::Value, Error> {
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
            Self::Bytes(it) => json::Value::from(encode_base64(it)),
            Self::Timestamp(it) => json::Value::from(it.to_rfc3339()),
            Self::List(list) => {
                let items: Result<Vec<json::Value>, Error> =
                    list.iter().map(|it| it?.to_json()).collect();
                json::Value::Array(items?)
            }
            Self::Map(Map::Json(object, None)) => json::Value::Object((*object).clone()),
            Self::Map(map) => {
                let mut object = Object::new();
                for (key, value) in map.pairs() {
                    let Self::String(key) = &key else {
                        return Err(Error::new(format!(
                            "map key {key} is of type {}, not string",
                            key.type_name()
                        )));
                    };
                    object.insert(&**key, value?.to_json()?);
                }
                json::Value::Object(object)
            }
            Self::Struct(it) => {
                let mut object = Object::new();
                for (name, value) in &it.fields {
                    object.insert(&**name, value.to_json()?);
                }
                json::Value::Object(object)
            }
            Self::Unknown(it) => (*it).clone(),
            other => {
                return Err(Error::new(format!(
                    "a value of type {} has no JSON",
                    other.type_name()
                )));
            }
        })
    }
}
