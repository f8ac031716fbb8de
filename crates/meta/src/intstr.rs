//! A number, or a text that mostly is a percentage or the name of a port.

use std::fmt;

use json::Value;

use crate::go::{NumError, atoi, quote};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum IntOrString {
    Int(i32),
    String(String),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IntOrStringError {
    #[error("invalid value for IntOrString: invalid type: string is not a percentage")]
    NotPercent,
    #[error("invalid value for IntOrString: invalid value {}: {reason}", quote(.value))]
    NotNumber { value: String, reason: NumError },
}

impl IntOrString {
    /// What is an int32 becomes one.
    pub fn parse(text: &str) -> Self {
        match text.parse() {
            Ok(number) => Self::Int(number),
            Err(_) => Self::String(text.into()),
        }
    }

    /// None if it is neither an int32 nor a string.
    pub fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(Self::String(text.to_string())),
            other => other.as_i64()?.try_into().ok().map(Self::Int),
        }
    }

    /// The number, or what a text says of one; else 0.
    pub fn int_value(&self) -> i64 {
        match self {
            Self::Int(number) => (*number).into(),
            Self::String(text) => text.parse().unwrap_or(0),
        }
    }

    /// A percentage is taken of the total; a text that is none is refused.
    pub fn scaled(&self, total: i64, round_up: bool) -> Result<i64, IntOrStringError> {
        let text = match self {
            Self::Int(number) => return Ok((*number).into()),
            Self::String(text) => text,
        };
        let percent = text.strip_suffix('%').ok_or(IntOrStringError::NotPercent)?;
        let percent = atoi(percent).map_err(|reason| IntOrStringError::NotNumber {
            value: text.clone(),
            reason,
        })?;
        let hundredths = i128::from(percent) * i128::from(total);
        let floor = hundredths.div_euclid(100);
        let more = round_up && hundredths.rem_euclid(100) > 0;
        let value = floor + i128::from(more);
        let held = value.clamp(i64::MIN.into(), i64::MAX.into());
        Ok(i64::try_from(held).expect("it is within bounds"))
    }
}

impl fmt::Display for IntOrString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(number) => number.fmt(f),
            Self::String(text) => f.write_str(text),
        }
    }
}

impl From<IntOrString> for Value {
    fn from(it: IntOrString) -> Self {
        match it {
            IntOrString::Int(number) => number.into(),
            IntOrString::String(text) => text.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;

    #[test]
    fn parses() {
        let table = [
            ("0", IntOrString::Int(0)),
            ("2147483647", IntOrString::Int(i32::MAX)),
            ("-2147483648", IntOrString::Int(i32::MIN)),
            ("2147483648", IntOrString::String("2147483648".into())),
            ("http", IntOrString::String("http".into())),
        ];
        for (text, want) in table {
            assert_eq!(IntOrString::parse(text), want);
            assert_eq!(want.to_string(), text);
            assert_eq!(IntOrString::from_value(&want.clone().into()), Some(want));
        }
        assert_eq!(IntOrString::from_value(&json!(3_000_000_000_i64)), None);
        assert_eq!(IntOrString::String("7".into()).int_value(), 7);
    }

    #[test]
    fn scales() {
        let not_percent = "invalid value for IntOrString: invalid type: string is not a percentage";
        let not_number = "invalid value for IntOrString: invalid value ";
        let table = [
            (json!(123), 0, true, Ok(123)),
            (json!("90%"), 100, true, Ok(90)),
            (json!("90%"), 95, true, Ok(86)),
            (json!("90%"), 95, false, Ok(85)),
            (json!("-50%"), 3, false, Ok(-2)),
            (
                json!("%"),
                0,
                true,
                Err(format!(
                    r#"{not_number}"%": strconv.Atoi: parsing "": invalid syntax"#
                )),
            ),
            (json!("90#"), 0, true, Err(not_percent.into())),
            (
                json!("#%"),
                0,
                true,
                Err(format!(
                    r##"{not_number}"#%": strconv.Atoi: parsing "#": invalid syntax"##
                )),
            ),
            (
                json!("40%%"),
                0,
                true,
                Err(format!(
                    r#"{not_number}"40%%": strconv.Atoi: parsing "40%": invalid syntax"#
                )),
            ),
            (json!("90"), 0, true, Err(not_percent.into())),
        ];
        for (value, total, up, want) in table {
            let it = IntOrString::from_value(&value).expect("all of the table are one");
            assert_eq!(
                it.scaled(total, up).map_err(|it| it.to_string()),
                want,
                "{value}"
            );
        }
    }
}
