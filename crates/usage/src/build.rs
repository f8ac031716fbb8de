//! What is known of one build.

use std::collections::BTreeMap;
use std::time::Duration;

use telemetry::metrics::delta::{Counter, Point};

/// Numbers, and names that this program chose: there is no room for anything that a user wrote.
#[derive(Clone, Debug)]
pub struct Build {
    /// How often a field is used, by its name and those of the fields around it.
    pub fields: BTreeMap<Vec<&'static str>, u64>,
    /// How often a builtin plugin is configured, by its kind.
    pub plugins: BTreeMap<&'static str, u64>,
    pub duration: Duration,
    /// None if it came to none.
    pub resources: Option<usize>,
    pub outcome: Outcome,
}

/// How a build ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Success,
    /// The kustomization cannot be built.
    Failure,
    /// A server that a kustomization names said no.
    Http,
    /// A program took too long.
    Timeout,
    /// There was a result, and it could not be written.
    Output,
}

impl Outcome {
    fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Http => "http",
            Self::Timeout => "timeout",
            Self::Output => "output",
        }
    }
}

impl Build {
    pub(crate) fn counters(&self) -> Vec<Counter> {
        let mut all = vec![Counter {
            name: "kustomize.builds",
            description: "Builds, by how they ended, how long they took and how many resources they gave",
            unit: "{build}",
            points: vec![Point {
                attributes: vec![
                    ("outcome", self.outcome.name().into()),
                    ("duration", duration(self.duration).into()),
                    ("resources", resources(self.resources).into()),
                ],
                count: 1,
            }],
        }];
        let points = self.fields.iter().map(|(path, count)| Point {
            attributes: vec![("field", path.join("."))],
            count: *count,
        });
        all.push(Counter {
            name: "kustomize.fields",
            description: "How often fields stand in the kustomizations of builds",
            unit: "{use}",
            points: points.collect(),
        });
        let points = self.plugins.iter().map(|(kind, count)| Point {
            attributes: vec![("plugin", (*kind).to_owned())],
            count: *count,
        });
        all.push(Counter {
            name: "kustomize.plugins",
            description: "How often builtin plugins are configured in builds",
            unit: "{use}",
            points: points.collect(),
        });
        all.retain(|it| !it.points.is_empty());
        all
    }
}

/// Coarse, so that it reveals little of the machine.
fn duration(it: Duration) -> &'static str {
    match it.as_millis() {
        0..10 => "0-10ms",
        10..100 => "10-100ms",
        100..1_000 => "100ms-1s",
        1_000..10_000 => "1-10s",
        10_000..60_000 => "10-60s",
        _ => "60s+",
    }
}

/// Coarse, so that it does not identify a kustomization.
fn resources(it: Option<usize>) -> &'static str {
    match it {
        None => "none",
        Some(0) => "0",
        Some(1..10) => "1-9",
        Some(10..100) => "10-99",
        Some(100..1_000) => "100-999",
        Some(1_000..10_000) => "1000-9999",
        Some(_) => "10000+",
    }
}
