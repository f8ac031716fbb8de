//! Configuration files, read as strictly as kube-apiserver reads its own: a field that is unknown or comes twice is an
//! error that names it, in upstream's words. Knows no file by name: who reads one says what may be in it.

mod fields;

use std::cell::RefCell;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use json::Value;
use meta::go::system_error;

pub use fields::Fields;

/// The most that a configuration file may have.
pub const MAX_BYTES: usize = 1 << 20;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("it has more than {MAX_BYTES} bytes")]
    TooLarge,
    #[error("couldn't get version/kind; json parse error: {0}")]
    Unreadable(String),
    #[error("Object 'Kind' is missing in '{0}'")]
    NoKind(String),
    #[error("Object 'apiVersion' is missing in '{0}'")]
    NoVersion(String),
    #[error(
        "no kind {} is registered for version {}",
        meta::go::quote(kind),
        meta::go::quote(version)
    )]
    Unregistered { kind: String, version: String },
    /// A value of the wrong type, as Go says it.
    #[error("json: cannot unmarshal {found} into Go struct field {field} of type {wanted}")]
    Type {
        found: String,
        field: String,
        wanted: String,
    },
    #[error("strict decoding error: {0}")]
    Strict(String),
}

/// What is in a file; why it cannot be read, as Go says it.
pub fn read(path: &Path) -> Result<Vec<u8>, String> {
    let shown = path.display();
    let opened = File::open(path);
    let file = opened.map_err(|error| format!("open {shown}: {}", system_error(&error)))?;
    let mut text = Vec::new();
    // One more than may be: then it is known to be too much.
    let read = file.take(MAX_BYTES as u64 + 1).read_to_end(&mut text);
    read.map_err(|error| format!("read {shown}: {}", system_error(&error)))?;
    Ok(text)
}

/// A file as it was read: YAML or JSON.
#[derive(Debug)]
pub struct Document {
    value: Value,
    /// Of what is there, or should be.
    version: String,
    kind: String,
    /// What a strict reader does not take. Fields add to it while they are looked at.
    problems: RefCell<Vec<String>>,
}

impl Document {
    pub fn parse(text: &[u8]) -> Result<Self, Error> {
        if text.len() > MAX_BYTES {
            return Err(Error::TooLarge);
        }
        let unreadable = |error: &dyn ToString| Error::Unreadable(error.to_string());
        let mut problems = Vec::new();
        let value = if text.trim_ascii_start().starts_with(b"{") {
            let parsed = json::parse_with(text, json::Limits::default());
            let parsed = parsed.map_err(|error| unreadable(&error))?;
            let twice = parsed.duplicates.iter();
            problems.extend(twice.map(|path| format!("duplicate field {}", meta::go::quote(path))));
            parsed.value
        } else {
            problems.extend(yaml::to_json_strict(text).err().map(|it| it.to_string()));
            yaml::to_json(text).map_err(|error| unreadable(&error))?
        };
        Ok(Self {
            value,
            version: String::new(),
            kind: String::new(),
            problems: RefCell::new(problems),
        })
    }

    /// Whether the document is one of `versions` (`group/version`) and one of `kinds`.
    pub fn expect(&mut self, versions: &[&str], kinds: &[&str]) -> Result<(), Error> {
        let (version, kind) = (self.text("apiVersion"), self.text("kind"));
        if kind.is_empty() {
            return Err(Error::NoKind(json::to_string(&self.value)));
        }
        if version.is_empty() {
            return Err(Error::NoVersion(json::to_string(&self.value)));
        }
        self.check(version, kind, versions, kinds)
    }

    /// The same where what is not said is the first of each, as upstream's `DecodeInto` has it.
    pub fn expect_or_first(&mut self, versions: &[&str], kinds: &[&str]) -> Result<(), Error> {
        let or = |text: String, all: &[&str]| match all.first() {
            Some(first) if text.is_empty() => (*first).to_owned(),
            _ => text,
        };
        let (version, kind) = (self.text("apiVersion"), self.text("kind"));
        self.check(or(version, versions), or(kind, kinds), versions, kinds)
    }

    fn text(&self, name: &str) -> String {
        let text = self.value.str_at(&[name]);
        text.unwrap_or_default().to_owned()
    }

    fn check(
        &mut self,
        version: String,
        kind: String,
        versions: &[&str],
        kinds: &[&str],
    ) -> Result<(), Error> {
        if !versions.contains(&&*version) || !kinds.contains(&&*kind) {
            return Err(Error::Unregistered { kind, version });
        }
        (self.version, self.kind) = (version, kind);
        Ok(())
    }

    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The fields of the document itself, of which `apiVersion` and `kind` need no mention.
    pub fn fields(&self, known: &[&str]) -> Fields<'_> {
        Fields::root(self, known)
    }

    /// To be asked when all fields have been looked at.
    pub fn finish(self) -> Result<(), Error> {
        let mut problems = self.problems.into_inner();
        if problems.is_empty() {
            return Ok(());
        }
        // A list of many equal mistakes helps nobody.
        problems.truncate(100);
        Err(Error::Strict(problems.join(", ")))
    }
}

#[cfg(test)]
mod tests;
