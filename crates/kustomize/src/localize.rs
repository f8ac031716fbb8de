//! A copy of a kustomization with all it refers to, as `kustomize localize` makes it: what is remote is fetched and
//! becomes local.

mod address;
mod charts;
mod fields;
mod plugins;

use std::rc::Rc;

use crate::decode::decode;
use crate::encode::Encode as _;
use crate::error::{Error, Result, Wrap as _, quote};
use crate::factory;
use crate::fs::{FileSystem, confirm_dir, exists, is_dir};
use crate::git::RepoSpec;
use crate::host::Host;
use crate::kustomization::FILE_NAMES;
use crate::loader::{LoadRestrictions, Loader};
use crate::paths;
use crate::types::Kustomization;
use crate::url::is_remote_file;

/// Where copies of what is remote go, in each root.
const DIRECTORY: &str = "localized-files";

/// Roots that lead to each other end somewhere.
const MAX_DEPTH: usize = 100;

/// Where a copy is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Localized {
    /// The new directory, which stands for the scope.
    pub directory: String,
    /// The copy of the target in it.
    pub target: String,
}

/// Copies `target`, whose local references stay within `scope` (the target itself if that is empty), to a new
/// directory (named after the target if it is empty).
pub fn localize(
    fs: &dyn FileSystem,
    host: &dyn Host,
    target: &str,
    scope: &str,
    destination: &str,
) -> std::result::Result<Localized, Error> {
    let spec = RepoSpec::parse(target).ok();
    if spec.as_ref().is_some_and(|it| it.reference.is_empty()) {
        return Err(missing_reference(target));
    }
    let loader = Loader::open(fs, host, target, LoadRestrictions::RootOnly)
        .wrap_with(|| format!("unable to establish localize target {}", quote(target)))?;
    let scope = establish_scope(&loader, target, scope)
        .wrap_with(|| format!("invalid localize scope {}", quote(scope)))?;
    let directory = new_directory(&loader, spec.as_ref(), destination)
        .wrap_with(|| format!("invalid localize destination {}", quote(destination)))?;
    let bounds = Bounds { scope, directory };
    let copy = paths::join(
        &bounds.directory,
        &paths::relative(&bounds.scope, &loader.root),
    );
    let localizer = Localizer {
        loader,
        bounds: &bounds,
        local: true,
        destination: copy.clone(),
        depth: 0,
    };
    let done = fs
        .make_directory(&copy)
        .wrap("unable to create directory in localize destination")
        .and_then(|()| localizer.run());
    drop(localizer);
    if let Err(error) = done {
        fs.remove_all(&bounds.directory);
        return Err(error.wrap(format!("unable to localize target {}", quote(target))));
    }
    Ok(Localized {
        directory: bounds.directory,
        target: copy,
    })
}

fn missing_reference(url: &str) -> Error {
    Error::new(format!(
        "localize remote root {} missing ref query string parameter",
        quote(url)
    ))
}

fn establish_scope(loader: &Loader<'_>, target: &str, scope: &str) -> Result<String> {
    if let Some(repository) = loader.repository() {
        if scope.is_empty() {
            return Ok(repository.to_owned());
        }
        return Err(Error::new(format!(
            "scope {} specified for remote localize target {}",
            quote(scope),
            quote(target)
        )));
    }
    if scope.is_empty() {
        return Ok(loader.root.clone());
    }
    let dir = confirm_dir(loader.fs, scope).wrap("unable to establish localize scope")?;
    if !paths::is_within(&loader.root, &dir) {
        return Err(Error::new(format!(
            "localize scope {} does not contain target {} at {}",
            quote(scope),
            quote(target),
            quote(&loader.root)
        )));
    }
    Ok(dir)
}

fn new_directory(loader: &Loader<'_>, spec: Option<&RepoSpec>, wanted: &str) -> Result<String> {
    let name = if wanted.is_empty() {
        default_name(loader, spec)
    } else {
        wanted.to_owned()
    };
    let fs = loader.fs;
    if exists(fs, &name) {
        return Err(Error::new(format!(
            "localize destination {} already exists",
            quote(&name)
        )));
    }
    let trimmed = name.trim_end_matches('/');
    let parent = trimmed.rsplit_once('/').map_or(".", |(parent, _)| parent);
    if !parent.is_empty() && !is_dir(fs, parent) {
        return Err(Error::new(format!(
            "unable to create localize destination directory: mkdir {name}: no such file or directory"
        )));
    }
    fs.make_directory(&name)
        .wrap("unable to create localize destination directory")?;
    confirm_dir(fs, &name).wrap("unable to establish localize destination")
}

fn default_name(loader: &Loader<'_>, spec: Option<&RepoSpec>) -> String {
    const PREFIX: &str = "localized";
    let base = paths::base(&loader.root);
    match (loader.repository(), spec) {
        (Some(repository), Some(spec)) => {
            let base = if repository == loader.root {
                paths::base(spec.repo_path())
            } else {
                base
            };
            format!("{PREFIX}-{base}-{}", spec.reference.replace('/', "-"))
        }
        _ if base == "/" => PREFIX.to_owned(),
        _ => format!("{PREFIX}-{base}"),
    }
}

/// What local references may not leave, and where they may not lead.
struct Bounds {
    scope: String,
    directory: String,
}

/// One root on its way to its copy.
struct Localizer<'a> {
    loader: Rc<Loader<'a>>,
    bounds: &'a Bounds,
    /// Whether only local references led here.
    local: bool,
    destination: String,
    depth: usize,
}

impl Localizer<'_> {
    fn fs(&self) -> &dyn FileSystem {
        self.loader.fs
    }

    fn root(&self) -> &str {
        &self.loader.root
    }

    fn run(&self) -> Result<()> {
        let (name, mut kustomization) = self.read()?;
        self.localize_fields(&mut kustomization)?;
        self.localize_plugins(&mut kustomization)?;
        let mut content = Vec::new();
        yaml::write_value(&mut content, &kustomization.encode());
        let path = paths::join(&self.destination, name);
        self.fs()
            .write(&path, &content)
            .wrap("unable to write localized kustomization file")
    }

    fn read(&self) -> Result<(&'static str, Kustomization)> {
        let found = FILE_NAMES.iter();
        let mut found = found.filter_map(|name| Some((*name, self.load(name).ok()?)));
        let (name, text) = found.next().ok_or_else(|| {
            Error::new(format!(
                "unable to find one of 'kustomization.yaml', 'kustomization.yml' or 'Kustomization' in directory '{}'",
                self.root()
            ))
        })?;
        if found.next().is_some() {
            return Err(Error::new(format!(
                "Found multiple kustomization files under: {}\n",
                self.root()
            )));
        }
        let value = yaml::to_json(&text)
            .map_err(Error::from)
            .wrap("invalid Kustomization")?;
        let kustomization = decode(&value, true).wrap("invalid Kustomization")?;
        Ok((name, kustomization))
    }

    fn load(&self, path: &str) -> Result<Vec<u8>> {
        let content = self.loader.load(path).wrap("invalid file reference")?;
        if self.local && !is_remote_file(path) {
            let at = paths::join(self.root(), &self.relative(path)?);
            let dir = at.rsplit_once('/').map_or("", |(dir, _)| dir);
            if paths::is_within(dir, &self.bounds.directory) {
                return Err(Error::new(format!(
                    "file {} at {} enters localize destination {}",
                    quote(path),
                    quote(&at),
                    quote(&self.bounds.directory)
                )));
            }
        }
        Ok(content)
    }

    /// A file's path from the root, without links.
    fn relative(&self, path: &str) -> Result<String> {
        let absolute = if path.starts_with('/') {
            path.to_owned()
        } else {
            paths::join(self.root(), path)
        };
        let (dir, file) = self.fs().resolve(&absolute)?;
        let real = paths::join(&dir, &file.unwrap_or_default());
        Ok(paths::relative(self.root(), &real))
    }

    fn enter(&self, path: &str) -> Result<Rc<Loader<'_>>> {
        let loader = self.loader.enter(path).wrap("invalid root reference")?;
        if loader.repository().is_some() {
            let spec = RepoSpec::parse(path)?;
            if spec.reference.is_empty() {
                return Err(missing_reference(path));
            }
        } else if self.local {
            let Bounds { scope, directory } = self.bounds;
            if !paths::is_within(&loader.root, scope) {
                return Err(Error::new(format!(
                    "root {} outside localize scope {}",
                    quote(&loader.root),
                    quote(scope)
                )));
            }
            if paths::is_within(&loader.root, directory) {
                return Err(Error::new(format!(
                    "root {} references into localize destination {}",
                    quote(&loader.root),
                    quote(directory)
                )));
            }
        }
        Ok(loader)
    }

    fn file(&self, path: &str) -> Result<String> {
        if path.is_empty() {
            return Ok(String::new());
        }
        let content = self.load(path)?;
        self.write(path, &content)
    }

    /// Where a file is, or a root that is remote.
    fn refuse_collision(&self, what: &str, path: &str) -> Result<()> {
        if !exists(self.fs(), &paths::join(self.root(), DIRECTORY)) {
            return Ok(());
        }
        Err(Error::new(format!(
            "{} already contains {DIRECTORY} needed to store {what} {}",
            self.root(),
            quote(path)
        )))
    }

    fn write(&self, path: &str, content: &[u8]) -> Result<String> {
        let local = if is_remote_file(path) {
            self.refuse_collision("file", path)?;
            address::of_file(path)
        } else {
            self.relative(path)?
        };
        let at = paths::join(&self.destination, &local);
        let dir = at.rsplit_once('/').map_or("", |(dir, _)| dir);
        self.fs().make_directory(dir).wrap_with(|| {
            format!(
                "unable to create directories to localize file {}",
                quote(path)
            )
        })?;
        self.fs()
            .write(&at, content)
            .wrap_with(|| format!("unable to localize file {}", quote(path)))?;
        Ok(local)
    }

    fn directory(&self, path: &str) -> Result<String> {
        if path.is_empty() {
            return Ok(String::new());
        }
        let loader = self.enter(path)?;
        if self.depth > MAX_DEPTH {
            return Err(Error::new(format!(
                "root {} is nested too deeply",
                quote(path)
            )));
        }
        let local = match loader.repository() {
            Some(repository) => {
                self.refuse_collision("root", path)?;
                address::of_root(path, repository, &loader.root)?
            }
            None => paths::relative(self.root(), &loader.root),
        };
        let destination = paths::join(&self.destination, &local);
        self.fs().make_directory(&destination).wrap_with(|| {
            format!(
                "unable to create root {} in localize destination",
                quote(path)
            )
        })?;
        let inner = Localizer {
            local: self.local && loader.repository().is_none(),
            loader,
            bounds: self.bounds,
            destination,
            depth: self.depth + 1,
        };
        inner
            .run()
            .wrap_with(|| format!("unable to localize root {}", quote(path)))?;
        Ok(local)
    }

    /// A file with resources, or a root.
    fn resource(&self, path: &str) -> Result<String> {
        let as_file = self.load(path).and_then(|content| {
            let text = String::from_utf8_lossy(&content);
            factory::map_from_text(&text)
                .wrap_with(|| format!("invalid resource at file {}", quote(path)))?;
            self.write(path, &content)
        });
        as_file.or_else(|file| {
            self.directory(path).map_err(|directory| {
                let path = quote(path);
                Error::new(format!(
                    "could not localize path {path} as file: {file}; could not localize path {path} as directory: {directory}"
                ))
            })
        })
    }
}
