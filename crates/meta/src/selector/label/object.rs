//! The object form: `matchLabels` and `matchExpressions`.

use json::Value;

use super::{LabelSelector, Operator, ParseError, Requirement};

impl LabelSelector {
    /// No selector selects nothing, an empty one everything.
    pub fn from_value(selector: Option<&Value>) -> Result<Self, ParseError> {
        let Some(selector) = selector.filter(|it| !it.is_null()) else {
            return Ok(Self::nothing());
        };
        let labels = selector.get("matchLabels").and_then(Value::as_object);
        let expressions = selector.get("matchExpressions").and_then(Value::as_array);
        let mut requirements = Vec::new();
        for (key, value) in labels.into_iter().flat_map(json::Object::iter) {
            let value = value.as_str().unwrap_or_default().into();
            requirements.push(Requirement::new(&**key, Operator::Equals, vec![value])?);
        }
        for expression in expressions.into_iter().flatten() {
            requirements.push(requirement(expression)?);
        }
        Ok(Self::new(requirements))
    }
}

fn requirement(expression: &Value) -> Result<Requirement, ParseError> {
    let text = |key| expression.str_at(&[key]).unwrap_or_default();
    let operator = match text("operator") {
        "In" => Operator::In,
        "NotIn" => Operator::NotIn,
        "Exists" => Operator::Exists,
        "DoesNotExist" => Operator::DoesNotExist,
        other => return Err(ParseError::Operator(other.to_owned())),
    };
    let values = expression.get("values").and_then(Value::as_array);
    let values = values.into_iter().flatten();
    let values = values.map(|it| it.as_str().unwrap_or_default().into());
    Requirement::new(text("key"), operator, values.collect())
}
