//! What can be wrong with flags and registries. The texts are upstream's.

use meta::go::NumError;
use meta::go::quote;
use thiserror::Error;

use crate::Version;

/// Where kube-apiserver refuses a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// While flags are read.
    Parse,
    /// Before anything starts.
    Set,
    /// Together with the checks of all other options.
    Validate,
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    #[error("invalid argument {} for {} flag: {problem}", quote(.value), quote(.flag))]
    InvalidArgument {
        flag: String,
        value: String,
        problem: String,
    },
    #[error("could not parse {} as version", quote(.0))]
    UnparsableVersion(String),
    #[error("illegal version string {}", quote(.0))]
    IllegalVersion(String),
    #[error("illegal zero-prefixed version component {} in {}", quote(.component), quote(.version))]
    ZeroPrefixedVersion { component: String, version: String },
    #[error(
        "illegal non-numeric version component {} in {}: {error}",
        quote(&.error.text), quote(.version)
    )]
    VersionOutOfRange { version: String, error: NumError },
    #[error("patch version not allowed, got: {component}={version}")]
    PatchVersion { component: String, version: String },
    #[error("duplicate version flag, {component}={first} and {component}={second}")]
    DuplicateVersion {
        component: String,
        first: String,
        second: String,
    },
    #[error("component not registered: {0}")]
    UnknownComponent(String),
    #[error(
        "set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use"
    )]
    MixedPrefixes,
    #[error("missing bool value for {0}")]
    MissingBool(String),
    #[error("invalid value of {gate}={}, err: {error}", .error.text)]
    InvalidBool { gate: String, error: NumError },
    #[error("unrecognized feature gate: {0}")]
    UnrecognizedGate(String),
    #[error("cannot set feature gate {gate} to {value}, feature is locked to {}", !.value)]
    Locked { gate: String, value: bool },
    #[error(
        "cannot set feature gate {gate} to {value}, feature is PreAlpha at emulated version {emulation}, min compatibility version {min_compatibility}"
    )]
    PreAlpha {
        gate: String,
        value: bool,
        emulation: Version,
        min_compatibility: Version,
    },
    #[error("{gate} is enabled, but depends on features that are disabled: [{}]", .disabled.join(" "))]
    DisabledDependencies { gate: String, disabled: Vec<String> },
    #[error("emulation version {emulation} is not between [{floor}, {binary}.0]")]
    EmulationOutOfRange {
        emulation: Version,
        floor: Version,
        binary: Version,
    },
    #[error(
        "minCompatibilityVersion version {min_compatibility} is not between [{floor}, {emulation}]"
    )]
    MinCompatibilityOutOfRange {
        min_compatibility: Version,
        floor: Version,
        emulation: Version,
    },
    /// A gate whose versioned specs contradict themselves.
    #[error("{0}")]
    Declaration(String),
    #[error("{0} is not NAMESPACE/NAME or NAMESPACE/*")]
    Selection(String),
    /// A text that is no registry.
    #[error("registry: {0}")]
    Registry(String),
    #[error("{}", aggregate(.0))]
    Several(Vec<Error>),
}

impl Error {
    pub fn phase(&self) -> Phase {
        match self {
            Self::InvalidArgument { .. } => Phase::Parse,
            Self::EmulationOutOfRange { .. } | Self::MinCompatibilityOutOfRange { .. } => {
                Phase::Validate
            }
            Self::Several(errors) => errors.first().map_or(Phase::Set, Self::phase),
            _ => Phase::Set,
        }
    }

    /// Each error on its own.
    pub fn each(&self) -> &[Error] {
        match self {
            Self::Several(errors) => errors,
            one => std::slice::from_ref(one),
        }
    }

    /// Nothing if there are none, the error itself if it is one.
    pub(crate) fn from_all(mut errors: Vec<Error>) -> Result<(), Error> {
        match errors.len() {
            0 => Ok(()),
            1 => Err(errors.remove(0)),
            _ => Err(Self::Several(errors)),
        }
    }
}

/// As `k8s.io/apimachinery/pkg/util/errors` writes several errors: each text once.
fn aggregate(errors: &[Error]) -> String {
    let mut texts: Vec<String> = Vec::new();
    for error in errors {
        let text = error.to_string();
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    format!("[{}]", texts.join(", "))
}
