//! Is an upgrade or downgrade safe now, and if not, why? A pure function over registries, flags and what is in use.

mod reason;
mod target;

pub use self::reason::{Reason, ReasonCode};
use crate::{Registry, Version};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    Safe,
    /// Something that decides it could not be found out.
    Unknown,
    Unsafe,
}

/// The question.
#[derive(Clone, Copy, Debug)]
pub struct UpgradeReview<'a> {
    /// The registry of the running binary.
    pub current: &'a Registry,
    /// The version that the running servers are of, or emulate.
    pub current_version: Version,
    pub target_version: Version,
    /// The registry of the binary to come. Without it the one of the running binary answers for versions up to its own.
    pub target_registry: Option<&'a Registry>,
    /// The values of `--feature-gates` that the binary to come is started with.
    pub target_feature_gates: &'a [String],
    /// Every feature that can leave something in storage or has something to say; others have no part in the answer.
    pub features: &'a [FeatureUse],
}

/// What is known of a feature now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeatureUse {
    pub name: String,
    pub enabled: bool,
    pub in_transition: bool,
    /// How many stored objects use it; nothing if that was not counted.
    pub uses: Option<u64>,
    /// Some of them.
    pub samples: Vec<String>,
    /// Components that are expected to report and do not.
    pub silent: Vec<String>,
    /// Components whose value is another.
    pub disagreeing: Vec<String>,
    /// The oldest version that reads uses in the form in which they are stored, if that changed.
    pub schema_since: Option<Version>,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Review {
    pub verdict: Verdict,
    pub reasons: Vec<Reason>,
}

/// So many minor versions a control plane goes at once, up or down.
const SKEW: u64 = 1;

pub fn review(question: &UpgradeReview<'_>) -> Review {
    let mut reasons = Vec::new();
    let (from, to) = (question.current_version, question.target_version);
    if from.major != to.major || from.minor.abs_diff(to.minor) > SKEW {
        let message = format!("from {from} to {to} is more than {SKEW} minor version");
        reasons.push(Reason::new("", ReasonCode::SkewExceeded, message));
    }
    let target = target::Target::of(question, &mut reasons);
    for feature in question.features {
        now(feature, &mut reasons);
        if let Some(target) = &target {
            then(feature, target, to < from, &mut reasons);
        }
        schema(feature, to, &mut reasons);
    }
    let verdicts = reasons.iter().map(|it| it.verdict);
    Review {
        verdict: verdicts.max().unwrap_or(Verdict::Safe),
        reasons,
    }
}

/// Features whose stored uses have to be counted for an answer: those that are on, and will not be in the target.
pub fn uses_that_matter(question: &UpgradeReview<'_>) -> Vec<String> {
    let target = target::Target::of(question, &mut Vec::new());
    let is_down = question.target_version < question.current_version;
    let matters = |it: &&FeatureUse| {
        let then = target.as_ref().map(|target| target.enabled(&it.name));
        it.enabled
            && it.uses.is_none()
            && matches!((then, is_down), (Some(Some(false)), _) | (Some(None), true))
    };
    let features = question.features.iter().filter(matters);
    features.map(|it| it.name.clone()).collect()
}

/// What is in the way whatever the target.
fn now(feature: &FeatureUse, reasons: &mut Vec<Reason>) {
    let name = &feature.name;
    if feature.in_transition {
        let message = "the feature is being turned on or off".to_owned();
        reasons.push(Reason::new(name, ReasonCode::InTransition, message));
    }
    if !feature.enabled && !feature.in_transition {
        let what = "stored though the feature is off";
        reasons.extend(stored(feature, ReasonCode::Dangling, what));
    }
    let named = |code, what: &str, components: &[String]| {
        let count = components.len();
        let message = format!("{count} components {what}");
        (count > 0).then(|| Reason::new(name, code, message).with_blockers(components))
    };
    let silent = named(
        ReasonCode::SilentReporters,
        "do not report",
        &feature.silent,
    );
    reasons.extend(silent.map(|it| it.of(Verdict::Unknown)));
    let what = "have another value";
    reasons.extend(named(ReasonCode::Disagreement, what, &feature.disagreeing));
}

/// What the target makes of a feature that is on.
fn then(feature: &FeatureUse, target: &target::Target, is_down: bool, reasons: &mut Vec<Reason>) {
    if !feature.enabled {
        return;
    }
    let (code, what) = match target.enabled(&feature.name) {
        None if is_down => (
            ReasonCode::UnknownAfterDowngrade,
            "stored, and the target does not know the feature",
        ),
        // A gate is removed after its feature is locked: it stays as it is.
        None | Some(true) => return,
        Some(false) => (
            ReasonCode::DefaultFlips,
            "stored, and the target turns the feature off",
        ),
    };
    reasons.extend(stored(feature, code, what));
}

fn schema(feature: &FeatureUse, to: Version, reasons: &mut Vec<Reason>) {
    if let Some(since) = feature.schema_since.filter(|since| to < *since) {
        let what = format!("stored in a form that only {since} and later read");
        reasons.extend(stored(feature, ReasonCode::IncompatibleSchema, &what));
    }
}

/// Unsafe if there are uses, unknown if nobody has counted them.
fn stored(feature: &FeatureUse, code: ReasonCode, what: &str) -> Option<Reason> {
    match feature.uses {
        Some(0) => None,
        Some(count) => {
            let reason = Reason::new(&feature.name, code, format!("{count} uses are {what}"));
            Some(reason.with_blockers(&feature.samples))
        }
        None => {
            let message = format!("nobody has counted the uses that may be {what}");
            Some(Reason::new(&feature.name, code, message).of(Verdict::Unknown))
        }
    }
}
