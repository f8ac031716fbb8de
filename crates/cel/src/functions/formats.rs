//! Named formats, and why a text does not have one.

use encoding::{base64, uuid};

use crate::schema::formats as strfmt;
use crate::value::Timestamp;

/// A format: what its values look like.
#[derive(Debug)]
pub struct Format {
    pub name: &'static str,
    pub(crate) max_regex_size: u64,
    pub(crate) validate: fn(&str) -> Vec<String>,
}

pub(crate) fn find(name: &str) -> Option<&'static Format> {
    let found = FORMATS.iter().find(|it| it.0 == name);
    found.map(|it| &it.1)
}

const fn format(
    name: &'static str,
    max_regex_size: u64,
    validate: fn(&str) -> Vec<String>,
) -> Format {
    Format {
        name,
        max_regex_size,
        validate,
    }
}

static FORMATS: [(&str, Format); 13] = [
    ("dns1123Label", format("DNS1123Label", 30, label)),
    (
        "dns1123Subdomain",
        format("DNS1123Subdomain", 60, subdomain),
    ),
    ("dns1035Label", format("DNS1035Label", 30, label_1035)),
    ("qualifiedName", format("QualifiedName", 60, qualified)),
    (
        "dns1123LabelPrefix",
        format("DNS1123LabelPrefix", 30, |it| label(&prefix(it))),
    ),
    (
        "dns1123SubdomainPrefix",
        format("DNS1123SubdomainPrefix", 60, |it| subdomain(&prefix(it))),
    ),
    (
        "dns1035LabelPrefix",
        format("DNS1035LabelPrefix", 30, |it| label_1035(&prefix(it))),
    ),
    ("labelValue", format("LabelValue", 40, label_value)),
    (
        "uri",
        format("URI", 1103, |it| {
            super::url::parse(it).err().into_iter().collect()
        }),
    ),
    (
        "uuid",
        format("uuid", 70, |it| {
            unless(uuid::digits(it).is_some(), "does not match the UUID format")
        }),
    ),
    (
        "byte",
        format("byte", 84, |it| {
            unless(base64::decode(it).is_ok(), "invalid base64")
        }),
    ),
    (
        "date",
        format("date", 70, |it| {
            unless(Timestamp::parse_date(it).is_some(), "invalid date")
        }),
    ),
    (
        "datetime",
        format("datetime", 70, |it| {
            unless(strfmt::date_time(it).is_ok(), "invalid datetime")
        }),
    ),
];

fn unless(holds: bool, message: &str) -> Vec<String> {
    if holds {
        Vec::new()
    } else {
        vec![message.to_owned()]
    }
}

/// A prefix may end in a dash, behind which something is generated.
fn prefix(text: &str) -> String {
    if text.len() > 1 && text.ends_with('-') {
        return format!("{}a", &text[..text.len() - 1]);
    }
    text.to_owned()
}

fn is_alphanumeric_lower(it: u8) -> bool {
    it.is_ascii_lowercase() || it.is_ascii_digit()
}

pub(crate) fn is_label(text: &str) -> bool {
    text.len() <= 63 && is_label_text(text)
}

pub(crate) fn is_subdomain(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(is_label_text)
}

fn is_label_text(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|it| is_alphanumeric_lower(*it))
        && bytes.last().is_some_and(|it| is_alphanumeric_lower(*it))
        && bytes
            .iter()
            .all(|it| is_alphanumeric_lower(*it) || *it == b'-')
}

fn too_long(text: &str, max: usize) -> Option<String> {
    (text.len() > max).then(|| format!("must be no more than {max} bytes"))
}

fn label(text: &str) -> Vec<String> {
    let mut errors: Vec<String> = too_long(text, 63).into_iter().collect();
    if !is_label_text(text) {
        errors.push("a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')".to_owned());
    }
    errors
}

fn subdomain(text: &str) -> Vec<String> {
    let mut errors: Vec<String> = too_long(text, 253).into_iter().collect();
    if !text.split('.').all(is_label_text) {
        errors.push(r"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')".to_owned());
    }
    errors
}

fn label_1035(text: &str) -> Vec<String> {
    let mut errors: Vec<String> = too_long(text, 63).into_iter().collect();
    if !is_label_text(text) || !text.starts_with(|it: char| it.is_ascii_lowercase()) {
        errors.push("a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')".to_owned());
    }
    errors
}

const NAME_PART: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

fn is_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
        && bytes
            .iter()
            .all(|it| it.is_ascii_alphanumeric() || b"-_.".contains(it))
}

fn qualified(text: &str) -> Vec<String> {
    let mut errors = Vec::new();
    let name = match text.split('/').collect::<Vec<_>>()[..] {
        [name] => name,
        [prefix, name] => {
            if prefix.is_empty() {
                errors.push("prefix part must be non-empty".to_owned());
            } else {
                errors.extend(
                    subdomain(prefix)
                        .into_iter()
                        .map(|it| format!("prefix part {it}")),
                );
            }
            name
        }
        _ => {
            return vec![format!(
                "a valid label key {NAME_PART} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
    };
    if name.is_empty() {
        errors.push("name part must be non-empty".to_owned());
    } else {
        errors.extend(too_long(name, 63).map(|it| format!("name part {it}")));
    }
    if !is_name(name) {
        errors.push(format!("name part {NAME_PART}"));
    }
    errors
}

fn label_value(text: &str) -> Vec<String> {
    let mut errors: Vec<String> = too_long(text, 63).into_iter().collect();
    if !text.is_empty() && !is_name(text) {
        errors.push("a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')".to_owned());
    }
    errors
}
