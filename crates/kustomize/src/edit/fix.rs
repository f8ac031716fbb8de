//! `edit fix`: deprecated fields become the ones that took their place.

use super::{Editor, KustFile, vars};
use crate::Options;
use crate::error::{Error, Result};
use crate::types::{Kustomization, Label, Patch};

impl Editor<'_> {
    /// Says in `report` what it did and whether a build gives something else now. Builds with `options`.
    pub fn fix(
        self,
        convert_vars: bool,
        options: &Options,
        report: &mut String,
    ) -> std::result::Result<(), Error> {
        let build =
            || crate::build(self.fs, self.host, ".", options).and_then(|output| output.to_yaml());
        let before = build().unwrap_or_default();
        let (file, mut kustomization) = KustFile::open(self.fs)?.read(self.fs)?;
        self.fix_fields(&mut kustomization)?;
        report.push_str(
            "\nFixed fields:\n  patchesJson6902 -> patches\n  patchesStrategicMerge -> patches\n  commonLabels -> labels\n",
        );
        if convert_vars {
            if let Err(error) = vars::convert(self.fs, &mut kustomization) {
                report.clear();
                return Err(error);
            }
            report.push_str("  vars -> replacements\n");
        } else {
            report.push_str(
                "\nTo convert vars -> replacements, run the command `kustomize edit fix --vars`\n\n\
                 WARNING: Converting vars to replacements will potentially overwrite many resource files \n\
                 and the resulting files may not produce the same output when `kustomize build` is run. \n\
                 We recommend doing this in a clean git repository where the change is easy to undo.\n",
            );
        }
        let written = file.write(self.fs, &kustomization);
        let warning = match build() {
            Err(error) => format!(
                "Warning: 'Fixed' kustomization now produces the error when running `kustomize build`: {error}\n"
            ),
            Ok(after) if after != before => format!(
                "Warning: 'Fixed' kustomization now produces different output when running `kustomize build`:\n...{after}...\n"
            ),
            Ok(_) => String::new(),
        };
        report.push_str(&warning);
        written
    }

    fn fix_fields(self, kustomization: &mut Kustomization) -> Result<()> {
        let Kustomization {
            patches,
            patches_json6902,
            patches_strategic_merge,
            ..
        } = kustomization;
        patches.append(patches_json6902);
        for text in &std::mem::take(patches_strategic_merge) {
            let (path, patch) = if self.fs.read(text).is_ok() {
                (text.clone(), String::new())
            } else {
                (String::new(), text.clone())
            };
            patches.push(Patch {
                path,
                patch,
                ..Patch::default()
            });
        }
        if kustomization.common_labels.is_empty() {
            return Ok(());
        }
        for label in &kustomization.labels {
            let both = label.pairs.keys();
            let mut both = both.filter(|it| kustomization.common_labels.contains_key(*it));
            if let Some(key) = both.next() {
                return Err(Error::new(format!(
                    "label name '{key}' exists in both commonLabels and labels"
                )));
            }
        }
        kustomization.labels.push(Label {
            pairs: std::mem::take(&mut kustomization.common_labels),
            include_selectors: true,
            ..Label::default()
        });
        Ok(())
    }
}
