//! How mature a feature is.

use std::fmt;

/// A stage of a feature's life, in the order in which a feature passes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Not there yet at the emulated version: off, and cannot be set.
    PreAlpha,
    Alpha,
    Beta,
    Ga,
    Deprecated,
}

impl Stage {
    /// Upstream's word, but for GA, which upstream writes as nothing.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PreAlpha => "PRE-ALPHA",
            Self::Alpha => "ALPHA",
            Self::Beta => "BETA",
            Self::Ga => "GA",
            Self::Deprecated => "DEPRECATED",
        }
    }

    /// The `stage` label of `kubernetes_feature_enabled`, and the stage in messages about dependencies.
    pub fn prerelease(self) -> &'static str {
        match self {
            Self::Ga => "",
            other => other.as_str(),
        }
    }

    /// Reads a stage in any case, as registries write it.
    pub fn parse(text: &str) -> Option<Self> {
        let all = [
            Self::PreAlpha,
            Self::Alpha,
            Self::Beta,
            Self::Ga,
            Self::Deprecated,
        ];
        let mut all = all.into_iter();
        all.find(|it| it.as_str().eq_ignore_ascii_case(text))
    }

    /// A feature must not depend on one of lower stability.
    pub(crate) fn stability(self) -> u8 {
        match self {
            Self::Deprecated => 0,
            Self::PreAlpha | Self::Alpha => 1,
            Self::Beta => 2,
            Self::Ga => 3,
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
