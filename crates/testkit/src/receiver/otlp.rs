//! What an OTLP exporter sent, read by another hand than the one that wrote it: prost, from the field numbers of
//! opentelemetry-proto.

use std::collections::BTreeMap;

use prost::Message;

use super::Received;
use crate::collector::message;
use crate::collector::otlp::{KeyValue, Resource, Scope, texts};

#[derive(Clone, PartialEq, Message)]
pub struct Export {
    #[prost(message, repeated, tag = "1")]
    pub resource_metrics: Vec<ResourceMetrics>,
}

#[derive(Clone, PartialEq, Message)]
pub struct ResourceMetrics {
    #[prost(message, optional, tag = "1")]
    pub resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    pub scope_metrics: Vec<ScopeMetrics>,
}

#[derive(Clone, PartialEq, Message)]
pub struct ScopeMetrics {
    #[prost(message, optional, tag = "1")]
    pub scope: Option<Scope>,
    #[prost(message, repeated, tag = "2")]
    pub metrics: Vec<Metric>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Metric {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub description: String,
    #[prost(string, tag = "3")]
    pub unit: String,
    #[prost(message, optional, tag = "5")]
    pub gauge: Option<Gauge>,
    #[prost(message, optional, tag = "7")]
    pub sum: Option<Sum>,
    #[prost(message, optional, tag = "9")]
    pub histogram: Option<Histogram>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Gauge {
    #[prost(message, repeated, tag = "1")]
    pub data_points: Vec<DataPoint>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Histogram {
    #[prost(message, repeated, tag = "1")]
    pub data_points: Vec<HistogramPoint>,
    #[prost(int32, tag = "2")]
    pub aggregation_temporality: i32,
}

#[derive(Clone, PartialEq, Message)]
pub struct HistogramPoint {
    #[prost(fixed64, tag = "2")]
    pub start_time_unix_nano: u64,
    #[prost(fixed64, tag = "3")]
    pub time_unix_nano: u64,
    #[prost(fixed64, tag = "4")]
    pub count: u64,
    #[prost(double, optional, tag = "5")]
    pub sum: Option<f64>,
    #[prost(fixed64, repeated, tag = "6")]
    pub bucket_counts: Vec<u64>,
    #[prost(double, repeated, tag = "7")]
    pub explicit_bounds: Vec<f64>,
    #[prost(message, repeated, tag = "9")]
    pub attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Sum {
    #[prost(message, repeated, tag = "1")]
    pub data_points: Vec<DataPoint>,
    #[prost(int32, tag = "2")]
    pub aggregation_temporality: i32,
    #[prost(bool, tag = "3")]
    pub is_monotonic: bool,
}

#[derive(Clone, PartialEq, Message)]
pub struct DataPoint {
    #[prost(fixed64, tag = "2")]
    pub start_time_unix_nano: u64,
    #[prost(fixed64, tag = "3")]
    pub time_unix_nano: u64,
    #[prost(double, optional, tag = "4")]
    pub as_double: Option<f64>,
    #[prost(sfixed64, tag = "6")]
    pub as_int: i64,
    #[prost(message, repeated, tag = "7")]
    pub attributes: Vec<KeyValue>,
}

/// Panics if it is not what it should be: there is nothing to test then.
pub fn read(received: &Received) -> Export {
    let body = message(&received.headers, &received.body).expect("a whole message");
    let export = Export::decode(&*body).expect("an ExportMetricsServiceRequest");
    // Nothing is in the bytes that the messages above do not know.
    assert_eq!(export.encode_to_vec().len(), body.len());
    export
}

impl Export {
    /// All sums: what is counted, as `name{key=value,...}`, and how much.
    pub fn sums(&self) -> BTreeMap<String, i64> {
        let mut all = BTreeMap::new();
        let scoped = self
            .resource_metrics
            .iter()
            .flat_map(|it| &it.scope_metrics);
        for metric in scoped.flat_map(|it| &it.metrics) {
            for point in metric.sum.iter().flat_map(|it| &it.data_points) {
                let name = format!("{}{{{}}}", metric.name, pairs(&point.attributes));
                *all.entry(name).or_default() += point.as_int;
            }
        }
        all
    }

    pub fn metrics(&self) -> impl Iterator<Item = &Metric> {
        let scoped = self
            .resource_metrics
            .iter()
            .flat_map(|it| &it.scope_metrics);
        scoped.flat_map(|it| &it.metrics)
    }

    /// All points as [`lines`] has those of Prometheus' text.
    pub fn lines(&self) -> BTreeMap<String, f64> {
        let mut all = BTreeMap::new();
        for metric in self.metrics() {
            let name = &metric.name;
            let gauges = metric.gauge.iter().flat_map(|it| &it.data_points);
            let sums = metric.sum.iter().flat_map(|it| &it.data_points);
            for point in gauges.chain(sums) {
                #[expect(clippy::cast_precision_loss, reason = "tests do not count so far")]
                let value = point.as_double.unwrap_or(point.as_int as f64);
                all.insert(series(name, &quoted(&point.attributes)), value);
            }
            for point in metric.histogram.iter().flat_map(|it| &it.data_points) {
                let labels = quoted(&point.attributes);
                assert_eq!(point.bucket_counts.len(), point.explicit_bounds.len() + 1);
                let bounds = point.explicit_bounds.iter().chain(&[f64::INFINITY]);
                let mut total = 0.0;
                for (count, bound) in point.bucket_counts.iter().zip(bounds) {
                    #[expect(clippy::cast_precision_loss, reason = "as above")]
                    let count = *count as f64;
                    total += count;
                    let mut labels = labels.clone();
                    labels.push(format!("le=\"{bound}\""));
                    all.insert(series(&format!("{name}_bucket"), &labels), total);
                }
                let (sum, count) = (format!("{name}_sum"), format!("{name}_count"));
                all.insert(series(&sum, &labels), point.sum.unwrap_or(f64::NAN));
                #[expect(clippy::cast_precision_loss, reason = "as above")]
                all.insert(series(&count, &labels), point.count as f64);
            }
        }
        all
    }

    /// The attributes of the first resource.
    pub fn resource(&self) -> String {
        let first = self.resource_metrics.first();
        let resource = first.and_then(|it| it.resource.as_ref());
        resource.map_or_else(String::new, |it| pairs(&it.attributes))
    }
}

/// The samples of Prometheus' text, by name and labels; bounds are written as Rust writes numbers.
pub fn lines(text: &str) -> BTreeMap<String, f64> {
    let samples = text
        .lines()
        .filter(|it| !it.is_empty() && !it.starts_with('#'));
    let samples = samples.map(|line| {
        let (name, value) = line.rsplit_once(' ').expect("a value");
        let value = value.parse().expect("a number");
        let Some((before, rest)) = name.split_once("le=\"") else {
            return (name.to_owned(), value);
        };
        let (bound, after) = rest.split_once('"').expect("a quote");
        let bound: f64 = bound.parse().expect("a bound");
        (format!("{before}le=\"{bound}\"{after}"), value)
    });
    samples.collect()
}

fn series(name: &str, labels: &[String]) -> String {
    match labels {
        [] => name.to_owned(),
        labels => format!("{name}{{{}}}", labels.join(",")),
    }
}

fn quoted(attributes: &[KeyValue]) -> Vec<String> {
    let all = texts(attributes).into_iter();
    all.map(|(key, value)| format!("{key}={value:?}")).collect()
}

fn pairs(attributes: &[KeyValue]) -> String {
    let all = texts(attributes).into_iter();
    let all = all.map(|(key, value)| format!("{key}={value}"));
    all.collect::<Vec<_>>().join(",")
}
