use std::fmt;

use json::Value;

use super::ParseError;
use crate::field::{Error, ErrorList, Path};
use crate::names;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    In,
    NotIn,
    Equals,
    DoubleEquals,
    NotEquals,
    GreaterThan,
    LessThan,
    Exists,
    DoesNotExist,
}

/// What one label must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    key: String,
    operator: Operator,
    /// Sorted.
    values: Vec<String>,
}

impl Requirement {
    /// The key and the values must be what labels may be, and as many as the operator wants.
    pub fn new(
        key: impl Into<String>,
        operator: Operator,
        mut values: Vec<String>,
    ) -> Result<Self, ParseError> {
        let key = key.into();
        let errors = wrong(&key, operator, &values);
        if errors.is_empty() {
            values.sort_unstable();
            return Ok(Self {
                key,
                operator,
                values,
            });
        }
        Err(ParseError::Invalid(errors.as_slice().to_vec()))
    }

    pub fn key(&self) -> &str {
        &self.key
    }

    pub fn operator(&self) -> Operator {
        self.operator
    }

    pub fn values(&self) -> &[String] {
        &self.values
    }

    pub fn matches(&self, label: Option<&str>) -> bool {
        let listed = |label: &str| {
            let found = self.values.binary_search_by(|it| it.as_str().cmp(label));
            found.is_ok()
        };
        match self.operator {
            Operator::In | Operator::Equals | Operator::DoubleEquals => label.is_some_and(listed),
            Operator::NotIn | Operator::NotEquals => !label.is_some_and(listed),
            Operator::Exists => label.is_some(),
            Operator::DoesNotExist => label.is_none(),
            Operator::GreaterThan | Operator::LessThan => {
                let label = label.and_then(|it| it.parse::<i64>().ok());
                let bound = self.values.first().and_then(|it| it.parse::<i64>().ok());
                let (Some(label), Some(bound)) = (label, bound) else {
                    return false;
                };
                match self.operator {
                    Operator::GreaterThan => label > bound,
                    _ => label < bound,
                }
            }
        }
    }
}

fn wrong(key: &str, operator: Operator, values: &[String]) -> ErrorList {
    let mut errors = ErrorList::default();
    errors.extend(wrong_key(Path::new("key"), key));
    let path = Path::new("values");
    let count =
        match operator {
            Operator::In | Operator::NotIn => (values.is_empty())
                .then_some("for 'in', 'notin' operators, values set can't be empty"),
            Operator::Equals | Operator::DoubleEquals | Operator::NotEquals => {
                (values.len() != 1).then_some("exact-match compatibility requires one single value")
            }
            Operator::Exists | Operator::DoesNotExist => (!values.is_empty())
                .then_some("values set must be empty for exists and does not exist"),
            Operator::GreaterThan | Operator::LessThan => (values.len() != 1)
                .then_some("for 'Gt', 'Lt' operators, exactly one value is required"),
        };
    if let Some(detail) = count {
        // Go's nil slice.
        let all = if values.is_empty() {
            Value::Null
        } else {
            values.iter().collect()
        };
        errors.push(Error::invalid(path, all, detail));
    }
    if let Operator::GreaterThan | Operator::LessThan = operator {
        for (index, value) in values.iter().enumerate() {
            if value.parse::<i64>().is_err() {
                let detail = "for 'Gt', 'Lt' operators, the value must be an integer";
                errors.push_with(|| Error::invalid(path.index(index), value, detail));
            }
        }
    }
    for (index, value) in values.iter().enumerate() {
        let wrong = names::label_value(value);
        if !wrong.is_empty() {
            let path = path.index(index);
            errors.push_with(|| Error::invalid(path.key(key), value, wrong.join("; ")));
        }
    }
    errors
}

pub(super) fn wrong_key(path: Path, key: &str) -> Option<Error> {
    let wrong = names::qualified_name(key);
    (!wrong.is_empty()).then(|| Error::invalid(path, key, wrong.join("; ")))
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = &self.key;
        let values = self.values.join(",");
        match self.operator {
            Operator::In => write!(f, "{key} in ({values})"),
            Operator::NotIn => write!(f, "{key} notin ({values})"),
            Operator::Equals => write!(f, "{key}={values}"),
            Operator::DoubleEquals => write!(f, "{key}=={values}"),
            Operator::NotEquals => write!(f, "{key}!={values}"),
            Operator::GreaterThan => write!(f, "{key}>{values}"),
            Operator::LessThan => write!(f, "{key}<{values}"),
            Operator::Exists => f.write_str(key),
            Operator::DoesNotExist => write!(f, "!{key}"),
        }
    }
}
