//! What went wrong, in kustomize's words: each layer puts its own before those of the layer below.

use std::fmt::Display;

use crate::node::Node;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("{0}")]
    Build(String),
    /// What was read is not YAML.
    #[error("{0}")]
    MalformedYaml(String),
    /// YAML that cannot be decoded: it is no JSON, or not what is wanted.
    #[error("{0}")]
    Undecodable(String),
    /// A field that the type does not have.
    #[error("{text}")]
    UnknownField { field: String, text: String },
    /// A node is no scalar where one is wanted.
    #[error("{0}")]
    NotScalar(String),
    /// A kind that no builtin plugin has.
    #[error("unable to load builtin {0}")]
    UnknownBuiltin(String),
    #[error("{0}")]
    Yaml(yaml::Error),
    /// A name that may refer to several objects. The text of the object that refers goes between the two parts.
    #[error("{before}{after}")]
    Ambiguous { before: String, after: String },
    /// A server answered with an error; there is no use in trying the address as a repository.
    #[error("{0}")]
    Http(String),
    /// A program took too long.
    #[error("{0}")]
    Timeout(String),
    /// The same with where it happened, for those who want to know more than kustomize says.
    #[error("{error}")]
    At {
        error: Box<Error>,
        /// Empty as long as only the line is known.
        place: String,
        /// A line of a patch, if that is no file of its own; 0 for none.
        line: u32,
    },
}

/// What is known of where something failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    Nothing,
    /// The line of a patch.
    Line(u32),
    /// The file and the line.
    File,
}

pub(crate) type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self::Build(text.into())
    }

    /// `MalformedYAMLError: why`
    pub(crate) fn malformed(why: impl Display) -> Self {
        Self::MalformedYaml(format!("MalformedYAMLError: {why}"))
    }

    pub(crate) fn wrap(self, prefix: impl Display) -> Self {
        if let Self::Ambiguous { before, after } = self {
            let before = format!("{prefix}: {before}");
            return Self::Ambiguous { before, after };
        }
        let text = format!("{prefix}: {self}");
        self.with_text(text)
    }

    /// The same kind of error with another text.
    fn with_text(self, text: String) -> Self {
        match self {
            Self::MalformedYaml(_) => Self::MalformedYaml(text),
            Self::Undecodable(_) => Self::Undecodable(text),
            Self::UnknownField { field, .. } => Self::UnknownField { field, text },
            Self::NotScalar(_) => Self::NotScalar(text),
            Self::Http(_) => Self::Http(text),
            Self::Timeout(_) => Self::Timeout(text),
            Self::Build(_) | Self::UnknownBuiltin(_) | Self::Yaml(_) | Self::Ambiguous { .. } => {
                Self::Build(text)
            }
            Self::At { error, place, line } => Self::At {
                error: Box::new(error.with_text(text)),
                place,
                line,
            },
        }
    }

    /// Whether nobody but the reader of its text has to know where it came from, and where it happened is not known.
    fn is_placeless(&self) -> bool {
        !matches!(
            self,
            Self::Http(_) | Self::Timeout(_) | Self::Ambiguous { .. } | Self::At { .. }
        )
    }

    /// Says where it happened, unless that is known more precisely, or others have to know what it was.
    pub(crate) fn at(self, place: impl FnOnce() -> String) -> Self {
        if !self.is_placeless() {
            return self;
        }
        Self::At {
            error: Box::new(self),
            place: place(),
            line: 0,
        }
    }

    /// Says in which line of a file it happened, or of the text that is being read.
    pub(crate) fn at_line(self, file: Option<&str>, line: u32) -> Self {
        match file {
            _ if !self.is_placeless() => self,
            Some(file) => self.at(|| format!("{file}:{line}")),
            None => Self::At {
                error: Box::new(self),
                place: String::new(),
                line,
            },
        }
    }

    /// Says at which node it happened.
    pub(crate) fn at_node(self, node: &Node) -> Self {
        match node.source_line() {
            Some((file, line)) => self.at_line(file.as_deref(), line),
            None => self,
        }
    }

    /// As another error, if that says where.
    pub(crate) fn where_as(self, other: &Self) -> Self {
        match other {
            Self::At { place, line, .. } if self.is_placeless() => Self::At {
                error: Box::new(self),
                place: place.clone(),
                line: *line,
            },
            _ => self,
        }
    }

    /// Says which field asked for what failed, given what is known of where it failed.
    pub(crate) fn by(self, asked: impl FnOnce(Known) -> String) -> Self {
        match self {
            Self::At { error, place, line } if place.is_empty() => Self::At {
                error,
                place: asked(Known::Line(line)),
                line: 0,
            },
            Self::At { error, place, line } => Self::At {
                error,
                place: format!("{place}, by {}", asked(Known::File)),
                line,
            },
            error => error.at(|| asked(Known::Nothing)),
        }
    }

    /// The same error in other words.
    pub(crate) fn reword(self, words: impl FnOnce(String) -> String) -> Self {
        let text = words(self.to_string());
        match self {
            Self::Http(_) | Self::Timeout(_) => Self::Build(text),
            error => error.with_text(text),
        }
    }

    /// The file or the field of a kustomization that it happened at, if that is known.
    pub fn place(&self) -> Option<&str> {
        match self {
            Self::At { place, .. } => Some(place.as_str()).filter(|it| !it.is_empty()),
            _ => None,
        }
    }

    pub(crate) fn is_malformed_yaml(&self) -> bool {
        matches!(self.cause(), Self::MalformedYaml(_))
    }

    /// The error without where it happened.
    pub(crate) fn cause(&self) -> &Self {
        match self {
            Self::At { error, .. } => error.cause(),
            error => error,
        }
    }
}

pub(crate) trait Wrap<T> {
    fn wrap(self, prefix: impl Display) -> Result<T>;
    fn wrap_with<D: Display>(self, prefix: impl FnOnce() -> D) -> Result<T>;
}

impl<T> Wrap<T> for Result<T> {
    fn wrap(self, prefix: impl Display) -> Result<T> {
        self.map_err(|error| error.wrap(prefix))
    }

    fn wrap_with<D: Display>(self, prefix: impl FnOnce() -> D) -> Result<T> {
        self.map_err(|error| error.wrap(prefix()))
    }
}

impl From<yaml::Error> for Error {
    fn from(error: yaml::Error) -> Self {
        Self::Yaml(error)
    }
}

pub(crate) use encoding::go::quote;
