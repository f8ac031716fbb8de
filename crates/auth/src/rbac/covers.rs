//! Whether rules cover others, for escalation checks.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::rule::{Rule, has, has_or_all, url_covers};

/// The smallest parts of the requested rules that the owner's do not cover; none means all is covered.
pub fn missing(owner: &[Rule], requested: &[Rule]) -> Vec<Rule> {
    let covered = |part: &Rule| owner.iter().any(|rule| covers(rule, part));
    let mut missing = Vec::new();
    let mut budget = MAX_PARTS;
    for rule in requested {
        match budget.checked_sub(parts(rule)) {
            Some(rest) => {
                budget = rest;
                missing.extend(breakdown(rule).into_iter().filter(|part| !covered(part)));
            }
            // Taken as a whole: one rule of the owner must cover all of it. That only ever refuses more.
            None if covered(rule) => {}
            None => missing.push(rule.clone()),
        }
    }
    missing
}

/// Lists multiply, and a request may be three megabytes of them: beyond this, rules are no longer broken down.
const MAX_PARTS: usize = 100_000;

/// How many rules [`breakdown`] would give.
fn parts(rule: &Rule) -> usize {
    let resources = (rule.api_groups.len())
        .saturating_mul(rule.resources.len())
        .saturating_mul(rule.resource_names.len().max(1));
    let urls = rule.non_resource_urls.len();
    resources
        .saturating_add(urls)
        .saturating_mul(rule.verbs.len())
}

/// The same rule as many, each with at most one verb, group, resource and name.
fn breakdown(rule: &Rule) -> Vec<Rule> {
    let one = |it: &String| vec![it.clone()];
    let mut parts = Vec::new();
    for group in &rule.api_groups {
        for resource in &rule.resources {
            for verb in &rule.verbs {
                let part = Rule {
                    verbs: one(verb),
                    api_groups: one(group),
                    resources: one(resource),
                    ..Rule::default()
                };
                if rule.resource_names.is_empty() {
                    parts.push(part);
                    continue;
                }
                parts.extend(rule.resource_names.iter().map(|name| Rule {
                    resource_names: one(name),
                    ..part.clone()
                }));
            }
        }
    }
    for url in &rule.non_resource_urls {
        parts.extend(rule.verbs.iter().map(|verb| Rule {
            verbs: one(verb),
            non_resource_urls: one(url),
            ..Rule::default()
        }));
    }
    parts
}

fn covers(owner: &Rule, part: &Rule) -> bool {
    let names = &owner.resource_names;
    part.verbs.iter().all(|it| has_or_all(&owner.verbs, it))
        && (part.api_groups.iter()).all(|it| has_or_all(&owner.api_groups, it))
        && (part.resources.iter()).all(|it| resource_covered(&owner.resources, it))
        && (part.non_resource_urls.iter()).all(|it| {
            owner
                .non_resource_urls
                .iter()
                .any(|url| url_covers(url, it))
        })
        && (names.is_empty()
            || !part.resource_names.is_empty()
                && part.resource_names.iter().all(|it| has(names, it)))
}

fn resource_covered(owner: &[String], resource: &str) -> bool {
    let any = resource.split_once('/').map(|(_, sub)| format!("*/{sub}"));
    has_or_all(owner, resource) || any.is_some_and(|any| has(owner, &any))
}

/// Joins parts that differ only by verb.
pub(super) fn compact(parts: Vec<Rule>) -> Vec<Rule> {
    let mut simple: HashMap<(String, String, Option<String>), Rule> = HashMap::new();
    let mut whole = Vec::new();
    for part in parts {
        let ([group], [resource], [], names) = (
            &part.api_groups[..],
            &part.resources[..],
            &part.non_resource_urls[..],
            &part.resource_names[..],
        ) else {
            whole.push(part);
            continue;
        };
        if names.len() > 1 {
            whole.push(part);
            continue;
        }
        match simple.entry((group.clone(), resource.clone(), names.first().cloned())) {
            Entry::Occupied(mut found) => found.get_mut().verbs.extend(part.verbs),
            Entry::Vacant(free) => {
                free.insert(part);
            }
        }
    }
    whole.extend(simple.into_values());
    whole
}
