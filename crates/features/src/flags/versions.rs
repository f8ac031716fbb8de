//! The values of `--emulated-version` and `--min-compatibility-version`: `[COMPONENT=]MAJOR.MINOR,...`

use super::{KUBE, csv};
use crate::version::GivenVersion;
use crate::{Error, Version};

#[derive(Clone, Copy, Debug)]
pub(super) enum VersionFlag {
    Emulated,
    MinCompatibility,
}

impl VersionFlag {
    fn name(self) -> &'static str {
        match self {
            Self::Emulated => "--emulated-version",
            Self::MinCompatibility => "--min-compatibility-version",
        }
    }
}

/// The items of all values of the flag.
pub(super) fn read(flag: VersionFlag, values: &[String]) -> Result<Vec<String>, Error> {
    let mut items = Vec::new();
    for value in values.iter().filter(|it| !it.is_empty()) {
        let record = csv::record(value).map_err(|error| Error::InvalidArgument {
            flag: flag.name().to_owned(),
            value: value.clone(),
            problem: error.to_string(),
        })?;
        items.extend(record);
    }
    Ok(items)
}

/// The version that is given for Kubernetes' own component.
pub(super) fn of_kube(items: &[String]) -> Result<Option<Version>, Error> {
    let mut all: Vec<(&str, GivenVersion)> = Vec::new();
    for item in items {
        let (component, text) = match item.split_once('=') {
            Some((component, text)) => (component.trim(), text.trim()),
            None => (KUBE, item.as_str()),
        };
        let version = GivenVersion::parse(text)?;
        if version.patch() != 0 {
            return Err(Error::PatchVersion {
                component: component.to_owned(),
                version: version.to_string(),
            });
        }
        if let Some((_, first)) = all.iter().find(|(known, _)| *known == component) {
            return Err(Error::DuplicateVersion {
                component: component.to_owned(),
                first: first.to_string(),
                second: version.to_string(),
            });
        }
        all.push((component, version));
    }
    match all.iter().find(|(component, _)| *component != KUBE) {
        Some((unknown, _)) => Err(Error::UnknownComponent((*unknown).to_owned())),
        None => Ok(all.first().map(|(_, version)| version.major_minor())),
    }
}
