//! What builds use, counted by the names that this program knows. A name is `&'static str`: nothing that a user wrote
//! can become one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use json::Value;

use crate::decode::{List, Strings};
use crate::edit::BUILTIN_PLUGINS;
use crate::types::Kustomization;

/// Counts what all builds use whose options share it; clones count together.
#[derive(Clone, Debug, Default)]
pub struct UsageCounts(Arc<Mutex<Counts>>);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// How often a field stands in the kustomizations, by its name and those of the fields around it, outermost first;
    /// the entries of a list count each.
    pub fields: BTreeMap<Vec<&'static str>, u64>,
    /// How often a builtin plugin is configured, by its kind.
    pub plugins: BTreeMap<&'static str, u64>,
}

impl UsageCounts {
    pub fn counts(&self) -> Counts {
        self.change(|it| it.clone())
    }

    /// As it was written: before old fields become new ones.
    pub(crate) fn kustomization(&self, it: &Kustomization) {
        self.change(|counts| {
            let mut trail = Trail {
                path: Vec::new(),
                fields: &mut counts.fields,
            };
            it.count(&mut trail);
        });
    }

    pub(crate) fn plugin(&self, kind: &str) {
        if let Some(known) = BUILTIN_PLUGINS.iter().find(|it| **it == kind) {
            self.change(|it| *it.plugins.entry(known).or_default() += 1);
        }
    }

    fn change<T>(&self, change: impl FnOnce(&mut Counts) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The fields that lead to where one counts.
pub(crate) struct Trail<'a> {
    path: Vec<&'static str>,
    fields: &'a mut BTreeMap<Vec<&'static str>, u64>,
}

impl Trail<'_> {
    pub(crate) fn enter(&mut self, field: &'static str, inside: &impl Count) {
        self.path.push(field);
        inside.count(self);
        self.path.pop();
    }

    pub(crate) fn once(&mut self) {
        if !self.path.is_empty() {
            *self.fields.entry(self.path.clone()).or_default() += 1;
        }
    }
}

/// Counts itself if it says anything.
pub(crate) trait Count {
    fn count(&self, trail: &mut Trail<'_>);
}

impl Count for String {
    fn count(&self, trail: &mut Trail<'_>) {
        if !self.is_empty() {
            trail.once();
        }
    }
}

impl Count for bool {
    fn count(&self, trail: &mut Trail<'_>) {
        if *self {
            trail.once();
        }
    }
}

impl Count for i64 {
    fn count(&self, trail: &mut Trail<'_>) {
        if *self != 0 {
            trail.once();
        }
    }
}

/// The user's own, whose keys are nobody's business.
impl Count for json::Object {
    fn count(&self, trail: &mut Trail<'_>) {
        trail.once();
    }
}

/// As above.
impl Count for Value {
    fn count(&self, trail: &mut Trail<'_>) {
        if !self.is_null() {
            trail.once();
        }
    }
}

/// As above.
impl Count for Strings {
    fn count(&self, trail: &mut Trail<'_>) {
        if !self.is_empty() {
            trail.once();
        }
    }
}

impl<T: Count> Count for Option<T> {
    fn count(&self, trail: &mut Trail<'_>) {
        if let Some(it) = self {
            it.count(trail);
        }
    }
}

impl<T: Count> Count for List<T> {
    fn count(&self, trail: &mut Trail<'_>) {
        for item in self {
            item.count(trail);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Alone, Memory, Options, build};

    /// Fields and plugins.
    type Found = (Vec<(String, u64)>, Vec<(&'static str, u64)>);

    fn counted(files: &[(&str, &str)]) -> Found {
        let options = Options::default();
        let files: Memory = files.iter().copied().collect();
        _ = build(&files, &Alone, "/app", &options);
        let counts = options.usage_counts.counts();
        let fields = counts.fields.into_iter();
        let fields = fields.map(|(path, count)| (path.join("."), count));
        (fields.collect(), counts.plugins.into_iter().collect())
    }

    #[test]
    fn fields_count_as_they_are_written() {
        let (fields, plugins) = counted(&[
            (
                "/app/kustomization.yaml",
                "bases: [base]\nNAMEPREFIX: a-\nconfigMapGenerator:\n- name: x\n  literals: [a=1, b=2]\n- name: z\n  \
                 behavior: create\ncommonLabels: {app: web}\nopenapi: {}\ngeneratorOptions: {}\nhelmCharts: []\n",
            ),
            (
                "/app/base/kustomization.yaml",
                "namePrefix: b-\ntransformers:\n- |-\n  apiVersion: builtin\n  kind: PrefixTransformer\n  metadata: {name: \
                 p}\n  prefix: c-\n  fieldSpecs: [{path: metadata/name}]\n",
            ),
        ]);
        let wanted = [
            ("bases", 1),
            ("commonLabels", 1),
            ("configMapGenerator", 2),
            ("configMapGenerator.behavior", 1),
            ("configMapGenerator.literals", 2),
            ("configMapGenerator.name", 2),
            ("namePrefix", 2),
            ("transformers", 1),
        ];
        let wanted: Vec<_> = wanted.iter().map(|(n, c)| ((*n).to_owned(), *c)).collect();
        assert_eq!(fields, wanted);
        assert_eq!(plugins, [("PrefixTransformer", 1)]);
    }

    #[test]
    fn names_that_are_not_ours_do_not_count() {
        let (fields, plugins) = counted(&[(
            "/app/kustomization.yaml",
            "namespace: x\ngenerators:\n- |-\n  apiVersion: builtin\n  kind: MyGenerator\n  metadata: {name: p}\n",
        )]);
        assert_eq!(fields, [("generators".into(), 1), ("namespace".into(), 1)]);
        assert!(plugins.is_empty());
        let (fields, _) = counted(&[("/app/kustomization.yaml", "namespace: x\nmine: y\n")]);
        assert!(fields.is_empty(), "what does not decode is not counted");
    }

    #[test]
    fn every_kind_that_loads_is_known() {
        let text = include_str!("target/external.rs");
        for kind in BUILTIN_PLUGINS {
            assert!(text.contains(&format!("\"{kind}\"")), "{kind}");
        }
    }
}
