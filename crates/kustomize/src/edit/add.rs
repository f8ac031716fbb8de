//! `edit add`.

use super::{Editor, KustFile, PatchArguments, build_metadata};
use crate::decode::List;
use crate::error::{Error, Result};
use crate::fs::exists;
use crate::types::{Kustomization, Patch};

impl Editor<'_> {
    /// Files that match the patterns, or roots; any text if `no_verify`.
    pub fn add_resources(
        self,
        patterns: &[String],
        no_verify: bool,
    ) -> std::result::Result<(), Error> {
        if patterns.is_empty() {
            return Err(Error::new("must specify a resource file"));
        }
        let found = if no_verify {
            patterns.to_vec()
        } else {
            self.loadable(patterns)?
        };
        self.add_paths("resource", found, |it| &mut it.resources)
    }

    pub fn add_components(self, patterns: &[String]) -> std::result::Result<(), Error> {
        if patterns.is_empty() {
            return Err(Error::new("must specify a component file"));
        }
        let found = self.loadable(patterns)?;
        self.add_paths("component", found, |it| &mut it.components)
    }

    /// `arguments` is one text with commas.
    pub fn add_bases(self, arguments: &[String]) -> std::result::Result<(), Error> {
        let [paths] = arguments else {
            return Err(Error::new("must specify a base directory"));
        };
        self.change(|kustomization, _| {
            for path in paths.split(',') {
                if !exists(self.fs, path) {
                    return Err(Error::new(format!("{path} does not exist")));
                }
                if kustomization.resources.iter().any(|it| it == path) {
                    return Err(Error::new(format!(
                        "base {path} already in kustomization file"
                    )));
                }
                kustomization.resources.push(path.to_owned());
            }
            Ok(())
        })
    }

    pub fn add_generators(self, patterns: &[String]) -> std::result::Result<(), Error> {
        if patterns.is_empty() {
            return Err(Error::new(
                "must specify a yaml file which contains a generator plugin resource",
            ));
        }
        let found = self.matching(patterns)?;
        self.add_plugins("generator", found, |it| &mut it.generators)
    }

    pub fn add_transformers(self, patterns: &[String]) -> std::result::Result<(), Error> {
        if patterns.is_empty() {
            return Err(Error::new(
                "must specify a yaml file which contains a transformer plugin resource",
            ));
        }
        let found = self.matching(patterns)?;
        self.add_plugins("transformer", found, |it| &mut it.transformers)
    }

    /// `arguments` is one text with commas.
    pub fn add_build_metadata(self, arguments: &[String]) -> std::result::Result<(), Error> {
        let options = build_metadata(arguments)?;
        self.change(|kustomization, _| {
            for option in options {
                if kustomization.build_metadata.contains(&option) {
                    return Err(Error::new(format!(
                        "buildMetadata option {option} already in kustomization file"
                    )));
                }
                kustomization.build_metadata.push(option);
            }
            Ok(())
        })
    }

    pub fn add_patch(self, arguments: PatchArguments) -> std::result::Result<(), Error> {
        arguments.check()?;
        if arguments.path.is_empty() && arguments.patch.is_empty() {
            return Err(Error::new("must provide either patch or path"));
        }
        let patch = arguments.into_patch();
        let (file, mut kustomization) = KustFile::open(self.fs)?.read(self.fs)?;
        if kustomization.patches.contains(&patch) {
            let text = format!("patch {} already in kustomization file", go_syntax(&patch));
            self.host.log(&text);
            return Ok(());
        }
        kustomization.patches.push(patch);
        file.write(self.fs, &kustomization)
    }

    /// The kustomization itself may be among the matches, and is none.
    fn add_paths(
        self,
        what: &str,
        mut found: Vec<String>,
        list: impl FnOnce(&mut Kustomization) -> &mut List<String>,
    ) -> Result<()> {
        if found.is_empty() {
            return Ok(());
        }
        self.change(|kustomization, file| {
            found.retain(|it| it != file.path);
            self.append(what, found, list(kustomization));
            Ok(())
        })
    }

    fn add_plugins(
        self,
        what: &str,
        found: Vec<String>,
        list: impl FnOnce(&mut Kustomization) -> &mut List<String>,
    ) -> Result<()> {
        if found.is_empty() {
            return Ok(());
        }
        self.change(|kustomization, _| {
            self.append(what, found, list(kustomization));
            Ok(())
        })
    }

    fn append(self, what: &str, found: Vec<String>, list: &mut List<String>) {
        for path in found {
            if list.contains(&path) {
                let text = format!("{what} {path} already in kustomization file");
                self.host.log(&text);
            } else {
                list.push(path);
            }
        }
    }
}

/// As Go's `%#v`, which shows where a target is and not what it is.
fn go_syntax(patch: &Patch) -> String {
    let target = if patch.target.is_some() { "0x1" } else { "nil" };
    format!(
        "types.Patch{{Path:{}, Patch:{}, Target:(*types.Selector)({target}), Options:(*types.PatchArgs)(nil)}}",
        crate::error::quote(&patch.path),
        crate::error::quote(&patch.patch)
    )
}
