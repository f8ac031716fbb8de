//! To and from JSON, fields in upstream's order, empty ones left out.

use json::{Object, Value};

use super::{Cause, Details, Reason, Status};

impl Status {
    pub fn to_value(&self) -> Value {
        let mut out = Object::new();
        out.insert("kind", "Status");
        out.insert("apiVersion", "v1");
        let mut metadata = Object::new();
        put(&mut metadata, "continue", &self.continue_token);
        out.insert("metadata", metadata);
        out.insert("status", if self.success { "Success" } else { "Failure" });
        put(&mut out, "message", &self.message);
        put(&mut out, "reason", self.reason.as_str());
        if let Some(details) = &self.details {
            out.insert("details", details.to_value());
        }
        if self.code != 0 {
            out.insert("code", u32::from(self.code));
        }
        Value::Object(out)
    }

    /// Reads what a webhook, an aggregated server or a peer says. What is missing or of another type is empty.
    pub fn from_value(value: &Value) -> Self {
        Self {
            success: value.str_at(&["status"]) == Some("Success"),
            code: (value.get("code").and_then(Value::as_i64))
                .and_then(|it| u16::try_from(it).ok())
                .unwrap_or(0),
            reason: Reason::from(value.str_at(&["reason"]).unwrap_or_default()),
            message: text(value, "message"),
            details: (value.get("details").filter(|it| !it.is_null()))
                .map(|it| Box::new(Details::from_value(it))),
            continue_token: value
                .get("metadata")
                .map_or_else(String::new, |it| text(it, "continue")),
        }
    }
}

impl Details {
    fn to_value(&self) -> Value {
        let mut out = Object::new();
        put(&mut out, "name", &self.name);
        put(&mut out, "group", &self.group);
        put(&mut out, "kind", &self.kind);
        put(&mut out, "uid", &self.uid);
        if !self.causes.is_empty() {
            out.insert(
                "causes",
                self.causes.iter().map(Cause::to_value).collect::<Value>(),
            );
        }
        if self.retry_after_seconds != 0 {
            out.insert("retryAfterSeconds", self.retry_after_seconds);
        }
        Value::Object(out)
    }

    fn from_value(value: &Value) -> Self {
        let causes = value.get("causes").and_then(Value::as_array);
        Self {
            name: text(value, "name"),
            group: text(value, "group"),
            kind: text(value, "kind"),
            uid: text(value, "uid"),
            causes: causes.map_or_else(Vec::new, |it| it.iter().map(Cause::from_value).collect()),
            retry_after_seconds: (value.get("retryAfterSeconds").and_then(Value::as_i64))
                .and_then(|it| i32::try_from(it).ok())
                .unwrap_or(0),
        }
    }
}

impl Cause {
    fn to_value(&self) -> Value {
        let mut out = Object::new();
        put(&mut out, "reason", &self.reason);
        put(&mut out, "message", &self.message);
        put(&mut out, "field", &self.field);
        Value::Object(out)
    }

    fn from_value(value: &Value) -> Self {
        Self {
            reason: text(value, "reason"),
            message: text(value, "message"),
            field: text(value, "field"),
        }
    }
}

fn put(object: &mut Object, key: &'static str, text: &str) {
    if !text.is_empty() {
        object.insert(key, text);
    }
}

fn text(value: &Value, key: &str) -> String {
    value.str_at(&[key]).unwrap_or_default().into()
}

impl From<&Status> for Value {
    fn from(status: &Status) -> Self {
        status.to_value()
    }
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;
    use crate::field;
    use crate::gvk::{GroupKind, GroupResource};

    #[test]
    fn fields_come_in_upstreams_order() {
        let pods = GroupResource::new("", "pods");
        let invalid = Status::invalid(
            &GroupKind::new("apps", "Deployment"),
            "web",
            &[field::Error::required("spec.selector", "")],
        );
        let table = [
            (
                Status::not_found(&pods, "x"),
                r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"pods \"x\" not found","reason":"NotFound","details":{"name":"x","kind":"pods"},"code":404}"#,
            ),
            (
                invalid,
                r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Deployment.apps \"web\" is invalid: spec.selector: Required value","reason":"Invalid","details":{"name":"web","group":"apps","kind":"Deployment","causes":[{"reason":"FieldValueRequired","message":"Required value","field":"spec.selector"}]},"code":422}"#,
            ),
            (
                Status::success(Details {
                    name: "x".into(),
                    kind: "pods".into(),
                    uid: "u".into(),
                    ..Details::default()
                }),
                r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{"name":"x","kind":"pods","uid":"u"}}"#,
            ),
        ];
        for (status, want) in table {
            assert_eq!(json::to_string(&status.to_value()), want);
            assert_eq!(Status::from_value(&status.to_value()), status);
        }
    }

    #[test]
    fn whatever_is_read_is_a_status() {
        let odd = Status::from_value(&json!({"code": (-1), "reason": "Custom", "details": 3}));
        assert_eq!(odd.code, 0);
        assert_eq!(odd.reason, Reason::Other("Custom".into()));
        assert_eq!(odd.details, Some(Box::default()));
        assert!(!Status::from_value(&Value::Null).success);
    }
}
