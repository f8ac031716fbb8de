//! `ConfigMap`s and Secrets: `edit add` and `edit set` of them.

use super::{Editor, KustFile, same_namespace, show};
use crate::decode::List;
use crate::edit::glob;
use crate::error::{Error, Result, Wrap as _, quote};
use crate::generate;
use crate::types::{GeneratorArgs, GeneratorOptions, Kustomization, SecretArgs};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generated {
    ConfigMap,
    Secret,
}

/// What is generated, and from what.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    pub files: Vec<String>,
    pub literals: Vec<String>,
    pub env_file: String,
    pub behavior: String,
    /// Of a Secret.
    pub secret_type: String,
    pub namespace: String,
    pub disable_name_suffix_hash: bool,
    /// To set: where it moves to.
    pub new_namespace: String,
}

/// The fields of a generator that edits touch.
struct Parts<'a> {
    namespace: &'a mut String,
    behavior: &'a mut String,
    literals: &'a mut List<String>,
    files: &'a mut List<String>,
    envs: &'a mut List<String>,
    options: &'a mut Option<GeneratorOptions>,
}

impl Generated {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::ConfigMap => "configmap",
            Self::Secret => "secret",
        }
    }

    fn kind(self) -> &'static str {
        match self {
            Self::ConfigMap => "ConfigMap",
            Self::Secret => "Secret",
        }
    }

    fn find(self, kustomization: &Kustomization, name: &str, namespace: &str) -> Option<usize> {
        match self {
            Self::ConfigMap => kustomization
                .config_map_generator
                .iter()
                .position(|it| it.name == name && same_namespace(&it.namespace, namespace)),
            Self::Secret => kustomization
                .secret_generator
                .iter()
                .position(|it| it.name == name && same_namespace(&it.namespace, namespace)),
        }
    }

    fn push(self, kustomization: &mut Kustomization, name: &str, sources: &Sources) -> usize {
        let (name, namespace) = (name.to_owned(), sources.namespace.clone());
        match self {
            Self::ConfigMap => {
                kustomization.config_map_generator.push(GeneratorArgs {
                    namespace,
                    name,
                    ..GeneratorArgs::default()
                });
                kustomization.config_map_generator.len() - 1
            }
            Self::Secret => {
                kustomization.secret_generator.push(SecretArgs {
                    namespace,
                    name,
                    secret_type: sources.secret_type.clone(),
                    ..SecretArgs::default()
                });
                kustomization.secret_generator.len() - 1
            }
        }
    }

    fn parts(self, kustomization: &mut Kustomization, at: usize) -> Parts<'_> {
        macro_rules! parts {
            ($args:expr) => {{
                let args = $args;
                Parts {
                    namespace: &mut args.namespace,
                    behavior: &mut args.behavior,
                    literals: &mut args.literals,
                    files: &mut args.files,
                    envs: &mut args.envs,
                    options: &mut args.options,
                }
            }};
        }
        match self {
            Self::ConfigMap => parts!(&mut kustomization.config_map_generator[at]),
            Self::Secret => parts!(&mut kustomization.secret_generator[at]),
        }
    }
}

impl Editor<'_> {
    /// `arguments` is the name.
    pub fn add_generated(
        self,
        what: Generated,
        arguments: &[String],
        mut sources: Sources,
    ) -> std::result::Result<(), Error> {
        sources.files = self
            .expand(&sources.files)
            .wrap("failed to expand file source")?;
        let name = check_add(arguments, &sources).wrap("failed to validate flags")?;
        self.change_generated(what, |kustomization| {
            let found = what.find(kustomization, name, &sources.namespace);
            let at = found.unwrap_or_else(|| what.push(kustomization, name, &sources));
            let parts = what.parts(kustomization, at);
            parts.literals.extend(sources.literals);
            parts.files.extend(sources.files);
            if !sources.env_file.is_empty() {
                parts.envs.push(sources.env_file);
            }
            if sources.disable_name_suffix_hash {
                *parts.options = Some(GeneratorOptions {
                    disable_name_suffix_hash: true,
                    ..GeneratorOptions::default()
                });
            }
            if !sources.behavior.is_empty() {
                *parts.behavior = sources.behavior;
            }
            self.try_out(what, kustomization, at)
        })
    }

    /// `arguments` is the name.
    pub fn set_generated(
        self,
        what: Generated,
        arguments: &[String],
        sources: &Sources,
    ) -> std::result::Result<(), Error> {
        let name = check_set(arguments, sources).wrap("failed to validate flags")?;
        self.change_generated(what, |kustomization| {
            let kind = what.kind();
            let at = what
                .find(kustomization, name, &sources.namespace)
                .ok_or_else(|| {
                    Error::new(format!(
                        "could not set new {kind} value: unable to find {kind} with name {}",
                        quote(name)
                    ))
                })?;
            let parts = what.parts(kustomization, at);
            if !sources.literals.is_empty() {
                update(parts.literals, &sources.literals)
                    .wrap("failed to update literal sources")?;
            }
            if !sources.new_namespace.is_empty() {
                parts.namespace.clone_from(&sources.new_namespace);
            }
            self.try_out(what, kustomization, at)
                .wrap_with(|| format!("failed to validate {kind} structure"))
        })
    }

    fn change_generated(
        self,
        what: Generated,
        change: impl FnOnce(&mut Kustomization) -> Result<()>,
    ) -> Result<()> {
        let file = KustFile::open(self.fs).wrap("failed to load kustomization file")?;
        let (file, mut kustomization) = file
            .read(self.fs)
            .wrap("failed to read kustomization file")?;
        change(&mut kustomization).wrap_with(|| format!("failed to create {}", what.word()))?;
        file.write(self.fs, &kustomization)
            .wrap("failed to write kustomization file")
    }

    /// Whether it can be generated. Options for all become its own on the way, as upstream.
    fn try_out(self, what: Generated, kustomization: &mut Kustomization, at: usize) -> Result<()> {
        let global = kustomization.generator_options.clone();
        let parts = what.parts(kustomization, at);
        *parts.options = generate::merge_options(parts.options.as_ref(), global.as_ref());
        let loader = self.loader()?;
        match what {
            Generated::ConfigMap => {
                generate::config_map(&kustomization.config_map_generator[at], &loader)?;
            }
            Generated::Secret => {
                let args = &kustomization.secret_generator[at];
                generate::secret(&args.generator(), &args.secret_type, &loader)?;
            }
        }
        Ok(())
    }

    /// Patterns become files; one with a key in front must match one.
    fn expand(self, sources: &[String]) -> Result<Vec<String>> {
        let mut all = Vec::new();
        for source in sources {
            let parts: Vec<&str> = source.split('=').collect();
            let (key, pattern) = match parts[..] {
                [key, pattern] => (key, pattern),
                _ => ("", parts[0]),
            };
            let found = glob::glob(self.fs, pattern)?;
            if found.is_empty() {
                self.host.log(&format!("{pattern} has no match"));
            }
            match &found[..] {
                _ if key.is_empty() => all.extend(found),
                [path] => all.push(format!("{key}={path}")),
                several => {
                    return Err(Error::new(format!(
                        "'pattern '{source}' catches files {}, should catch only one",
                        show(several)
                    )));
                }
            }
        }
        Ok(all)
    }
}

fn named(arguments: &[String]) -> Result<&str> {
    match arguments {
        [name] => Ok(name),
        _ => Err(Error::new("name must be specified once")),
    }
}

fn check_add<'n>(arguments: &'n [String], sources: &Sources) -> Result<&'n str> {
    let name = named(arguments)?;
    let others = !sources.files.is_empty() || !sources.literals.is_empty();
    if sources.env_file.is_empty() && !others {
        return Err(Error::new(
            "at least from-env-file, or from-file or from-literal must be set",
        ));
    }
    if !sources.env_file.is_empty() && others {
        return Err(Error::new(
            "from-env-file cannot be combined with from-file or from-literal",
        ));
    }
    match sources.behavior.as_str() {
        "" | "create" | "merge" | "replace" => Ok(name),
        _ => Err(Error::new(
            r#"invalid behavior: must be one of "create", "merge", or "replace""#,
        )),
    }
}

fn check_set<'n>(arguments: &'n [String], sources: &Sources) -> Result<&'n str> {
    let name = named(arguments)?;
    if sources.literals.is_empty() && sources.new_namespace.is_empty() {
        return Err(Error::new(
            "at least one of [--from-literal, --new-namespace] must be specified",
        ));
    }
    Ok(name)
}

/// New values for keys that are there. Upstream forgets the order of the keys, here it stays.
fn update(literals: &mut List<String>, new: &[String]) -> Result<()> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for literal in literals.iter() {
        let (key, value) = key_value(literal)?;
        match pairs.iter_mut().find(|it| it.0 == key) {
            Some(pair) => pair.1 = value,
            None => pairs.push((key, value)),
        }
    }
    for literal in new {
        let (key, value) = key_value(literal)?;
        match pairs.iter_mut().find(|it| it.0 == key) {
            Some(pair) => pair.1 = value,
            None => return Err(Error::new(format!("key '{key}' not found in resource"))),
        }
    }
    **literals = pairs
        .into_iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    Ok(())
}

fn key_value(literal: &str) -> Result<(String, String)> {
    match literal.split_once('=') {
        Some((key, value)) if !value.contains('=') => Ok((key.to_owned(), value.to_owned())),
        _ => Err(Error::new(
            "failed to update resource: invalid format: literal values must be specified in the key=value format",
        )),
    }
}
