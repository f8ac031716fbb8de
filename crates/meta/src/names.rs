//! What names may look like. Each function says what is wrong with a text, in upstream's words: nothing if it is fine.

mod dns;
mod ip;
mod label;
mod qualified;
mod word;

pub use dns::{
    dns1035_label, dns1123_label, dns1123_subdomain, dns1123_subdomain_caseless,
    dns1123_subdomain_with_underscore, wildcard_dns1123_subdomain,
};
pub use ip::{
    cidr, cidr_for_legacy_field, cidr_warnings, interface_address, ip, ip_for_legacy_field,
    ip_warnings, parse_cidr_sloppy, parse_ip_sloppy,
};
pub use label::{label_value, path_segment_name, path_segment_prefix, qualified_name};
pub use qualified::{
    domain_prefixed_key, domain_prefixed_path, fully_qualified_domain_name, fully_qualified_name,
};
pub use word::{
    c_identifier, condition_reason, config_map_key, decimal_integer, env_var_name, group_id,
    http_header_name, in_range, percent, port_name, port_number, relaxed_env_var_name, user_id,
};

/// How a kind wants its objects named; with `prefix`, the text is a `generateName`.
pub type NameFn = fn(name: &str, prefix: bool) -> Vec<String>;

pub fn name_is_dns_subdomain(name: &str, prefix: bool) -> Vec<String> {
    masked(name, prefix, dns1123_subdomain)
}

pub fn name_is_dns_label(name: &str, prefix: bool) -> Vec<String> {
    masked(name, prefix, dns1123_label)
}

pub fn name_is_dns1035_label(name: &str, prefix: bool) -> Vec<String> {
    masked(name, prefix, dns1035_label)
}

pub fn name_is_path_segment(name: &str, prefix: bool) -> Vec<String> {
    if prefix {
        return path_segment_prefix(name);
    }
    path_segment_name(name)
}

/// A prefix may end with a dash: what comes after it makes it a name.
fn masked(name: &str, prefix: bool, check: fn(&str) -> Vec<String>) -> Vec<String> {
    match name.strip_suffix('-') {
        Some(rest) if prefix && rest.ends_with(|it: char| it.is_ascii()) => {
            check(&format!("{}a", &rest[..rest.len() - 1]))
        }
        _ => check(name),
    }
}

/// The sentence of a failed pattern.
pub(crate) fn pattern(message: &str, pattern: &str, examples: &[&str]) -> String {
    let examples: Vec<String> = examples.iter().map(|it| format!("'{it}', ")).collect();
    let mut examples = examples.join(" or ");
    if !examples.is_empty() {
        examples.insert_str(0, "e.g. ");
    }
    format!("{message} ({examples}regex used for validation is '{pattern}')")
}

fn max_length(length: usize) -> String {
    format!("must be no more than {length} characters")
}

/// The same in the words of the rules that upstream made declarative.
fn max_bytes(length: usize) -> String {
    format!("must be no more than {length} bytes")
}

const EMPTY: &str = "must be non-empty";

#[cfg(test)]
mod tests;
