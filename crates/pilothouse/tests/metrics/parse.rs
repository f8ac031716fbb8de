//! Prometheus' text, read as strictly as a test should.

use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug)]
pub(crate) struct Family {
    pub(crate) name: String,
    pub(crate) help: String,
    pub(crate) kind: String,
    /// Of all samples, without `le`.
    pub(crate) labels: BTreeSet<String>,
    /// As they are written, in order, without the last.
    pub(crate) buckets: Vec<String>,
}

pub(crate) fn families(text: &str) -> Vec<Family> {
    let mut all: Vec<Family> = Vec::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').expect("a help text");
            let known = all.iter().any(|it| it.name == name);
            // The start of the process is on both pages.
            assert!(
                !known || name == "process_start_time_seconds",
                "{name} is there twice"
            );
            all.push(Family {
                name: name.to_owned(),
                help: help.to_owned(),
                kind: String::new(),
                labels: BTreeSet::new(),
                buckets: Vec::new(),
            });
            continue;
        }
        let family = all.last_mut().expect("a sample has a family");
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').expect("a type");
            assert_eq!(name, family.name);
            kind.clone_into(&mut family.kind);
            continue;
        }
        let (name, labels) = sample(line);
        let parts: &[&str] = match &*family.kind {
            "histogram" => &["_bucket", "_sum", "_count"],
            _ => &[""],
        };
        let of = |it: &&str| name == format!("{}{it}", family.name);
        assert!(parts.iter().any(of), "{line}");
        for (label, value) in labels {
            if label == "le" {
                if value != "+Inf" && !family.buckets.contains(&value) {
                    family.buckets.push(value);
                }
            } else {
                family.labels.insert(label);
            }
        }
    }
    all
}

/// The name and the labels of a line.
fn sample(line: &str) -> (String, BTreeMap<String, String>) {
    let (before, value) = line.rsplit_once(' ').expect("a value");
    value.parse::<f64>().expect("a number");
    let Some((name, rest)) = before.split_once('{') else {
        return (before.to_owned(), BTreeMap::new());
    };
    let mut rest = rest.strip_suffix('}').expect("a closing brace");
    let mut labels = BTreeMap::new();
    while let Some((label, more)) = rest.split_once("=\"") {
        let end = more.find('"').expect("a closing quote");
        labels.insert(label.to_owned(), more[..end].to_owned());
        rest = more[end + 1..].trim_start_matches(',');
    }
    assert!(rest.is_empty(), "{line}");
    (name.to_owned(), labels)
}
