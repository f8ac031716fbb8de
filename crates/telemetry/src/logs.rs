//! The log, for operators of the server: each with its time, where it comes from, what happened and, if a request had it
//! happen, the ids of its trace, its span and its audit event.
//!
//! There is one log per process, as there is one stderr. Its verbosity can be changed while it runs.
//!
//! **Invariant:** no secret, token or body is ever a field.

mod levels;
mod limited;
mod line;
mod otlp;

use std::io::Write as _;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

pub use levels::{ALL, BadLevels, CONTROLLERS, HTTPLOG, SERVER, TELEMETRY, Target};
pub use limited::{Limited, LimitedBy};
pub use otlp::Entry;

use crate::Ids;
use crate::export::Queue;
use levels::Levels;

/// How lines are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// As klog does.
    #[default]
    Text,
    /// An object per line.
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    Info,
    Warning,
    Error,
}

/// What a field holds.
#[derive(Clone, Copy, Debug)]
pub enum Field<'a> {
    Text(&'a str),
    Number(i64),
    Flag(bool),
    Took(Duration),
}

/// What happened.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    pub target: &'static Target,
    pub severity: Severity,
    /// The verbosity from which on it is logged; zero for lines that are always logged.
    pub level: i32,
    pub message: &'a str,
    pub fields: &'a [(&'a str, Field<'a>)],
    pub ids: Option<Ids>,
    /// Empty if it is not about a request.
    pub audit_id: &'a str,
}

/// Of a text in a line. What clients send may be longer.
const LONGEST: usize = 4096;

#[derive(Debug, Default)]
struct Shared {
    format: RwLock<Format>,
    levels: Mutex<Levels>,
    export: RwLock<Option<Arc<Queue>>>,
}

fn shared() -> &'static Shared {
    static SHARED: OnceLock<Shared> = OnceLock::new();
    SHARED.get_or_init(Shared::default)
}

pub fn set_format(format: Format) {
    let mut place = shared().format.write();
    **place.as_mut().unwrap_or_else(|error| error.get_mut()) = format;
}

/// The verbosity: the level of all targets that no pattern names.
pub fn set_verbosity(level: i32) {
    let mut levels = shared()
        .levels
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    levels.all = level;
    levels.apply();
}

/// Levels of single targets, as `pattern=LEVEL,...`; the first that matches counts.
pub fn set_levels(text: &str) -> Result<(), BadLevels> {
    let patterns = levels::parse(text)?;
    let mut levels = shared()
        .levels
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    levels.patterns = patterns;
    levels.apply();
    Ok(())
}

/// Whether a text says levels of targets.
pub fn check_levels(text: &str) -> Result<(), BadLevels> {
    levels::parse(text).map(drop)
}

/// Sends all lines from now on to a collector, too.
pub fn export(queue: Option<Arc<Queue>>) {
    let mut place = shared().export.write();
    **place.as_mut().unwrap_or_else(|error| error.get_mut()) = queue;
}

/// Logs a line, if the target is enabled at this level.
pub fn tell(record: &Record<'_>) {
    if !record.target.tells(record.level) {
        return;
    }
    let now = SystemTime::now();
    let format = *shared()
        .format
        .read()
        .unwrap_or_else(PoisonError::into_inner);
    let line = match format {
        Format::Text => line::text(record, now),
        Format::Json => line::json(record, now),
    };
    // The reader of stderr may be gone.
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
    let export = shared()
        .export
        .read()
        .unwrap_or_else(PoisonError::into_inner);
    if let Some(queue) = &*export {
        // The queue counts what it has no room for.
        let _ = queue.try_push(Entry::new(record, now));
    }
}

/// Something that is worth knowing, not about a request.
pub fn info(target: &'static Target, message: &str, fields: &[(&str, Field<'_>)]) {
    plain(target, Severity::Info, message, fields);
}

/// An error: an operator should look at it.
pub fn warning(target: &'static Target, message: &str, fields: &[(&str, Field<'_>)]) {
    plain(target, Severity::Warning, message, fields);
}

/// Something that failed.
pub fn error(target: &'static Target, message: &str, fields: &[(&str, Field<'_>)]) {
    plain(target, Severity::Error, message, fields);
}

fn plain(target: &'static Target, severity: Severity, message: &str, fields: &[(&str, Field<'_>)]) {
    tell(&Record {
        target,
        severity,
        level: 0,
        message,
        fields,
        ids: None,
        audit_id: "",
    });
}

/// The part of a text that is logged.
fn cut(text: &str) -> &str {
    crate::text::cut(text, LONGEST)
}
