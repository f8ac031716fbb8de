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
    #[prost(message, optional, tag = "7")]
    pub sum: Option<Sum>,
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

    /// The attributes of the first resource.
    pub fn resource(&self) -> String {
        let first = self.resource_metrics.first();
        let resource = first.and_then(|it| it.resource.as_ref());
        resource.map_or_else(String::new, |it| pairs(&it.attributes))
    }
}

fn pairs(attributes: &[KeyValue]) -> String {
    let all = texts(attributes).into_iter();
    let all = all.map(|(key, value)| format!("{key}={value}"));
    all.collect::<Vec<_>>().join(",")
}
