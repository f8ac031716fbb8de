//! Where a resource came from, as the annotation tells it.

use std::fmt;

use crate::error::Result;
use crate::git::RepoSpec;
use crate::paths;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) path: String,
    pub(crate) repo: String,
    pub(crate) reference: String,
    pub(crate) configured_in: String,
    pub(crate) configured_by: Option<ConfiguredBy>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ConfiguredBy {
    pub(crate) api_version: String,
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) namespace: String,
}

impl Origin {
    /// A file or directory below this one, or in another repository.
    pub(crate) fn append(&self, path: &str) -> Self {
        let mut copy = self.clone();
        let mut path = path;
        let spec = RepoSpec::parse(path);
        if let Ok(spec) = &spec {
            copy.repo = spec.clone_spec();
            copy.reference.clone_from(&spec.reference);
            copy.path.clear();
            path = if spec.root_path.is_empty() {
                // What upstream's own way of cutting the path comes to.
                "notCloned"
            } else {
                &spec.root_path
            };
        }
        copy.path = paths::join(&copy.path, path);
        copy
    }

    fn fields(&self) -> Vec<(&'static str, &str)> {
        let fields = [
            ("path", &self.path),
            ("repo", &self.repo),
            ("ref", &self.reference),
            ("configuredIn", &self.configured_in),
        ];
        let fields = fields.into_iter().map(|(key, value)| (key, value.as_str()));
        fields.filter(|(_, value)| !value.is_empty()).collect()
    }

    fn by_fields(&self) -> Vec<(&'static str, &str)> {
        let Some(by) = &self.configured_by else {
            return Vec::new();
        };
        let fields = [
            ("apiVersion", &by.api_version),
            ("kind", &by.kind),
            ("name", &by.name),
            ("namespace", &by.namespace),
        ];
        let fields = fields.into_iter().map(|(key, value)| (key, value.as_str()));
        fields.filter(|(_, value)| !value.is_empty()).collect()
    }

    pub(crate) fn parse(text: &str) -> Result<Self> {
        let value = yaml::to_json(text.as_bytes())?;
        let string = |path: &[&str]| value.str_at(path).unwrap_or_default().to_owned();
        let by = value.get("configuredBy").map(|_| ConfiguredBy {
            api_version: string(&["configuredBy", "apiVersion"]),
            kind: string(&["configuredBy", "kind"]),
            name: string(&["configuredBy", "name"]),
            namespace: string(&["configuredBy", "namespace"]),
        });
        Ok(Self {
            path: string(&["path"]),
            repo: string(&["repo"]),
            reference: string(&["ref"]),
            configured_in: string(&["configuredIn"]),
            configured_by: by,
        })
    }

    /// As an item of a list.
    pub(crate) fn as_item(&self) -> String {
        let mut out = String::new();
        for (at, line) in self.to_string().lines().enumerate() {
            out.push_str(if at == 0 { "- " } else { "  " });
            out.push_str(line);
            out.push('\n');
        }
        out
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |value: &str| {
            let node = yaml::Node::from(&json::Value::from(value));
            let text = yaml::to_string(&[node], yaml::Options::default());
            text.unwrap_or_default().trim_end().to_owned()
        };
        let (fields, by) = (self.fields(), self.by_fields());
        if fields.is_empty() && by.is_empty() {
            return f.write_str("{}\n");
        }
        for (key, value) in fields {
            writeln!(f, "{key}: {}", text(value))?;
        }
        if !by.is_empty() {
            writeln!(f, "configuredBy:")?;
            for (key, value) in by {
                writeln!(f, "  {key}: {}", text(value))?;
            }
        }
        Ok(())
    }
}
