//! What a patch must look like before it is applied. Upstream reads it twice: once for fields that should not be there,
//! which those who ignore them skip, and once to apply it. The second reader is `merge`.

use json::Value;
use meta::Status;

use super::kind::Kind;
use crate::handler::decode::{self, Validation};

const MAP: &str = "Go value of type map[string]interface {}";
const STEP: &str = "jsonPatchOp";

pub(super) fn check(kind: Kind, patch: &Value, validation: Validation) -> Result<(), Status> {
    let is_lenient = validation == Validation::Ignore;
    match kind {
        Kind::Strategic => object(patch).map_err(Status::bad_request),
        Kind::Merge if !is_lenient => object(patch).map_err(|it| undecodable(&it)),
        Kind::Json if !is_lenient => steps(patch).map_err(|it| undecodable(&it)),
        Kind::Json | Kind::Merge | Kind::Apply => Ok(()),
    }
}

fn undecodable(text: &str) -> Status {
    Status::bad_request(format!("error decoding patch: {text}"))
}

fn unfit(found: &Value, wanted: &str) -> String {
    let found = decode::go_type(found);
    format!("json: cannot unmarshal {found} into {wanted}")
}

fn object(patch: &Value) -> Result<(), String> {
    match patch {
        Value::Object(_) | Value::Null => Ok(()),
        other => Err(unfit(other, MAP)),
    }
}

fn steps(patch: &Value) -> Result<(), String> {
    let steps = match patch {
        Value::Array(steps) => steps,
        Value::Null => return Ok(()),
        other => return Err(unfit(other, &format!("Go value of type []handlers.{STEP}"))),
    };
    for step in steps {
        let fields = match step {
            Value::Object(fields) => fields,
            Value::Null => continue,
            other => return Err(unfit(other, &format!("Go value of type handlers.{STEP}"))),
        };
        let texts = fields
            .iter()
            .filter(|(name, _)| matches!(&***name, "op" | "path" | "from"));
        for (name, value) in texts {
            if !matches!(value, Value::String(_) | Value::Null) {
                let wanted = format!("Go struct field {STEP}.{name} of type string");
                return Err(unfit(value, &wanted));
            }
        }
    }
    Ok(())
}
