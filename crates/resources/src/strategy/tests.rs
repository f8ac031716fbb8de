use std::collections::BTreeSet;

use super::{all, find};
use crate::builtin;

#[test]
fn every_kind_of_the_table_has_one_row() {
    let mut rows = BTreeSet::new();
    for row in all() {
        assert!(rows.insert((row.group, row.kind)), "{row:?} is there twice");
        assert_eq!(find(row.group, row.kind), row);
    }
    for resource in &builtin().resources {
        let name = (&*resource.group, &*resource.kind);
        assert!(rows.contains(&name), "{name:?} has no row in strategy/");
        assert_eq!((resource.strategy.group, resource.strategy.kind), name);
    }
}

/// A misspelt row would never be found.
#[test]
fn every_row_is_a_kind_of_the_table() {
    let mut known = BTreeSet::from([("", "Status")]);
    for resource in &builtin().resources {
        known.insert((&*resource.group, &*resource.kind));
        let below = resource.subresources.iter();
        known.extend(below.map(|it| (&*it.group, &*it.kind)));
    }
    for row in all() {
        assert!(known.contains(&(row.group, row.kind)), "{row:?}");
    }
}

#[test]
fn rules_of_subresources_are_of_subresources_that_are_served() {
    let served = |row: &super::Strategy, name: &str| {
        let mut all = builtin().resources.iter();
        all.any(|it| it.strategy == row && (name.is_empty() || it.subresource(name).is_some()))
    };
    for row in all() {
        let prepared = row.subresources.iter().map(|it| it.name);
        let reset = row.reset_fields.iter().map(|(name, _)| *name);
        for name in prepared.chain(reset) {
            assert!(served(row, name), "{row:?}/{name}");
        }
    }
}
