//! Kubernetes' own list of its metrics.

use std::collections::{BTreeMap, BTreeSet};

use json::Value;

use crate::parse::Family;

/// Of histograms for which Kubernetes names none.
const PROMETHEUS_BUCKETS: [f64; 11] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];

pub(crate) struct Upstream(BTreeMap<String, Value>);

pub(crate) fn read() -> Upstream {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/data/kubernetes-metrics.yaml"
    );
    let text = std::fs::read(path).expect("Kubernetes' list of its metrics");
    let all = yaml::to_json(&text).expect("the list is YAML");
    let all = all.as_array().expect("a list").iter();
    let all = all.map(|it| {
        let part = |key| it.str_at(&[key]).filter(|it| !it.is_empty());
        let parts = [part("namespace"), part("subsystem"), part("name")];
        let name: Vec<_> = parts.into_iter().flatten().collect();
        (name.join("_"), it.clone())
    });
    Upstream(all.collect())
}

impl Upstream {
    #[allow(dead_code, reason = "each story uses its part")]
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Panics if it is not as upstream has it. Whether upstream has it at all.
    pub(crate) fn compare(&self, family: &Family) -> bool {
        let Family { name, labels, .. } = family;
        let Some(theirs) = self.0.get(name) else {
            let own = ["pilothouse_", "process_", "otel_"];
            assert!(
                own.iter().any(|it| name.starts_with(it)),
                "whose is {name}?"
            );
            return false;
        };
        let kind = match theirs.str_at(&["type"]) {
            Some("Custom") => "gauge".to_owned(),
            // How it is kept; what is shown is a histogram.
            Some("TimingRatioHistogram") => "histogram".to_owned(),
            kind => kind.expect("a type").to_ascii_lowercase(),
        };
        assert_eq!(family.kind, kind, "{name}");
        let stability = theirs.str_at(&["stabilityLevel"]).expect("a level");
        assert!(
            family.help.starts_with(&format!("[{stability}] ")),
            "{name}: {}",
            family.help
        );
        let list = |key: &str| {
            let all = theirs.get(key).and_then(Value::as_array);
            all.map_or(&[][..], |it| it)
        };
        let texts = list("labels")
            .iter()
            .map(|it| it.as_str().expect("a label").to_owned());
        let fixed = theirs.get("constLabels").and_then(Value::as_object);
        let fixed = fixed.into_iter().flat_map(json::Object::keys);
        let texts = texts.chain(fixed.map(ToString::to_string));
        assert_eq!(*labels, texts.collect::<BTreeSet<_>>(), "{name}");
        let number = |text: &str| text.parse::<f64>().expect("a bound");
        let ours: Vec<f64> = family.buckets.iter().map(|it| number(it)).collect();
        let mut theirs: Vec<f64> = list("buckets")
            .iter()
            .map(|it| number(&json::to_string(it)))
            .collect();
        if kind == "histogram" && theirs.is_empty() {
            theirs.extend(PROMETHEUS_BUCKETS);
        }
        assert_eq!(ours, theirs, "{name}");
        true
    }
}
