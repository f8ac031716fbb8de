//! Upgrades and downgrades: every reason for which one is not safe.

use features::verdict::{FeatureUse, ReasonCode, Review, UpgradeReview, Verdict, review};
use features::{FeatureGate, FeatureSpec, Registry, Stage, Version};

const MAX_UNAVAILABLE: &str = "MaxUnavailableStatefulSet";

fn version(minor: u64) -> Version {
    Version::new(1, minor)
}

fn gate(name: &str, specs: &[(u64, Stage, bool)], depends_on: &[&str]) -> FeatureGate {
    let spec = |&(minor, stage, default): &(u64, Stage, bool)| FeatureSpec {
        version: version(minor),
        stage,
        default,
        locked: stage == Stage::Ga,
        min_compatibility: None,
    };
    FeatureGate {
        name: name.to_owned(),
        library: "kube".to_owned(),
        specs: specs.iter().map(spec).collect(),
        depends_on: depends_on.iter().map(|it| (*it).to_owned()).collect(),
    }
}

fn registry(minor: u64, gates: Vec<FeatureGate>) -> Registry {
    Registry::new(version(minor), gates).expect("sound gates")
}

/// A registry of 1.35 in which the gate has this default, as patch releases of 1.35 had both.
fn patch_release(default: bool) -> Registry {
    let specs = [(24, Stage::Alpha, false), (35, Stage::Beta, default)];
    registry(35, vec![gate(MAX_UNAVAILABLE, &specs, &[])])
}

fn in_use(uses: u64) -> FeatureUse {
    FeatureUse {
        name: MAX_UNAVAILABLE.to_owned(),
        enabled: true,
        uses: Some(uses),
        samples: (0..uses.min(3))
            .map(|it| format!("default/web-{it}"))
            .collect(),
        ..FeatureUse::default()
    }
}

fn asked(from: &Registry, to: &Registry, flags: &[&str], features: &[FeatureUse]) -> Review {
    let flags: Vec<String> = flags.iter().map(|it| (*it).to_owned()).collect();
    review(&UpgradeReview {
        current: from,
        current_version: from.version(),
        target_version: to.version(),
        target_registry: Some(to),
        target_feature_gates: &flags,
        features,
    })
}

fn codes(review: &Review) -> Vec<ReasonCode> {
    review.reasons.iter().map(|it| it.code).collect()
}

/// Exactly one reason, and what it makes of the upgrade.
fn only(review: &Review, code: ReasonCode, verdict: Verdict) {
    assert_eq!(
        (codes(review), review.verdict),
        (vec![code], verdict),
        "{review:?}"
    );
    assert!(!code.advice().is_empty());
}

fn changed(change: impl FnOnce(&mut FeatureUse)) -> Review {
    let mut feature = in_use(1);
    change(&mut feature);
    let on = patch_release(true);
    asked(&on, &on, &[], &[feature])
}

#[test]
fn a_patch_release_that_turns_a_used_feature_off_is_unsafe_until_it_is_clean() {
    let (on, off) = (patch_release(true), patch_release(false));
    let found = asked(&on, &off, &[], &[in_use(10_000)]);
    only(&found, ReasonCode::DefaultFlips, Verdict::Unsafe);
    let reason = &found.reasons[0];
    assert!(
        reason.message.starts_with("10000 uses are stored"),
        "{reason:?}"
    );
    assert_eq!(reason.blockers.len(), 3);
    assert_eq!(asked(&on, &off, &[], &[in_use(0)]).verdict, Verdict::Safe);
    let keep = ["MaxUnavailableStatefulSet=true"];
    assert_eq!(
        asked(&on, &off, &keep, &[in_use(10_000)]).verdict,
        Verdict::Safe
    );
    let uncounted = FeatureUse {
        uses: None,
        ..in_use(0)
    };
    only(
        &asked(&on, &off, &[], &[uncounted]),
        ReasonCode::DefaultFlips,
        Verdict::Unknown,
    );
    assert_eq!(asked(&off, &on, &[], &[]).verdict, Verdict::Safe);
}

#[test]
fn what_is_in_the_way_now() {
    assert_eq!(changed(|_| {}).verdict, Verdict::Safe);
    only(
        &changed(|it| it.in_transition = true),
        ReasonCode::InTransition,
        Verdict::Unsafe,
    );
    only(
        &changed(|it| it.enabled = false),
        ReasonCode::Dangling,
        Verdict::Unsafe,
    );
    let silent = changed(|it| it.silent = vec!["kubelet/node-1".to_owned()]);
    only(&silent, ReasonCode::SilentReporters, Verdict::Unknown);
    let other = changed(|it| it.disagreeing = vec!["kube-scheduler/a".to_owned()]);
    only(&other, ReasonCode::Disagreement, Verdict::Unsafe);
    assert_eq!(other.reasons[0].blockers, ["kube-scheduler/a"]);
}

#[test]
fn flags_that_the_target_refuses() {
    let now = patch_release(true);
    let specs = [
        (24, Stage::Alpha, false),
        (35, Stage::Beta, true),
        (36, Stage::Ga, true),
    ];
    let next = registry(36, vec![gate(MAX_UNAVAILABLE, &specs, &[])]);
    for flag in ["MaxUnavailableStatefulSet=false", "Gone=true", "nonsense"] {
        only(
            &asked(&now, &next, &[flag], &[]),
            ReasonCode::WillNotStart,
            Verdict::Unsafe,
        );
    }
    let both = asked(
        &now,
        &next,
        &["MaxUnavailableStatefulSet=false,Gone=true,Lost=true"],
        &[],
    );
    assert_eq!(codes(&both), [ReasonCode::WillNotStart; 3]);
}

#[test]
fn a_dependency_that_the_target_has_off() {
    let beta = [(35, Stage::Beta, true)];
    let gates = || vec![gate("Base", &beta, &[]), gate("Upper", &beta, &["Base"])];
    let (now, next) = (registry(35, gates()), registry(36, gates()));
    let found = asked(&now, &next, &["Base=false"], &[]);
    only(&found, ReasonCode::DependencyBroken, Verdict::Unsafe);
    assert_eq!(found.reasons[0].blockers, ["Base"]);
    let base = FeatureUse {
        name: "Base".to_owned(),
        ..in_use(4)
    };
    let found = asked(&now, &next, &["Base=false,Gone=true"], &[base]);
    let all = [
        ReasonCode::WillNotStart,
        ReasonCode::DependencyBroken,
        ReasonCode::DefaultFlips,
    ];
    assert_eq!(codes(&found), all);
    assert_eq!(
        asked(&now, &next, &["Base=false,Upper=false"], &[]).verdict,
        Verdict::Safe
    );
}

#[test]
fn downgrades() {
    let specs = [(36, Stage::Beta, true)];
    let now = registry(36, vec![gate(MAX_UNAVAILABLE, &specs, &[])]);
    let before = registry(35, Vec::new());
    let found = asked(&now, &before, &[], &[in_use(2)]);
    only(&found, ReasonCode::UnknownAfterDowngrade, Verdict::Unsafe);
    assert_eq!(
        asked(&now, &before, &[], &[in_use(0)]).verdict,
        Verdict::Safe
    );
    // The registry of the running binary knows what was before.
    let own = review(&UpgradeReview {
        current: &now,
        current_version: now.version(),
        target_version: version(35),
        target_registry: None,
        target_feature_gates: &[],
        features: &[in_use(2)],
    });
    only(&own, ReasonCode::UnknownAfterDowngrade, Verdict::Unsafe);
    let newer_form = FeatureUse {
        schema_since: Some(version(36)),
        ..in_use(2)
    };
    let known = registry(
        35,
        vec![gate(MAX_UNAVAILABLE, &[(35, Stage::Beta, true)], &[])],
    );
    let found = asked(&now, &known, &[], &[newer_form]);
    only(&found, ReasonCode::IncompatibleSchema, Verdict::Unsafe);
}

#[test]
fn too_far_and_into_the_unknown() {
    let now = patch_release(true);
    let far = Registry::new(
        version(37),
        now.gates().iter().filter(|it| !it.is_special()).cloned(),
    );
    let found = asked(&now, &far.expect("sound gates"), &[], &[in_use(1)]);
    only(&found, ReasonCode::SkewExceeded, Verdict::Unsafe);
    let unknown = review(&UpgradeReview {
        current: &now,
        current_version: now.version(),
        target_version: version(36),
        target_registry: None,
        target_feature_gates: &[],
        features: &[],
    });
    only(&unknown, ReasonCode::WillNotStart, Verdict::Unknown);
}

#[test]
fn a_gate_that_is_removed_after_its_feature_is_locked_is_no_reason() {
    let (now, next) = (patch_release(true), registry(36, Vec::new()));
    assert_eq!(asked(&now, &next, &[], &[in_use(5)]).verdict, Verdict::Safe);
}
