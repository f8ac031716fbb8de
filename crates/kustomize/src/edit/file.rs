//! The file that a kustomization is in. Its comments and the order of its fields outlive a change.

use json::{Object, Value};

use crate::decode::decode;
use crate::encode::Encode as _;
use crate::error::{Error, Result, Wrap as _};
use crate::fs::{FileSystem, exists, is_dir};
use crate::kustomization::FILE_NAMES;
use crate::types::Kustomization;

/// Fields in the order of a new file.
const ORDER: &[&str] = &[
    "apiVersion",
    "kind",
    "metadata",
    "sortOptions",
    "resources",
    "bases",
    "namePrefix",
    "nameSuffix",
    "namespace",
    "crds",
    "commonLabels",
    "labels",
    "commonAnnotations",
    "patchesStrategicMerge",
    "patchesJson6902",
    "patches",
    "configMapGenerator",
    "secretGenerator",
    "helmCharts",
    "helmChartInflationGenerator",
    "helmGlobals",
    "generatorOptions",
    "vars",
    "images",
    "replacements",
    "replicas",
    "configurations",
    "generators",
    "transformers",
    "validators",
    "components",
    "openapi",
    "buildMetadata",
];

pub(crate) struct KustFile {
    pub(crate) path: &'static str,
    layout: Vec<Commented>,
}

/// A field, and the comments and empty lines that are written before it.
struct Commented {
    field: &'static str,
    comment: Vec<u8>,
}

impl KustFile {
    /// The one file in the current directory.
    pub(crate) fn open(fs: &dyn FileSystem) -> Result<Self> {
        let names = FILE_NAMES.iter().copied();
        let found: Vec<_> = names.filter(|it| exists(fs, it)).collect();
        match &found[..] {
            [] => Err(Error::new(format!(
                "Missing kustomization file '{}'.\n",
                FILE_NAMES[0]
            ))),
            [path] if is_dir(fs, path) => Err(Error::new(format!("{path} should be a file"))),
            [path] => Ok(Self {
                path,
                layout: Vec::new(),
            }),
            several => Err(Error::new(format!(
                "Found multiple kustomization file: [{}]\n",
                several.join(" ")
            ))),
        }
    }

    pub(crate) fn read(mut self, fs: &dyn FileSystem) -> Result<(Self, Kustomization)> {
        let text = fs.read(self.path)?;
        let value = yaml::to_json(&text)
            .map_err(Error::from)
            .wrap("invalid Kustomization")?;
        let mut kustomization: Kustomization =
            decode(&value, true).wrap("invalid Kustomization")?;
        kustomization.fix();
        self.layout = layout(&text);
        Ok((self, kustomization))
    }

    pub(crate) fn write(&self, fs: &dyn FileSystem, kustomization: &Kustomization) -> Result<()> {
        fs.write(self.path, &self.to_yaml(kustomization))
    }

    fn to_yaml(&self, kustomization: &Kustomization) -> Vec<u8> {
        let value = kustomization.encode();
        let mut out = Vec::new();
        let mut field = |name: &str, comment: &[u8]| {
            out.extend_from_slice(comment);
            if let Some(value) = value.get(name) {
                let alone = Object::from_iter([(name, value.clone())]);
                yaml::write_value(&mut out, &Value::Object(alone));
            }
        };
        for it in &self.layout {
            field(it.field, &it.comment);
        }
        let known = |name: &str| self.layout.iter().any(|it| it.field == name);
        for name in ORDER.iter().filter(|it| !known(it)) {
            field(name, &[]);
        }
        out
    }
}

/// Where fields begin, line by line: what comes before a field belongs to it, what comes inside of it to its start.
/// What follows the last line break does not count, nor comments at the end.
fn layout(text: &[u8]) -> Vec<Commented> {
    let mut fields: Vec<Commented> = Vec::new();
    let mut comment = Vec::new();
    for line in text.split_inclusive(|it| *it == b'\n') {
        if !line.ends_with(b"\n") {
            break;
        }
        if is_comment(line) {
            comment.extend_from_slice(line);
        } else if let Some(field) = field_of(line) {
            let comment = std::mem::take(&mut comment);
            fields.push(Commented { field, comment });
        } else if let Some(last) = fields.last_mut() {
            last.comment.append(&mut comment);
        }
    }
    fields
}

fn is_comment(line: &[u8]) -> bool {
    let mut bytes = line.iter().skip_while(|it| **it == b' ');
    matches!(bytes.next(), None | Some(b'\n' | b'#'))
}

fn field_of(line: &[u8]) -> Option<&'static str> {
    let colon = line.iter().position(|it| *it == b':')?;
    let name = &line[..colon];
    let mut all = ORDER.iter();
    all.find(|it| name.eq_ignore_ascii_case(it.as_bytes()))
        .copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(text: &str) -> Vec<(&'static str, String)> {
        let all = layout(text.as_bytes()).into_iter();
        all.map(|it| (it.field, String::from_utf8_lossy(&it.comment).into_owned()))
            .collect()
    }

    #[test]
    fn fields_own_the_comments_before_and_inside_of_them() {
        let text = "# a\n\nKIND: x\n# b\nresources:\n  # c\n- d\n# end\n";
        let wanted = [("kind", "# a\n\n"), ("resources", "# b\n  # c\n")];
        assert_eq!(fields(text), wanted.map(|(k, v)| (k, v.to_owned())));
    }

    #[test]
    fn a_line_without_an_end_and_a_return_are_as_upstream_has_them() {
        assert_eq!(fields("kind: x\nnamespace: y").len(), 1);
        // A return is no space, so this line is not empty.
        let wanted = [("kind", "# a\r\n"), ("namespace", "")];
        let wanted = wanted.map(|(k, v)| (k, v.to_owned()));
        assert_eq!(fields("kind: x\r\n# a\r\n\r\nnamespace: y\r\n"), wanted);
    }
}
