//! The user's settings: lines of `KEY=VALUE`, as in the environment, which is asked first.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use crate::destination::Destination;
use crate::spool::Spool;
use crate::{EXPORT, Error, Places, places};

/// What may be set. All of it can be set in the environment, too.
pub const KEYS: &[&str] = &[
    EXPORT,
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
    "OTEL_EXPORTER_OTLP_PROTOCOL",
    "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL",
    "OTEL_EXPORTER_OTLP_HEADERS",
    "OTEL_EXPORTER_OTLP_METRICS_HEADERS",
    "OTEL_EXPORTER_OTLP_TIMEOUT",
    "OTEL_EXPORTER_OTLP_METRICS_TIMEOUT",
    "OTEL_EXPORTER_OTLP_CERTIFICATE",
    "OTEL_EXPORTER_OTLP_METRICS_CERTIFICATE",
    "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE",
    "OTEL_EXPORTER_OTLP_METRICS_CLIENT_CERTIFICATE",
    "OTEL_EXPORTER_OTLP_CLIENT_KEY",
    "OTEL_EXPORTER_OTLP_METRICS_CLIENT_KEY",
    "OTEL_EXPORTER_OTLP_COMPRESSION",
    "OTEL_EXPORTER_OTLP_METRICS_COMPRESSION",
    "OTEL_EXPORTER_OTLP_INSECURE",
    "OTEL_EXPORTER_OTLP_METRICS_INSECURE",
];

const MAX_BYTES: u64 = 64 << 10;

const HEADER: &str =
    "# Written by `pilothouse config set`; `pilothouse config get` shows what it leads to.\n";

pub(crate) type Settings = BTreeMap<&'static str, String>;

/// Nothing is set where there is no file.
pub(crate) fn read(path: &Path) -> Result<Settings, Error> {
    let mut text = String::with_capacity(4 << 10);
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Settings::new());
        }
        Err(error) => return Err(Error::Read(path.into(), error)),
    };
    let read = file.take(MAX_BYTES + 1).read_to_string(&mut text);
    read.map_err(|error| Error::Read(path.into(), error))?;
    let broken = |line, why: String| Error::Broken {
        path: path.into(),
        line,
        why,
    };
    if text.len() as u64 > MAX_BYTES {
        return Err(broken(1, "the file is too large".into()));
    }
    let mut settings = Settings::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (key, value) = line
            .split_once('=')
            .ok_or_else(|| broken(at + 1, "there is no KEY=VALUE".into()))?;
        let key = known(key.trim()).map_err(|error| broken(at + 1, error.to_string()))?;
        check(key, value).map_err(|error| broken(at + 1, error.to_string()))?;
        settings.insert(key, value.trim().to_owned());
    }
    Ok(settings)
}

/// The value of a key in the file.
pub fn get(places: &Places, key: &str) -> Result<Option<String>, Error> {
    let key = known(key)?;
    Ok(read(&places.config)?.remove(key))
}

/// Unsent counts are deleted when the destination changes: they were counted for another.
pub fn set(places: &Places, setting: &str) -> Result<(), Error> {
    let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
    let key = known(key.trim())?;
    check(key, value)?;
    change(places, key, Some(value.trim().to_owned()))
}

pub fn unset(places: &Places, key: &str) -> Result<(), Error> {
    change(places, known(key)?, None)
}

fn known(key: &str) -> Result<&'static str, Error> {
    let found = KEYS.iter().find(|it| **it == key);
    found.copied().ok_or_else(|| Error::Key(key.to_owned()))
}

fn check(key: &'static str, value: &str) -> Result<(), Error> {
    let value = value.trim();
    let wrong = |why: &str| Error::Value {
        key,
        value: value.to_owned(),
        why: why.to_owned(),
    };
    if value.is_empty() {
        return Err(wrong("a value is missing; `config unset` takes it back"));
    }
    if value.contains(['\n', '\r']) {
        return Err(wrong("a value is one line"));
    }
    if key == EXPORT && value != "none" {
        Destination::parse(value)?;
    }
    Ok(())
}

/// Serialized between processes by a lock.
fn change(places: &Places, key: &'static str, value: Option<String>) -> Result<(), Error> {
    let path = &places.config;
    let failed = |error| Error::Write(path.clone(), error);
    if let Some(directory) = path.parent() {
        places::make_directory(directory).map_err(failed)?;
    }
    let lock = fs::OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path.with_extension("lock"))
        .map_err(failed)?;
    lock.lock().map_err(failed)?;
    let mut settings = read(path)?;
    let before = match value {
        Some(value) => settings.insert(key, value),
        None => settings.remove(key),
    };
    let mut text = HEADER.to_owned();
    for (key, value) in &settings {
        _ = writeln!(text, "{key}={value}");
    }
    places::write(path, text.as_bytes()).map_err(failed)?;
    if key == EXPORT && settings.get(key) != before.as_ref() {
        Spool::of_all(&places.state).clear();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn places(dir: &Path) -> Places {
        Places {
            config: dir.join("config/pilothouse/config"),
            state: dir.join("state"),
        }
    }

    #[test]
    fn settings_are_kept_for_their_owner_alone() {
        let dir = tempfile::tempdir().unwrap();
        let places = places(dir.path());
        assert_eq!(get(&places, EXPORT).unwrap(), None);
        set(&places, "KUSTOMIZE_EXPORT_METRICS=none").unwrap();
        set(&places, "OTEL_EXPORTER_OTLP_HEADERS=a=b,c=d").unwrap();
        assert_eq!(get(&places, EXPORT).unwrap().as_deref(), Some("none"));
        let headers = get(&places, "OTEL_EXPORTER_OTLP_HEADERS").unwrap();
        assert_eq!(headers.as_deref(), Some("a=b,c=d"));
        let mode = fs::metadata(&places.config).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        unset(&places, EXPORT).unwrap();
        assert_eq!(get(&places, EXPORT).unwrap(), None);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let places = places(dir.path());
        for wrong in [
            "KUSTOMIZE_EXPORT_METRICS",
            "KUSTOMIZE_EXPORT_METRICS=",
            "KUSTOMIZE_EXPORT_METRICS=nowhere",
            "KUSTOMIZE_EXPORT_METRICS=file:relative",
            "HOME=x",
            "OTEL_EXPORTER_OTLP_ENDPOINT=a\nb",
        ] {
            assert!(set(&places, wrong).is_err(), "{wrong}");
        }
        assert!(!places.config.exists());
    }

    #[test]
    fn a_broken_file_says_where() {
        let dir = tempfile::tempdir().unwrap();
        let places = places(dir.path());
        set(&places, "KUSTOMIZE_EXPORT_METRICS=none").unwrap();
        for (text, line) in [("x", 1), ("# a\n\nKUSTOMIZE_EXPORT_METRICS=elsewhere\n", 3)] {
            fs::write(&places.config, text).unwrap();
            let error = get(&places, EXPORT).unwrap_err().to_string();
            assert!(error.contains(&format!("line {line}: ")), "{error}");
            assert!(set(&places, "KUSTOMIZE_EXPORT_METRICS=none").is_err());
            assert_eq!(fs::read_to_string(&places.config).unwrap(), text);
        }
        fs::write(&places.config, [0xff, b'=']).unwrap();
        assert!(get(&places, EXPORT).is_err());
    }

    #[test]
    fn many_may_write_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let places = places(dir.path());
        std::thread::scope(|scope| {
            for key in KEYS.iter().skip(1) {
                let places = &places;
                scope.spawn(move || set(places, &format!("{key}=1")).unwrap());
            }
        });
        let found = read(&places.config).unwrap();
        assert_eq!(found.len(), KEYS.len() - 1);
        let left = fs::read_dir(places.config.parent().unwrap()).unwrap();
        assert_eq!(left.count(), 2, "the file and its lock");
    }
}
