//! The fields of a kustomization that refer to something.

use super::Localizer;
use crate::decode::List;
use crate::error::{Error, Result, Wrap as _, quote};
use crate::factory;
use crate::generate::file_source;
use crate::resmap::ResMap;
use crate::types::{Kustomization, Patch};

type Field<'f> = (
    &'f str,
    &'f mut List<String>,
    &'f dyn Fn(&str) -> Result<String>,
);

impl Localizer<'_> {
    pub(super) fn localize_fields(&self, it: &mut Kustomization) -> Result<()> {
        if let Some(path) = it.openapi.pairs.get_mut("path") {
            *path = self.file(path).wrap("unable to localize openapi path")?;
        }
        let file = |path: &str| self.file(path);
        let directory = |path: &str| self.directory(path);
        let resource = |path: &str| self.resource(path);
        let fields: [Field<'_>; 5] = [
            ("bases", &mut it.bases, &directory),
            ("components", &mut it.components, &directory),
            ("configurations", &mut it.configurations, &file),
            ("crds", &mut it.crds, &file),
            ("resources", &mut it.resources, &resource),
        ];
        for (name, entries, localize) in fields {
            for entry in entries.iter_mut() {
                *entry =
                    localize(entry).wrap_with(|| format!("unable to localize {name} entry"))?;
            }
        }
        for args in it.config_map_generator.iter_mut() {
            self.sources(&mut args.env, &mut args.envs, &mut args.files)
                .wrap("unable to localize configMapGenerator")?;
        }
        for args in it.secret_generator.iter_mut() {
            self.sources(&mut args.env, &mut args.envs, &mut args.files)
                .wrap("unable to localize secretGenerator")?;
        }
        self.localize_charts(it)?;
        self.patches(&mut it.patches)
            .wrap("unable to localize patches")?;
        self.patches(&mut it.patches_json6902)
            .wrap("unable to localize patchesJson6902")?;
        for entry in it.patches_strategic_merge.iter_mut() {
            *entry = self
                .object(entry)
                .wrap("unable to localize patchesStrategicMerge entry")?;
        }
        for replacement in it.replacements.iter_mut() {
            replacement.path = self
                .file(&replacement.path)
                .wrap("unable to localize replacements entry")?;
        }
        Ok(())
    }

    fn sources(
        &self,
        env: &mut String,
        envs: &mut List<String>,
        files: &mut List<String>,
    ) -> Result<()> {
        *env = self
            .file(env)
            .wrap("unable to localize generator env file")?;
        for path in envs.iter_mut() {
            *path = self
                .file(path)
                .wrap("unable to localize generator envs file")?;
        }
        for source in files.iter_mut() {
            *source = self.source(source)?;
        }
        Ok(())
    }

    /// A path, or a key and a path.
    pub(super) fn source(&self, source: &str) -> Result<String> {
        let (key, path) = file_source(source)?;
        let local = self
            .file(&path)
            .wrap_with(|| format!("invalid file source {}", quote(source)))?;
        Ok(if source == path {
            local
        } else {
            format!("{key}={local}")
        })
    }

    fn patches(&self, patches: &mut List<Patch>) -> Result<()> {
        for patch in patches.iter_mut() {
            patch.path = self.file(&patch.path)?;
        }
        Ok(())
    }

    /// An object, or the path of a file with some.
    pub(super) fn object(&self, entry: &str) -> Result<String> {
        match self.objects(entry)? {
            (_, true) => self.file(entry),
            (_, false) => Ok(entry.to_owned()),
        }
    }

    /// Objects, and whether they are in a file.
    pub(super) fn objects(&self, entry: &str) -> Result<(ResMap, bool)> {
        let inline = match factory::map_from_text(entry) {
            Ok(map) => return Ok((map, false)),
            Err(error) => error,
        };
        let from_file = self.load(entry).and_then(|content| {
            let text = String::from_utf8_lossy(&content);
            factory::map_from_text(&text).map_err(|error| factory::in_file(error, entry))
        });
        match from_file {
            Ok(map) => Ok((map, true)),
            Err(error) => Err(Error::new(format!(
                "unable to load resource entry {}: when parsing as inline received error: {inline}\nwhen parsing as filepath received error: {error}",
                quote(entry)
            ))),
        }
    }
}
