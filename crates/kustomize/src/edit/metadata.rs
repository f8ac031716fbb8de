//! Labels and annotations: `edit add`, `edit set` and `edit remove` of them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use super::Editor;
use crate::decode::Strings;
use crate::error::{Error, Result};
use crate::types::{Kustomization, Label};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metadata {
    Annotation,
    Label,
}

/// Where a label goes.
#[derive(Clone, Copy, Debug, Default)]
pub struct LabelOptions {
    /// Overwrite what is there.
    pub force: bool,
    /// Into `labels`, not into `commonLabels`.
    pub without_selector: bool,
    pub include_templates: bool,
}

impl Metadata {
    fn name(self) -> &'static str {
        match self {
            Self::Annotation => "annotation",
            Self::Label => "label",
        }
    }

    fn field(self) -> &'static str {
        match self {
            Self::Annotation => "commonAnnotations",
            Self::Label => "commonLabels",
        }
    }

    fn of(self, kustomization: &mut Kustomization) -> &mut Strings {
        match self {
            Self::Annotation => &mut kustomization.common_annotations,
            Self::Label => &mut kustomization.common_labels,
        }
    }
}

type Pairs = BTreeMap<String, String>;

impl Editor<'_> {
    /// `pairs` are texts like `key:value`.
    pub fn add_metadata(
        self,
        what: Metadata,
        pairs: &[String],
        options: LabelOptions,
    ) -> std::result::Result<(), Error> {
        must_specify(what, pairs)?;
        if !options.without_selector && options.include_templates {
            return Err(Error::new(
                "--without-selector flag must be specified for --include-templates to work",
            ));
        }
        let pairs = to_pairs(pairs, what.name())?;
        self.change(|kustomization, _| {
            let map = if options.without_selector {
                labels_without_selector(kustomization, options.include_templates)
            } else {
                what.of(kustomization)
            };
            for (key, value) in pairs {
                if map.contains_key(&key) && !options.force {
                    return Err(Error::new(format!(
                        "{} {key} already in kustomization file. Use --force to override.",
                        what.name()
                    )));
                }
                map.pairs.insert(key, value);
            }
            Ok(())
        })
    }

    /// `pairs` are texts like `key:value`.
    pub fn set_metadata(self, what: Metadata, pairs: &[String]) -> std::result::Result<(), Error> {
        must_specify(what, pairs)?;
        let pairs = to_pairs(pairs, what.name())?;
        if what == Metadata::Annotation && !pairs.keys().all(|it| ANNOTATION_KEY.is_match(it)) {
            return Err(Error::new(
                "invalid annotation key: see the syntax and character set rules at https://kubernetes.io/docs/concepts/overview/working-with-objects/annotations/",
            ));
        }
        self.change(|kustomization, _| {
            what.of(kustomization).pairs.extend(pairs);
            Ok(())
        })
    }

    /// `arguments` is one text with commas.
    pub fn remove_metadata(
        self,
        what: Metadata,
        arguments: &[String],
        ignore_missing: bool,
    ) -> std::result::Result<(), Error> {
        // Upstream says label here whatever it is.
        must_specify(Metadata::Label, arguments)?;
        let [keys] = arguments else {
            return Err(Error::new("labels must be comma-separated, with no spaces"));
        };
        if keys.split(',').any(str::is_empty) {
            return Err(Error::new("invalid label: '' (name is empty)"));
        }
        self.change(|kustomization, _| {
            let map = what.of(kustomization);
            if !map.given && !ignore_missing {
                return Err(Error::new(format!(
                    "{} is not defined in kustomization file",
                    what.field()
                )));
            }
            for key in keys.split(',') {
                if map.pairs.remove(key).is_none() && !ignore_missing {
                    return Err(Error::new(format!(
                        "{} {key} is not defined in kustomization file",
                        what.name()
                    )));
                }
            }
            Ok(())
        })
    }
}

static ANNOTATION_KEY: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"^([a-zA-Z](([-a-zA-Z0-9.]{0,251})[a-zA-Z0-9])?/)?[a-zA-Z0-9]([-a-zA-Z0-9_.]{0,61}[a-zA-Z0-9])?$";
    Regex::new(pattern).expect("the pattern is a constant that compiles")
});

fn must_specify(what: Metadata, arguments: &[String]) -> Result<()> {
    if arguments.is_empty() {
        return Err(Error::new(format!("must specify {}", what.name())));
    }
    Ok(())
}

/// The first labels with these options, or new ones.
fn labels_without_selector(kustomization: &mut Kustomization, templates: bool) -> &mut Strings {
    let labels = &mut kustomization.labels;
    let found = labels
        .iter()
        .position(|it| !it.include_selectors && it.include_templates == templates);
    let at = found.unwrap_or_else(|| {
        labels.push(Label {
            include_templates: templates,
            ..Label::default()
        });
        labels.len() - 1
    });
    &mut labels[at].pairs
}

/// `key:value`, the value possibly in quotes, or a key alone.
pub(crate) fn to_pairs<S: AsRef<str>>(texts: &[S], what: &str) -> Result<Pairs> {
    let mut pairs = Pairs::new();
    for text in texts {
        let text = text.as_ref();
        let (key, value) = match text.split_once(':') {
            None => (text, ""),
            Some(("", _)) => {
                return Err(Error::new(format!(
                    "invalid {what}: '{text}' (need k:v pair where v may be quoted)"
                )));
            }
            Some((key, value)) => {
                let inner = value.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
                (key, inner.unwrap_or(value))
            }
        };
        pairs.insert(key.to_owned(), value.to_owned());
    }
    Ok(pairs)
}
