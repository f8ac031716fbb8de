//! Config maps and secrets.

use json::Value;
use meta::names;

use super::errors::Errors;
use super::field::Field;
use super::object_meta::{self, Named};

const MAX_SIZE: usize = 1 << 20;
const FROZEN: &str = "field is immutable when `immutable` is set";

fn keys(e: &mut Errors, data: &Field) {
    for (key, at) in data.entries() {
        for wrong in names::config_map_key(key) {
            e.invalid_value(&at, key, &wrong);
        }
    }
}

/// Of bytes that come as base64.
fn decoded_size(data: &Field) -> usize {
    let size = |value: &Value| {
        let text = value.as_str().unwrap_or_default();
        text.len() / 4 * 3
            - text
                .bytes()
                .rev()
                .take_while(|it| *it == b'=')
                .count()
                .min(2)
                .min(text.len())
    };
    data.pairs().map(|(_, value)| size(value)).sum()
}

fn frozen(e: &mut Errors, new: &Field, old: &Field, names: &[&str]) {
    if !old.flag("immutable") {
        return;
    }
    if !new.flag("immutable") {
        e.forbidden(&new.child("immutable"), FROZEN);
    }
    for name in names {
        let (it, was) = (new.child(name), old.child(name));
        if it.value != was.value && !(it.is_empty() && was.is_empty()) {
            e.forbidden(&it, FROZEN);
        }
    }
}

pub(crate) mod maps {
    //! `ConfigMap`

    use super::{
        Errors, Field, MAX_SIZE, Named, Value, decoded_size, frozen, keys, names, object_meta,
    };

    pub(crate) fn create(e: &mut Errors, it: &Field) {
        object_meta::create(e, it, Named::SUBDOMAIN);
        let (data, binary) = (it.child("data"), it.child("binaryData"));
        for (key, at) in data.entries() {
            for wrong in names::config_map_key(key) {
                e.invalid_value(&at, key, &wrong);
            }
            if binary.has(key) {
                e.invalid_value(&at, key, "duplicate of key present in binaryData");
            }
        }
        keys(e, &binary);
        let size = |(_, value): (&str, &Value)| value.as_str().map_or(0, str::len);
        if data.pairs().map(size).sum::<usize>() + decoded_size(&binary) > MAX_SIZE {
            e.push(meta::field::Error::too_long(
                meta::field::Path::new(""),
                MAX_SIZE,
            ));
        }
    }

    pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
        object_meta::update(e, new, old);
        frozen(e, new, old, &["data", "binaryData"]);
        create(e, new);
    }
}

pub(crate) mod secrets {
    //! `Secret`

    use super::{Errors, Field, MAX_SIZE, Named, decoded_size, frozen, keys, object_meta};

    pub(crate) fn create(e: &mut Errors, it: &Field) {
        object_meta::create(e, it, Named::SUBDOMAIN);
        let data = it.child("data");
        keys(e, &data);
        if decoded_size(&data) > MAX_SIZE {
            e.too_long(&data, MAX_SIZE);
        }
        let mut needs = |name: &str| {
            if !data.has(name) {
                e.required(&data.entry(name), "");
            }
        };
        match it.text("type") {
            "kubernetes.io/service-account-token" => {
                let annotations = it.children(&["metadata", "annotations"]);
                e.required_text(&annotations.entry("kubernetes.io/service-account.name"));
            }
            "kubernetes.io/dockercfg" => json_in(e, &data.entry(".dockercfg")),
            "kubernetes.io/dockerconfigjson" => json_in(e, &data.entry(".dockerconfigjson")),
            "kubernetes.io/basic-auth" if !data.has("username") && !data.has("password") => {
                needs("username");
                needs("password");
            }
            "kubernetes.io/ssh-auth" => {
                e.required_text(&data.entry("ssh-privatekey"));
            }
            "kubernetes.io/tls" => {
                needs("tls.crt");
                needs("tls.key");
            }
            _ => {}
        }
    }

    /// Well-formed JSON of an object; what it says is nobody's business.
    fn json_in(e: &mut Errors, at: &Field) {
        if !at.is_set() {
            return e.required(at, "");
        }
        let wrong = match encoding::base64::decode(at.str()).map(|bytes| json::parse(&bytes)) {
            Ok(Ok(json::Value::Object(_) | json::Value::Null)) => return,
            Ok(Ok(other)) => format!(
                "json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
                match other.type_name() {
                    "integer" => "number",
                    "boolean" => "bool",
                    name => name,
                }
            ),
            Ok(Err(wrong)) => wrong.what,
            Err(error) => error.to_string(),
        };
        e.invalid_value(at, "<secret contents redacted>", &wrong);
    }

    pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
        object_meta::update(e, new, old);
        e.immutable(&new.child("type"), &old.child("type"));
        frozen(e, new, old, &["data"]);
        create(e, new);
    }
}
