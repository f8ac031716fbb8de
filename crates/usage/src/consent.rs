//! Whether anything is counted, and why.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;

use crate::config::{self, Settings};
use crate::destination::Destination;
use crate::spool::{HERE, Spool};
use crate::{CONTRIBUTORS, EXPORT, Invocation, Places};

/// The notice of the first interactive run. `program` is how the user called it.
pub fn notice(program: &str, plan: &Plan) -> String {
    let sent = match &plan.destination {
        Some(Destination::Contributors) => format!(
            "From the next build on they are sent to {CONTRIBUTORS}, which this program was built with."
        ),
        Some(destination) => {
            format!("From the next build on they are sent to {destination}, set by {}.", plan.source)
        }
        None => "They stay on this machine, and are sent only to an endpoint that somebody sets. None is set.".into(),
    };
    format!(
        "\
Builds count which kustomization fields are used: names of fields and how often, none of your data.
{sent}
This build is not counted. To see the counts: {program_of_usage} usage show. To switch counting off:
    {program} config set {EXPORT}=none
",
        // Only this name has the command.
        program_of_usage = crate::PROGRAM,
    )
}

#[derive(Debug)]
pub enum Decision {
    Off(Reason),
    On(Plan),
}

/// What is done with what is counted.
#[derive(Clone, Debug)]
pub struct Plan {
    /// None: it is kept here and goes nowhere.
    pub destination: Option<Destination>,
    pub source: Source,
    pub places: Places,
    pub(crate) settings: Settings,
}

/// Where a setting comes from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Source {
    #[error("{0} in the environment")]
    Environment(&'static str),
    #[error("{key} in {path}", path = .1.display(), key = .0)]
    File(&'static str, PathBuf),
    #[error("nothing is set")]
    Nobody,
}

#[derive(Debug, thiserror::Error)]
pub enum Reason {
    #[error("DO_NOT_TRACK is set in the environment")]
    DoNotTrack,
    #[error("OTEL_SDK_DISABLED is true in the environment")]
    SdkDisabled,
    #[error("by {0}")]
    OptedOut(Source),
    #[error(
        "{0} is set in the environment: this is continuous integration, and no endpoint is set explicitly"
    )]
    Ci(&'static str),
    #[error("there is no terminal, and no endpoint is set explicitly")]
    NoTerminal,
    #[error("{0}")]
    Broken(#[from] crate::Error),
}

/// What continuous integration sets.
const CI: &[&str] = &[
    "CI",
    "BUILD_NUMBER",
    "GITHUB_ACTIONS",
    "GITLAB_CI",
    "TEAMCITY_VERSION",
    "TF_BUILD",
];

/// Setting one of them is enough.
const ENDPOINTS: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
];

pub fn decide(invocation: &Invocation<'_>) -> Decision {
    match plan(invocation) {
        Ok(plan) => Decision::On(plan),
        Err(why) => Decision::Off(why),
    }
}

fn plan(invocation: &Invocation<'_>) -> Result<Plan, Reason> {
    let variable = |name| invocation.variable(name);
    let says_yes = |value: String| !matches!(value.trim(), "0" | "false");
    if variable("DO_NOT_TRACK").is_some_and(says_yes) {
        return Err(Reason::DoNotTrack);
    }
    if variable("OTEL_SDK_DISABLED").is_some_and(|it| it.trim().eq_ignore_ascii_case("true")) {
        return Err(Reason::SdkDisabled);
    }
    let by_variable = variable(EXPORT);
    if by_variable.as_deref().map(str::trim) == Some("none") {
        return Err(Reason::OptedOut(Source::Environment(EXPORT)));
    }
    let places = Places::find(invocation).ok_or(crate::Error::NoHome)?;
    let settings = config::read(&places.config)?;
    let find = |key: &'static str| {
        if let Some(value) = variable(key) {
            return Some((value, Source::Environment(key)));
        }
        let value = settings.get(key)?.clone();
        Some((value, Source::File(key, places.config.clone())))
    };
    let (destination, source) = if let Some((value, source)) = find(EXPORT) {
        if value.trim() == "none" {
            return Err(Reason::OptedOut(source));
        }
        (Some(Destination::parse(value.trim())?), source)
    } else if let Some((_, source)) = ENDPOINTS.into_iter().find_map(find) {
        (Some(Destination::Otlp), source)
    } else {
        if let Some(ci) = CI.iter().find(|it| variable(it).is_some_and(says_yes)) {
            return Err(Reason::Ci(ci));
        }
        if !invocation.interactive {
            return Err(Reason::NoTerminal);
        }
        let contributors = (!CONTRIBUTORS.is_empty()).then_some(Destination::Contributors);
        (contributors, Source::Nobody)
    };
    Ok(Plan {
        destination,
        source,
        places,
        settings,
    })
}

impl Plan {
    /// What waits for this destination, and for no other.
    pub(crate) fn spool(&self, invocation: &Invocation<'_>) -> Spool {
        let Some(destination) = &self.destination else {
            return Spool::at(&self.places.state, HERE);
        };
        let mut hasher = DefaultHasher::new();
        destination.to_string().hash(&mut hasher);
        if *destination == Destination::Otlp {
            ENDPOINTS
                .map(|key| self.setting(invocation, key))
                .hash(&mut hasher);
        }
        Spool::at(&self.places.state, &format!("{:016x}", hasher.finish()))
    }

    /// A setting: from the environment, else from the user's file.
    pub(crate) fn setting(&self, invocation: &Invocation<'_>, key: &'static str) -> Option<String> {
        let value = invocation.variable(key);
        value.or_else(|| self.settings.get(key).cloned())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::SystemTime;

    use super::*;

    /// What is decided in an environment, as text.
    fn decided(home: &Path, interactive: bool, variables: &[(&str, &str)]) -> String {
        let variable = |name: &'static str| {
            if name == "HOME" {
                return Some(home.to_str().unwrap().to_owned());
            }
            let found = variables.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let invocation = Invocation {
            variable: &variable,
            interactive,
            now: SystemTime::UNIX_EPOCH,
            program: "kustomize",
        };
        match decide(&invocation) {
            Decision::Off(why) => format!("off: {why}"),
            Decision::On(plan) => match plan.destination {
                Some(destination) => format!("{destination} by {}", plan.source),
                None => "here".into(),
            },
        }
    }

    #[test]
    fn whoever_says_no_is_heard() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path();
        let off = |name: &str| format!("off: {name}");
        let all = [
            (
                "DO_NOT_TRACK",
                "1",
                "DO_NOT_TRACK is set in the environment",
            ),
            (
                "OTEL_SDK_DISABLED",
                "True",
                "OTEL_SDK_DISABLED is true in the environment",
            ),
            (
                EXPORT,
                "none",
                "by KUSTOMIZE_EXPORT_METRICS in the environment",
            ),
        ];
        for (name, value, wanted) in all {
            let explicit = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost");
            let found = decided(home, true, &[(name, value), explicit]);
            assert_eq!(found, off(wanted));
        }
        assert_eq!(decided(home, true, &[("DO_NOT_TRACK", "0")]), "here");
        assert_eq!(decided(home, true, &[("OTEL_SDK_DISABLED", "x")]), "here");
    }

    #[test]
    fn machines_are_asked_only_if_they_are_told_to() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path();
        assert!(decided(home, false, &[]).starts_with("off: there is no terminal"));
        assert!(decided(home, true, &[("CI", "true")]).starts_with("off: CI is set"));
        assert_eq!(decided(home, true, &[("CI", "false")]), "here");
        let explicit = [(EXPORT, "file:/x"), ("CI", "true")];
        let found = decided(home, false, &explicit);
        assert_eq!(
            found,
            "file:/x by KUSTOMIZE_EXPORT_METRICS in the environment"
        );
        let endpoint = ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://c");
        let found = decided(home, false, &[endpoint]);
        assert_eq!(
            found,
            "otlp by OTEL_EXPORTER_OTLP_METRICS_ENDPOINT in the environment"
        );
    }

    #[test]
    fn the_environment_comes_before_the_file_and_a_broken_file_before_all() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path();
        let places = Places {
            config: home.join(".config/pilothouse/config"),
            state: home.join(".local/state/pilothouse/usage"),
        };
        config::set(&places, "KUSTOMIZE_EXPORT_METRICS=none").unwrap();
        let found = decided(home, true, &[]);
        assert!(found.starts_with("off: by KUSTOMIZE_EXPORT_METRICS in /"));
        let found = decided(home, true, &[(EXPORT, "otlp")]);
        assert_eq!(found, "otlp by KUSTOMIZE_EXPORT_METRICS in the environment");
        std::fs::write(&places.config, "?").unwrap();
        let found = decided(home, true, &[(EXPORT, "otlp")]);
        assert!(found.contains("line 1: there is no KEY=VALUE"), "{found}");
        assert!(decided(Path::new("here"), true, &[]).contains("no home"));
        assert!(decided(home, true, &[(EXPORT, "x")]).starts_with("off: "));
    }
}
