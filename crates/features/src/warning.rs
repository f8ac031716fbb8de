//! What upstream logs about a command line that it accepts.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Warning {
    /// A gate that goes with its feature.
    Deprecated { gate: String, value: bool },
    /// A gate that is no longer needed.
    Ga { gate: String, value: bool },
    /// Alpha features that are on although an earlier version is emulated.
    EmulatedAlpha { features: Vec<String> },
}

impl Warning {
    /// The message without its values.
    pub fn message(&self) -> &'static str {
        match self {
            Self::Deprecated { .. } => {
                "Warning: setting deprecated feature gate. It will be removed in a future release."
            }
            Self::Ga { .. } => {
                "Warning: setting GA feature gate. It will be removed in a future release."
            }
            Self::EmulatedAlpha { .. } => {
                "component has alpha features enabled in emulated version, this is unsupported: features="
            }
        }
    }
}

/// As klog writes it, behind the time and the place.
impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = self.message();
        match self {
            Self::Deprecated { gate, value } | Self::Ga { gate, value } => {
                write!(f, "{message:?} featureGate={gate:?} value={value}")
            }
            Self::EmulatedAlpha { features } => write!(f, "{message}[{}]", features.join(" ")),
        }
    }
}
