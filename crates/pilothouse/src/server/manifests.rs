//! `--admission-control-config-file`, and the policies in the directories that it names: read before the server
//! serves, and again when the files change. As upstream's `ManifestBasedAdmissionControlConfig`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use admission::policy::{Manifests, STATIC_SUFFIX, StaticPolicies};
use anyhow::{Context as _, anyhow, bail};
use config::Document;
use json::Value;
use telemetry::logs::{self, Field, SERVER};
use tokio::task::JoinHandle;

const GROUP: &str = "admissionregistration.k8s.io";
const VALIDATING: &str = "ValidatingAdmissionPolicy";
const MUTATING: &str = "MutatingAdmissionPolicy";
/// How often directories are read. Upstream gets notified of changes, and reads once a minute besides.
const PERIOD: Duration = Duration::from_secs(2);

/// What the configuration of admission plugins says.
#[derive(Clone, Debug, Default)]
pub struct AdmissionConfig {
    validating: Option<PathBuf>,
    mutating: Option<PathBuf>,
}

/// The policies that are in force, for the plugins.
#[derive(Clone, Debug, Default)]
pub(crate) struct StaticManifests {
    pub validating: Arc<StaticPolicies>,
    pub mutating: Arc<StaticPolicies>,
}

impl AdmissionConfig {
    /// Reads the file. Configuration of other plugins is refused: this server would not do what it says.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let shown = path.display();
        let text = config::read(path).map_err(|why| {
            anyhow!("unable to read admission control configuration from \"{shown}\" [{why}]")
        })?;
        let mut document = Document::parse(&text)?;
        document.expect(
            &["apiserver.config.k8s.io/v1", "apiserver.k8s.io/v1alpha1"],
            &["AdmissionConfiguration"],
        )?;
        let mut config = Self::default();
        let fields = document.fields(&["plugins"]);
        let known = ["name", "path", "configuration"];
        for plugin in fields.objects("plugins", "AdmissionPluginConfiguration", &known)? {
            let name = plugin.text("name")?.unwrap_or_default();
            let slot = match name {
                VALIDATING => &mut config.validating,
                MUTATING => &mut config.mutating,
                _ => bail!(
                    "configuration of admission plugin \"{name}\" is not supported by this server: leave it out"
                ),
            };
            let own = match (plugin.value("configuration"), plugin.text("path")?) {
                (Some(own), _) => own.to_string().into_bytes(),
                (None, Some(file)) if !file.is_empty() => {
                    let beside = path.parent().unwrap_or(Path::new("")).join(file);
                    config::read(&beside).map_err(anyhow::Error::msg)?
                }
                _ => continue,
            };
            *slot = directory(name, &own)
                .with_context(|| format!("couldn't init admission plugin \"{name}\""))?;
        }
        document.finish()?;
        Ok(config)
    }

    /// Reads all files. A server with files that cannot be used does not start.
    fn load(&self, manifests: &StaticManifests) -> anyhow::Result<()> {
        for (plugin, directory, target) in self.each(manifests) {
            let loaded = load(plugin, directory).map_err(|why| {
                anyhow!(
                    "failed to load static policy manifests from \"{}\": {why}",
                    directory.display()
                )
            })?;
            target.replace(loaded);
        }
        Ok(())
    }

    fn each<'a>(
        &'a self,
        manifests: &'a StaticManifests,
    ) -> impl Iterator<Item = (&'static str, &'a PathBuf, &'a StaticPolicies)> {
        let validating = (VALIDATING, &self.validating, &*manifests.validating);
        let mutating = (MUTATING, &self.mutating, &*manifests.mutating);
        [validating, mutating]
            .into_iter()
            .filter_map(|(plugin, directory, target)| Some((plugin, directory.as_ref()?, target)))
    }
}

/// Reads all files, and takes up their changes from then on.
pub(super) fn start(config: &AdmissionConfig) -> anyhow::Result<(StaticManifests, JoinHandle<()>)> {
    let manifests = StaticManifests::default();
    config.load(&manifests)?;
    let following = tokio::spawn(follow(config.clone(), manifests.clone()));
    Ok((manifests, following))
}

/// Takes up changes of files, until it is dropped. What cannot be used is logged, and what was in force stays.
async fn follow(config: AdmissionConfig, manifests: StaticManifests) {
    let read = |directory: &PathBuf| files(directory).ok();
    let mut seen: Vec<_> = config.each(&manifests).map(|it| read(it.1)).collect();
    loop {
        tokio::time::sleep(PERIOD).await;
        for (at, (plugin, directory, target)) in config.each(&manifests).enumerate() {
            let found = read(directory);
            if seen[at] == found {
                continue;
            }
            seen[at] = found;
            let shown = directory.display().to_string();
            let mut fields = vec![
                ("plugin", Field::Text(plugin)),
                ("dir", Field::Text(&shown)),
            ];
            match load(plugin, directory) {
                Ok(loaded) => {
                    target.replace(loaded);
                    logs::info(&SERVER, "Reloaded manifest config", &fields);
                }
                Err(why) => {
                    fields.push(("err", Field::Text(&why)));
                    logs::error(&SERVER, "Reloading manifest config", &fields);
                }
            }
        }
    }
}

/// The directory that the configuration of a plugin names.
fn directory(plugin: &str, text: &[u8]) -> anyhow::Result<Option<PathBuf>> {
    let mut document = Document::parse(text)?;
    document.expect(
        &["apiserver.config.k8s.io/v1"],
        &[&format!("{plugin}Configuration")],
    )?;
    let fields = document.fields(&["staticManifestsDir"]);
    let directory = fields.text("staticManifestsDir")?.unwrap_or_default();
    let directory = PathBuf::from(directory);
    document.finish()?;
    if directory.as_os_str().is_empty() {
        return Ok(None);
    }
    let shown = directory.display().to_string();
    let invalid = |why: &str| anyhow!("staticManifestsDir: Invalid value: {shown:?}: {why}");
    if !directory.is_absolute() {
        return Err(invalid("must be an absolute file path"));
    }
    match std::fs::metadata(&directory) {
        Err(error) => {
            let error = meta::go::system_error(&error);
            Err(invalid(&format!("unable to read: stat {shown}: {error}")))
        }
        Ok(it) if !it.is_dir() => Err(invalid("must be a directory")),
        Ok(_) => Ok(Some(directory)),
    }
}

/// The files of a directory, in the order of their names.
fn files(directory: &Path) -> Result<Vec<(String, Vec<u8>)>, String> {
    let shown = directory.display();
    let failed = |error: std::io::Error| {
        let error = meta::go::system_error(&error);
        format!("failed to read manifest directory \"{shown}\": open {shown}: {error}")
    };
    let mut names = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        if !path.is_dir() && ["yaml", "yml", "json"].iter().any(|it| extension == *it) {
            names.push(path);
        }
    }
    names.sort();
    let read = names.into_iter().map(|path| {
        let shown = path.display().to_string();
        match config::read(&path) {
            Ok(text) if text.len() > config::MAX_BYTES => Err(format!(
                "failed to read file {shown:?}: {}",
                config::Error::TooLarge
            )),
            Ok(text) => Ok((shown, text)),
            Err(why) => Err(format!("failed to read file {shown:?}: {why}")),
        }
    });
    read.collect()
}

fn load(plugin: &str, directory: &Path) -> Result<Manifests, String> {
    let mut objects = Vec::new();
    for (file, text) in files(directory)? {
        let failed = |why: String| format!("error loading {file}: {why}");
        for document in yaml::split_documents(&text) {
            let value = yaml::to_json(document).map_err(|error| failed(error.to_string()))?;
            if !value.is_null() {
                accept(plugin, &file, value, &mut objects).map_err(failed)?;
            }
        }
    }
    Manifests::new(plugin, objects)
}

/// An object, or those of a list, defaulted and validated as if they were written through the API.
fn accept(
    plugin: &str,
    file: &str,
    mut object: Value,
    all: &mut Vec<(String, Value)>,
) -> Result<(), String> {
    let kind = object.str_at(&["kind"]).unwrap_or_default().to_owned();
    let version = object
        .str_at(&["apiVersion"])
        .unwrap_or_default()
        .to_owned();
    if let Some(Value::Array(items)) = object.as_object_mut().and_then(|it| it.remove("items")) {
        let item_kind = kind.strip_suffix("List").unwrap_or_default();
        for mut item in items {
            if !item_kind.is_empty()
                && let Some(fields) = item.as_object_mut()
            {
                fields.insert("kind", item_kind);
                fields.insert("apiVersion", &*version);
            }
            accept(plugin, file, item, all)?;
        }
        return Ok(());
    }
    let (group, version) = version.split_once('/').unwrap_or(("", &version));
    let is_known = group == GROUP && (kind == plugin || kind == format!("{plugin}Binding"));
    let schema = schema::builtin().kind(group, version, &kind);
    let Some(schema) = schema.filter(|_| is_known) else {
        return Err(format!(
            "unsupported resource type {kind} of {group}/{version}"
        ));
    };
    let unknown = schema::unknown(schema.place(), &object);
    if !unknown.is_empty() {
        return Err(format!("strict decoding error: {}", unknown.join(", ")));
    }
    resources::defaults::apply(group, version, &kind, &mut object);
    // Their names are reserved: the API takes none of them.
    let mut named = object.clone();
    let name = meta::object::name(&object);
    let name = name.strip_suffix(STATIC_SUFFIX).unwrap_or(name);
    if let Some(metadata) = named.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert("name", name);
    }
    let errors = resources::validate::create(group, version, &kind, &named);
    if !errors.is_empty() {
        let text = meta::field::aggregate(&errors);
        return Err(format!("{kind} {:?}: {text}", meta::object::name(&object)));
    }
    all.push((file.to_owned(), object));
    Ok(())
}
