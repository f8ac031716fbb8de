//! Which policies a request can concern, without looking at the others.

use std::collections::HashMap;

use crate::matching::Rule;
use crate::{Operation, Request};

const OPERATIONS: [Operation; 4] = [
    Operation::Create,
    Operation::Update,
    Operation::Delete,
    Operation::Connect,
];

/// Numbers of policies, by what their rules name. Names under which the same objects are served differ in group and
/// version, never in the resource.
#[derive(Debug, Default)]
pub(super) struct Index {
    by_operation: [Buckets; 4],
}

#[derive(Debug, Default)]
struct Buckets {
    by_resource: HashMap<String, Vec<usize>>,
    /// Rules for all resources, by group; those for all groups have `*`.
    by_group: HashMap<String, Vec<usize>>,
    /// Policies without rules, whose errors must be told.
    always: Vec<usize>,
}

impl Index {
    pub(super) fn add<'r>(&mut self, policy: usize, rules: impl Iterator<Item = &'r Rule>) {
        for rule in rules {
            for operation in OPERATIONS.into_iter().filter(|it| rule.has_operation(*it)) {
                let buckets = &mut self.by_operation[operation as usize];
                for resource in rule.resources() {
                    if resource == "*" {
                        for group in rule.groups() {
                            put(&mut buckets.by_group, group, policy);
                        }
                    } else {
                        put(&mut buckets.by_resource, resource, policy);
                    }
                }
            }
        }
    }

    pub(super) fn add_always(&mut self, policy: usize) {
        for buckets in &mut self.by_operation {
            buckets.always.push(policy);
        }
    }

    /// Policies that may mean the request, each once, in order.
    pub(super) fn candidates(&self, request: &Request<'_>) -> Vec<usize> {
        let buckets = &self.by_operation[request.operation as usize];
        let mut all = buckets.always.clone();
        let resource = &*request.resource.resource;
        if let Some(found) = buckets.by_resource.get(resource) {
            all.extend_from_slice(found);
        }
        if !buckets.by_group.is_empty() {
            let mut add = |group: &str| {
                if let Some(found) = buckets.by_group.get(group) {
                    all.extend_from_slice(found);
                }
            };
            add("*");
            add(&request.resource.group);
            let others = request
                .kinds
                .equivalents(request.resource, request.subresource);
            for (other, _) in &others {
                if other.group != request.resource.group {
                    add(&other.group);
                }
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }
}

fn put(buckets: &mut HashMap<String, Vec<usize>>, key: &str, policy: usize) {
    let bucket = buckets.entry(key.to_owned()).or_default();
    // Policies come one after the other.
    if bucket.last() != Some(&policy) {
        bucket.push(policy);
    }
}
