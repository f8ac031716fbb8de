//! `edit remove`.

use super::{
    Editor, Generated, KustFile, PatchArguments, build_metadata, glob, same_namespace, show,
};
use crate::decode::List;
use crate::error::{Error, Result, Wrap as _};
use crate::kustomization::FILE_NAMES;
use crate::types::Kustomization;

impl Editor<'_> {
    pub fn remove_resources(self, patterns: &[String]) -> std::result::Result<(), Error> {
        if patterns.is_empty() {
            return Err(Error::new("must specify a resource file"));
        }
        self.remove_paths(patterns, |it| &mut it.resources)
    }

    pub fn remove_transformers(self, patterns: &[String]) -> std::result::Result<(), Error> {
        if patterns.is_empty() {
            return Err(Error::new("must specify a transformer file"));
        }
        self.remove_paths(patterns, |it| &mut it.transformers)
    }

    /// `arguments` is one text with commas.
    pub fn remove_build_metadata(self, arguments: &[String]) -> std::result::Result<(), Error> {
        let options = build_metadata(arguments)?;
        self.change(|kustomization, _| {
            kustomization
                .build_metadata
                .retain(|it| !options.contains(it));
            Ok(())
        })
    }

    /// The patch must be the same in all that is said of it.
    pub fn remove_patch(self, arguments: PatchArguments) -> std::result::Result<(), Error> {
        arguments.check()?;
        let patch = arguments.into_patch();
        let (file, mut kustomization) = KustFile::open(self.fs)?.read(self.fs)?;
        let before = kustomization.patches.len();
        kustomization.patches.retain(|it| *it != patch);
        if kustomization.patches.len() == before {
            let text = format!("patch {} doesn't exist in kustomization file", patch.patch);
            self.host.log(&text);
            return Ok(());
        }
        file.write(self.fs, &kustomization)
    }

    /// `arguments` is one text with commas.
    pub fn remove_generated(
        self,
        what: Generated,
        arguments: &[String],
        namespace: &str,
    ) -> std::result::Result<(), Error> {
        let word = what.word();
        let [names] = arguments else {
            return Err(Error::new(if arguments.is_empty() {
                format!("at least one {word} name must be specified")
            } else {
                format!(
                    "too many arguments: {}; to provide multiple {word}s to remove, please separate {word} names by commas",
                    show(arguments)
                )
            }));
        };
        let file = KustFile::open(self.fs).wrap("could not read kustomization file")?;
        let (file, mut kustomization) = file
            .read(self.fs)
            .wrap("could not read kustomization file contents")?;
        let mut found = Vec::new();
        let mut stays = |name: &String, own: &str| {
            let goes = names.split(',').any(|it| it == name) && same_namespace(own, namespace);
            if goes {
                found.push(name.clone());
            }
            !goes
        };
        match what {
            Generated::ConfigMap => kustomization
                .config_map_generator
                .retain(|it| stays(&it.name, &it.namespace)),
            Generated::Secret => kustomization
                .secret_generator
                .retain(|it| stays(&it.name, &it.namespace)),
        }
        if found.is_empty() {
            return Err(Error::new(format!(
                "no specified {word}(s) were found in the {} file",
                FILE_NAMES[0]
            )));
        }
        for name in names.split(',') {
            if !found.iter().any(|it| it == name) {
                let text = format!("{word} {name} doesn't exist in kustomization file");
                self.host.log(&text);
            }
        }
        file.write(self.fs, &kustomization)
            .wrap("failed to write kustomization file")
    }

    fn remove_paths(
        self,
        patterns: &[String],
        list: impl FnOnce(&mut Kustomization) -> &mut List<String>,
    ) -> Result<()> {
        let (file, mut kustomization) = KustFile::open(self.fs)?.read(self.fs)?;
        let paths = list(&mut kustomization);
        let before = paths.len();
        let mut problem = None;
        let mut left = Vec::with_capacity(before);
        for path in paths.drain(..) {
            let mut goes = false;
            for pattern in patterns {
                match glob::matches(pattern, &path) {
                    Ok(fits) => goes |= fits,
                    Err(error) => problem = Some(error),
                }
            }
            if !goes {
                left.push(path);
            }
        }
        if let Some(problem) = problem {
            return Err(problem);
        }
        if left.len() == before {
            return Ok(());
        }
        **paths = left;
        file.write(self.fs, &kustomization)
    }
}
