//! Which controllers run, in the words of kube-controller-manager's `--controllers`.

use std::collections::BTreeMap;

/// Names, and what they were called before.
const NAMES: [(&str, &str); 19] = [
    ("cluster-bootstrap-controller", ""),
    ("namespace-controller", "namespace"),
    ("garbage-collector-controller", "garbagecollector"),
    ("customresourcedefinition-controller", ""),
    ("serviceaccount-controller", "serviceaccount"),
    (
        "root-ca-certificate-publisher-controller",
        "root-ca-cert-publisher",
    ),
    ("kubernetes-service-controller", ""),
    ("apiserver-identity-controller", ""),
    (
        "clusterrole-aggregation-controller",
        "clusterrole-aggregation",
    ),
    ("certificatesigningrequest-signing-controller", "csrsigning"),
    (
        "certificatesigningrequest-approving-controller",
        "csrapproving",
    ),
    ("certificatesigningrequest-cleaner-controller", "csrcleaner"),
    ("apiservice-registration-controller", ""),
    ("flow-control-controller", ""),
    ("feature-controller", ""),
    (
        "persistentvolumeclaim-protection-controller",
        "pvc-protection",
    ),
    ("persistentvolume-protection-controller", "pv-protection"),
    ("volumeattributesclass-protection-controller", ""),
    (
        "validatingadmissionpolicy-status-controller",
        "validatingadmissionpolicy-status",
    ),
];

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name:?} is not in the list of known controllers: {known}")]
pub struct UnknownController {
    name: String,
    known: String,
}

/// By name; `*` stands for all that are not named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    named: BTreeMap<&'static str, bool>,
    others: bool,
}

impl Default for Selection {
    /// All of them.
    fn default() -> Self {
        Self {
            named: BTreeMap::new(),
            others: true,
        }
    }
}

impl Selection {
    /// `*`, `name` and `-name`; the first word about a controller counts.
    pub fn parse<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<Self, UnknownController> {
        let mut selection = Self {
            named: BTreeMap::new(),
            others: false,
        };
        for word in words.into_iter().map(str::trim).filter(|it| !it.is_empty()) {
            if word == "*" {
                selection.others = true;
                continue;
            }
            let (name, on) = match word.strip_prefix('-') {
                Some(name) => (name, false),
                None => (word, true),
            };
            let known = NAMES.iter().find(|(it, old)| *it == name || *old == name);
            let Some((name, _)) = known else {
                return Err(UnknownController {
                    name: name.to_owned(),
                    known: NAMES.map(|(name, _)| name).join(", "),
                });
            };
            selection.named.entry(name).or_insert(on);
        }
        Ok(selection)
    }

    /// None of them.
    pub fn none() -> Self {
        Self {
            named: BTreeMap::new(),
            others: false,
        }
    }

    pub fn includes(&self, name: &str) -> bool {
        debug_assert!(NAMES.iter().any(|(it, _)| *it == name), "{name} has no row");
        self.named.get(name).copied().unwrap_or(self.others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_as_upstream_reads_them() {
        let gc = "garbage-collector-controller";
        let table = [
            ("*", true, true),
            ("", false, false),
            ("*,-garbagecollector", false, true),
            ("-garbage-collector-controller,*", false, true),
            ("garbagecollector", true, false),
            ("garbagecollector,-garbagecollector", true, false),
            ("namespace", false, true),
        ];
        for (text, collects, ends_namespaces) in table {
            let selection = Selection::parse(text.split(',')).expect(text);
            assert_eq!(selection.includes(gc), collects, "{text}");
            let found = selection.includes("namespace-controller");
            assert_eq!(found, ends_namespaces, "{text}");
        }
        let unknown = Selection::parse(["*", "-nothing"]).unwrap_err();
        let text = unknown.to_string();
        assert!(
            text.starts_with("\"nothing\" is not in the list of known controllers"),
            "{text}"
        );
    }
}
