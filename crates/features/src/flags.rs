//! `--feature-gates`, `--emulated-version` and `--min-compatibility-version`, as kube-apiserver takes them.

mod csv;
mod gates;
mod versions;

use std::collections::BTreeMap;

use self::versions::VersionFlag;
use crate::{Error, Registry, Settings, Version};

/// The component that flags without a prefix are about, and the only one there is.
const KUBE: &str = "kube";

/// How many minor versions a binary can go back.
const SKEW: u64 = 3;

/// No version below this one can be emulated, whatever the binary.
const OLDEST: Version = Version::new(1, 31);

/// The values of the flags, in the order in which they were given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    pub feature_gates: Vec<String>,
    pub emulated_version: Vec<String>,
    pub min_compatibility_version: Vec<String>,
}

impl Flags {
    /// First the versions count, then the gates, whatever the order of the flags.
    pub fn resolve<'a>(&self, registry: &'a Registry) -> Result<Settings<'a>, Error> {
        let emulated = versions::read(VersionFlag::Emulated, &self.emulated_version)?;
        let min = versions::read(
            VersionFlag::MinCompatibility,
            &self.min_compatibility_version,
        )?;

        let binary = registry.version();
        let floor = binary.minus_minor(SKEW).max(OLDEST);
        let emulation = versions::of_kube(&emulated)?.unwrap_or(binary);
        let min_compatibility =
            versions::of_kube(&min)?.unwrap_or(emulation.minus_minor(1).max(floor));

        let mut settings = Settings::defaults(registry, emulation, min_compatibility);
        settings.check_dependencies()?;
        settings.set(&Self::gates(&self.feature_gates)?)?;
        validate(&settings, floor)?;
        settings.warn_of_emulated_alpha();
        Ok(settings)
    }

    /// The gates that values of `--feature-gates` name, whether or not there are such gates.
    pub fn gates(values: &[String]) -> Result<BTreeMap<String, bool>, Error> {
        let text = gates::of_kube(&gates::by_component(values))?;
        gates::parse(&text.unwrap_or_default())
    }
}

fn validate(settings: &Settings<'_>, floor: Version) -> Result<(), Error> {
    let binary = settings.registry().version();
    let (emulation, min_compatibility) = (settings.emulation(), settings.min_compatibility());
    let mut errors = Vec::new();
    if emulation > binary || emulation < floor {
        errors.push(Error::EmulationOutOfRange {
            emulation,
            floor,
            binary,
        });
    }
    if min_compatibility > emulation || min_compatibility < floor {
        errors.push(Error::MinCompatibilityOutOfRange {
            min_compatibility,
            floor,
            emulation,
        });
    }
    Error::from_all(errors)
}
