//! What each feature needs now: the inputs of the transition function, gathered from what this server has seen.

use std::collections::BTreeMap;

use apiserver::local::FEATURES_NAMESPACE as NAMESPACE;
use features::lifecycle::{
    Condition, FeatureStatus, Inputs, OnDangling, RunTask, State, Step, Target, TaskOutcome, step,
};
use features::{Registry, Source};
use json::{Value, json};

use super::record::{self, Facts};
use super::servers::Live;
use super::tasks::Ended;
use super::{Decision, Flow, Known, depends_on};

impl Flow {
    /// What a feature needs now, and when to look again. Nothing if no server knows it and it was never announced.
    pub(super) fn look_at(
        &self,
        feature: &str,
        live: &[Live<'_>],
        ended: Option<&(RunTask, Ended)>,
    ) -> Option<(Option<Decision>, Option<u64>)> {
        static NEW: std::sync::LazyLock<Known> = std::sync::LazyLock::new(Known::default);
        let known = self.features.get(feature).unwrap_or(&NEW);
        let own = self.admission.own();
        let gate = Registry::kubernetes()
            .find(feature)
            .and_then(|it| own.get(it));
        let gate = gate.filter(|it| it.spec.stage != features::Stage::PreAlpha);
        let knows = |it: &Live<'_>| it.shard.is_some_and(|it| it.values.contains_key(feature));
        let known_by = live.iter().filter(|it| knows(it)).count();
        let plan = self.plans.of(feature);
        let is_dynamic = live.iter().all(|it| {
            let shard = it.shard;
            shard.is_some_and(|it| it.dynamic.contains(NAMESPACE, feature))
        });
        let (target, disagreement) = self.target(feature, known, live, is_dynamic);
        let dependencies = depends_on(feature);
        let dependencies: Vec<(&str, bool)> = dependencies
            .iter()
            .map(|it| (it.as_str(), self.is_satisfied(it)))
            .collect();
        let unmet = dependencies.iter().filter(|(_, on)| !on);
        let unmet: Vec<String> = unmet.map(|(name, _)| (*name).to_owned()).collect();
        let dependents = self.active_dependents(feature);
        let outcome = ended.map(|(run, ended)| TaskOutcome {
            epoch: run.epoch,
            task: run.name.clone(),
            outcome: ended.outcome.clone(),
        });
        let is_off = known
            .status
            .as_ref()
            .is_some_and(|it| it.state == State::Off);
        let scanned = self.scanned.get(feature).filter(|_| is_off);
        let now = (self.config.clock)();
        let inputs = Inputs {
            now,
            known: known_by > 0,
            target,
            on_dangling: match known.object.str_at(&["spec", "onDangling"]) {
                Some("Accept") => OnDangling::Accept,
                _ => OnDangling::Hold,
            },
            unmet_dependencies: &unmet,
            active_dependents: &dependents,
            plan: &plan,
            outcome: outcome.as_ref(),
            scanned: scanned.map(|it| it.count),
            adopts: dependencies
                .iter()
                .all(|(it, _)| !is_dynamic && self.is_fixed(it)),
        };
        let Step {
            status: next,
            run,
            retry_at,
            conditions,
        } = step(known.status.as_ref(), &inputs)?;
        let actor = self.actor(known, target.map(|it| it.source));
        let facts = Facts {
            gate,
            emulation: own.emulation(),
            now,
            leader: &self.identity,
            actor: &actor,
            is_dynamic,
            is_central: self.config.central.contains(NAMESPACE, feature),
            dependencies,
            dependents: &dependents,
            servers: live.len(),
            known_by,
            target: target.map(|it| (it.enabled, it.source.as_str())),
            disagreement,
            uses: None,
            found: ended.and_then(|(_, it)| it.found.as_ref()).or(scanned),
        };
        let decision = self.decision(feature, known, next, &conditions, &facts);
        Some((decision.or(run.map(Decision::Run)), retry_at))
    }

    /// A write, if anything is to be written.
    fn decision(
        &self,
        feature: &str,
        known: &Known,
        next: FeatureStatus,
        conditions: &[Condition],
        facts: &Facts<'_>,
    ) -> Option<Decision> {
        let written = record::status(&known.object, &next, conditions, facts);
        let stored = known.object.get("status").cloned().unwrap_or_default();
        if record::without_nulls(stored) == written {
            return None;
        }
        let before = known.status.as_ref().map(|it| it.state);
        let mut object = known.object.clone();
        if object.is_null() {
            object = json!({
                "kind": "Feature",
                "apiVersion": "features.k8s.io/v1alpha1",
                "metadata": {"name": feature, "namespace": NAMESPACE},
                "spec": {},
            });
        }
        if let Some(fields) = object.as_object_mut() {
            fields.insert("status", written);
        }
        let event = before.filter(|it| *it != next.state);
        let known = Known {
            object,
            status: Some(next),
        };
        let old = self.features.get(feature).map(|it| it.object.clone());
        Some(Decision::Write(
            Box::new(known),
            old.unwrap_or_default(),
            event,
        ))
    }

    /// What the servers want; nothing if they differ, with who wants what.
    fn target(
        &self,
        feature: &str,
        known: &Known,
        live: &[Live<'_>],
        is_dynamic: bool,
    ) -> (Option<Target>, String) {
        let own = self.admission.own();
        let gate = Registry::kubernetes()
            .find(feature)
            .and_then(|it| own.get(it));
        let is_locked = gate.is_some_and(|it| it.spec.locked);
        let target = |enabled, source, immediate| Target {
            enabled,
            source,
            immediate,
        };
        let is_killed = live
            .iter()
            .any(|it| it.shard.is_some_and(|it| it.killed.contains(feature)));
        if is_killed && !is_locked {
            return (
                Some(target(false, Source::CommandLine, true)),
                String::new(),
            );
        }
        let desired = known.object.str_at(&["spec", "desired"]);
        if let (true, false, Some(desired)) =
            (is_dynamic, is_locked, desired.filter(|it| !it.is_empty()))
        {
            let immediate = known.object.str_at(&["spec", "urgency"]) == Some("Immediate");
            return (
                Some(target(desired == "Enabled", Source::Dynamic, immediate)),
                String::new(),
            );
        }
        let mut values: BTreeMap<bool, Vec<&str>> = BTreeMap::new();
        let mut silent = Vec::new();
        for it in live {
            match it.shard {
                None => silent.push(it.id),
                Some(shard) => {
                    if let Some(value) = shard.values.get(feature) {
                        values.entry(*value).or_default().push(it.id);
                    }
                }
            }
        }
        if !silent.is_empty() {
            return (None, format!("not heard of yet: {}", silent.join(", ")));
        }
        let source = gate.map_or(Source::Default, |it| it.source);
        let texts = values
            .iter()
            .map(|(value, ids)| format!("{value} on {}", ids.join(", ")));
        match values.len() {
            1 => {
                let value = values.keys().next().copied().unwrap_or_default();
                (Some(target(value, source, false)), String::new())
            }
            0 => (None, String::new()),
            _ => (None, texts.collect::<Vec<_>>().join("; ")),
        }
    }

    /// Whether a dependency is on, or will be announced so.
    fn is_satisfied(&self, dependency: &str) -> bool {
        if let Some(state) = self.state_of(dependency) {
            return state == State::On;
        }
        let own = self.admission.own();
        let gate = Registry::kubernetes().find(dependency);
        self.is_fixed(dependency) && gate.is_some_and(|it| own.enabled(it))
    }

    /// Set by command lines alone, which refuse a feature without its dependencies: it cannot be turned off meanwhile.
    fn is_fixed(&self, feature: &str) -> bool {
        !self.admission.is_dynamic(NAMESPACE, feature)
    }

    pub(super) fn state_of(&self, feature: &str) -> Option<State> {
        self.features
            .get(feature)?
            .status
            .as_ref()
            .map(|it| it.state)
    }

    /// Features that depend on this one and are not off.
    fn active_dependents(&self, feature: &str) -> Vec<String> {
        let gates = Registry::kubernetes().gates().iter();
        let dependents = gates.filter(|it| it.depends_on.iter().any(|it| it == feature));
        let active = dependents.filter(|it| {
            let state = self.state_of(&it.name);
            state.is_some_and(|it| it != State::Off)
        });
        active.map(|it| it.name.clone()).collect()
    }

    /// Who is behind a change.
    fn actor(&self, known: &Known, source: Option<Source>) -> String {
        let managers = known.object.at(&["metadata", "managedFields"]);
        let managers = managers.and_then(Value::as_array).into_iter().flatten();
        let mut desired = managers.filter(|it| it.str_at(&["subresource"]) == Some("desired"));
        let manager = desired.next_back().and_then(|it| it.str_at(&["manager"]));
        match (source, manager) {
            (Some(Source::Dynamic), Some(manager)) => manager.to_owned(),
            _ => self.identity.clone(),
        }
    }
}
