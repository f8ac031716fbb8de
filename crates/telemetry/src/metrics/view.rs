//! What of an instrument is shown, as settings say that may change at any time.
//!
//! Settings name instruments as Prometheus does or without `_total`: Kyverno's counters have both names.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use super::registry::{Gathered, Kind, Sample, Value};

/// What is to be shown of all instruments. By default: everything, as it is counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    pub(super) named: BTreeMap<String, Exposure>,
    pub(super) namespaces: Namespaces,
    /// Of Kyverno's histograms that have no bounds of their own.
    pub(super) bounds: Option<Vec<f64>>,
    /// How long a series without a handle stays without a change.
    pub(super) idle: Option<Duration>,
}

/// What is to be shown of one instrument.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Exposure {
    pub enabled: bool,
    /// Labels that are left out.
    pub without: Vec<String>,
    pub bounds: Option<Vec<f64>>,
}

/// Which namespaces are counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Namespaces {
    pub include: Vec<String>,
    pub exclude: Vec<String>,
}

/// How series of one instrument are made, if not as they come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Shape {
    /// By the position of their label: they count as empty.
    pub hidden: Vec<bool>,
    /// Where the namespace stands that decides whether something is counted at all.
    pub namespace: Option<usize>,
    pub namespaces: Namespaces,
}

impl Namespaces {
    fn is_empty(&self) -> bool {
        self.include.is_empty() && self.exclude.is_empty()
    }

    /// As Kyverno: to exclude goes before to include, and what is in no namespace always counts.
    pub(super) fn count(&self, namespace: &str) -> bool {
        if matches!(namespace, "" | "-") {
            return true;
        }
        let is_in = |all: &[String]| all.iter().any(|it| it == namespace);
        !is_in(&self.exclude) && (self.include.is_empty() || is_in(&self.include))
    }
}

impl View {
    fn of(&self, name: &str) -> Option<&Exposure> {
        let other = match name.strip_suffix("_total") {
            Some(bare) => bare.to_owned(),
            None => format!("{name}_total"),
        };
        self.named.get(name).or_else(|| self.named.get(&other))
    }

    /// The bounds of a histogram, if they are not its own.
    pub(super) fn bounds(&self, name: &str) -> Option<&[f64]> {
        let own = self.of(name).and_then(|it| it.bounds.as_deref());
        let all = self.bounds.as_deref();
        own.or_else(|| all.filter(|_| name.starts_with("kyverno_")))
    }

    /// `None` for series as they come.
    pub(super) fn shape(&self, name: &str, names: &[&str]) -> Option<Shape> {
        let without = self.of(name).map_or(&[][..], |it| &it.without);
        let hidden: Vec<_> = names
            .iter()
            .map(|name| without.iter().any(|it| it == name))
            .collect();
        let namespace = namespace(names).filter(|_| !self.namespaces.is_empty());
        (namespace.is_some() || hidden.contains(&true)).then(|| Shape {
            hidden,
            namespace,
            namespaces: self.namespaces.clone(),
        })
    }

    /// Nothing of what is not to be shown, and in one what differs in such labels alone.
    pub(super) fn show(&self, mut gathered: Gathered) -> Gathered {
        let exposure = self.of(gathered.desc.name);
        if exposure.is_some_and(|it| !it.enabled) {
            gathered.samples.clear();
            return gathered;
        }
        let Some(shape) = self.shape(gathered.desc.name, &gathered.names) else {
            return gathered;
        };
        if let Some(at) = shape.namespace {
            let counts = |it: &Sample| shape.namespaces.count(&it.labels[at]);
            gathered.samples.retain(counts);
        }
        if shape.hidden.contains(&true) {
            merge(&mut gathered, &shape.hidden);
        }
        gathered
    }
}

/// Kyverno goes by the namespace of the policy, and where there is none by that of the resource.
fn namespace(names: &[&str]) -> Option<usize> {
    let at = |label| names.iter().position(|it| *it == label);
    at("policy_namespace").or_else(|| at("resource_namespace"))
}

fn merge(gathered: &mut Gathered, hidden: &[bool]) {
    let shown = |at: usize| !hidden.get(at).copied().unwrap_or_default();
    let names = gathered.names.iter().enumerate();
    let names = names.filter(|(at, _)| shown(*at)).map(|(_, it)| *it);
    gathered.names = Cow::Owned(names.collect());
    let is_sum = gathered.kind != Kind::Gauge;
    let mut merged: BTreeMap<Vec<String>, Sample> = BTreeMap::new();
    for mut sample in std::mem::take(&mut gathered.samples) {
        let labels = std::mem::take(&mut sample.labels).into_iter().enumerate();
        let labels = labels.filter(|(at, _)| shown(*at)).map(|(_, it)| it);
        sample.labels = labels.collect();
        match merged.get_mut(&sample.labels) {
            Some(first) => add(first, sample, is_sum),
            None => drop(merged.insert(sample.labels.clone(), sample)),
        }
    }
    gathered.samples = merged.into_values().collect();
}

/// Of what only grows, the sum; of a gauge the last, as OpenTelemetry has it.
fn add(to: &mut Sample, more: Sample, is_sum: bool) {
    to.created = to.created.min(more.created);
    match (&mut to.value, more.value) {
        (Value::Counter(to), Value::Counter(more)) => *to = to.wrapping_add(more),
        (Value::Number(to), Value::Number(more)) if is_sum => *to += more,
        (Value::Number(to), Value::Number(more)) => *to = more,
        (
            Value::Histogram {
                counts,
                native,
                sum,
                exemplars,
            },
            Value::Histogram {
                counts: more,
                native: more_native,
                sum: more_sum,
                exemplars: others,
            },
        ) => {
            for (count, more) in counts.iter_mut().zip(more) {
                *count = count.wrapping_add(more);
            }
            if let (Some(native), Some(more)) = (native, &more_native) {
                native.add(more);
            }
            *sum += more_sum;
            for (at, seen) in others {
                match exemplars.iter_mut().find(|(of, _)| *of == at) {
                    Some((_, last)) if last.at < seen.at => *last = seen,
                    Some(_) => {}
                    None => exemplars.push((at, seen)),
                }
            }
        }
        // All series of an instrument are of one kind.
        _ => {}
    }
}

#[cfg(test)]
mod tests;
