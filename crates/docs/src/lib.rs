//! What Kubernetes says of its built-in types and their fields.
//!
//! The sentences are upstream's, so they are not in this repository: the build script takes them from the `k8s-openapi`
//! crate and leaves them here, compressed by package. The texts of kinds that Pilothouse adds are in `texts`.
//!
//! **Invariant:** nothing is unpacked before it is asked for, and nothing is kept.

use std::collections::HashMap;
use std::io::Read as _;

use flate2::bufread::DeflateDecoder;

include!(concat!(env!("OUT_DIR"), "/packages.rs"));

static BLOB: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/texts.bin"));

/// The texts, unpacked package by package as they are asked for.
#[derive(Debug, Default)]
pub struct Texts {
    packages: HashMap<&'static str, Package>,
}

/// Texts by type and field; that of a type itself has an empty field.
type Package = HashMap<String, String>;

impl Texts {
    /// Of a field of a type such as `io.k8s.api.core.v1.PodSpec`; of the type itself, if the field is empty.
    pub fn of(&mut self, name: &str, field: &str) -> Option<String> {
        let (package, name) = name.rsplit_once('.')?;
        let at = PACKAGES.binary_search_by_key(&package, |it| it.0).ok()?;
        let (package, from, to) = PACKAGES[at];
        let unpacked = self
            .packages
            .entry(package)
            .or_insert_with(|| unpack(BLOB.get(from..to).unwrap_or_default()));
        unpacked.get(&key(name, field)).cloned()
    }
}

/// A type's line is `:NAME`, a tab and its text; those of its fields follow it, without the colon.
fn unpack(compressed: &[u8]) -> Package {
    let mut text = String::new();
    if DeflateDecoder::new(compressed)
        .read_to_string(&mut text)
        .is_err()
    {
        return Package::new();
    }
    let mut package = Package::new();
    let mut of = "";
    for line in text.lines() {
        let (mut name, text) = line.split_once('\t').unwrap_or((line, ""));
        if let Some(next) = name.strip_prefix(':') {
            (of, name) = (next, "");
        }
        if !text.is_empty() {
            package.insert(key(of, name), unescape(text));
        }
    }
    package
}

fn key(name: &str, field: &str) -> String {
    format!("{name}.{field}")
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        out.extend(match letter {
            '\\' => letters.next().map(|it| if it == 'n' { '\n' } else { it }),
            _ => Some(letter),
        });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_and_fields_have_texts() {
        let mut texts = Texts::default();
        for (name, field, word) in [
            ("io.k8s.api.core.v1.Pod", "", "container"),
            ("io.k8s.api.core.v1.PodSpec", "containers", "pod"),
            ("io.k8s.api.apps.v1.DeploymentSpec", "replicas", "pods"),
            (
                "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps",
                "x-kubernetes-int-or-string",
                "integer",
            ),
        ] {
            let text = texts.of(name, field).unwrap_or_default();
            assert!(text.contains(word), "{name} {field}: {text:?}");
        }
        assert_eq!(texts.of("io.k8s.api.core.v1.PodSpec", "nothing"), None);
        assert_eq!(texts.of("nothing", ""), None);
    }
}
