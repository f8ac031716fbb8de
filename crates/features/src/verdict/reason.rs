//! Why an upgrade is not safe, and what to do.

use super::Verdict;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// Empty if it is about the upgrade as a whole.
    pub feature: String,
    pub code: ReasonCode,
    /// `Unsafe`, or `Unknown` if it only may be so.
    pub verdict: Verdict,
    pub message: String,
    /// Objects or components in the way, or some of them.
    pub blockers: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReasonCode {
    InTransition,
    Dangling,
    SilentReporters,
    Disagreement,
    WillNotStart,
    DependencyBroken,
    DefaultFlips,
    IncompatibleSchema,
    UnknownAfterDowngrade,
    SkewExceeded,
}

impl ReasonCode {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InTransition => "InTransition",
            Self::Dangling => "Dangling",
            Self::SilentReporters => "SilentReporters",
            Self::Disagreement => "Disagreement",
            Self::WillNotStart => "WillNotStart",
            Self::DependencyBroken => "DependencyBroken",
            Self::DefaultFlips => "DefaultFlips",
            Self::IncompatibleSchema => "IncompatibleSchema",
            Self::UnknownAfterDowngrade => "UnknownAfterDowngrade",
            Self::SkewExceeded => "SkewExceeded",
        }
    }

    /// What to do about it.
    pub fn advice(self) -> &'static str {
        match self {
            Self::InTransition => "wait until the feature is On or Off",
            Self::Dangling => "remove the uses, or turn the feature on",
            Self::SilentReporters => "start the components, or remove their Leases",
            Self::Disagreement => "restart the components with the same --feature-gates",
            Self::WillNotStart => "change --feature-gates of the target",
            Self::DependencyBroken => "turn on the dependency or turn off the feature",
            Self::DefaultFlips => {
                "set the gate with --feature-gates of the target, or turn the feature off now, which cleans up"
            }
            Self::IncompatibleSchema | Self::UnknownAfterDowngrade => {
                "turn the feature off now, which cleans up"
            }
            Self::SkewExceeded => "go one minor version at a time",
        }
    }
}

impl Reason {
    pub(super) fn new(feature: &str, code: ReasonCode, message: String) -> Self {
        Self {
            feature: feature.to_owned(),
            code,
            verdict: Verdict::Unsafe,
            message,
            blockers: Vec::new(),
        }
    }

    pub(super) fn with_blockers(mut self, blockers: &[String]) -> Self {
        self.blockers = blockers.to_vec();
        self
    }

    pub(super) fn of(mut self, verdict: Verdict) -> Self {
        self.verdict = verdict;
        self
    }
}
