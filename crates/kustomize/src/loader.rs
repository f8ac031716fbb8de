//! Files of one root: a kustomization may read what is in its directory or below, and nothing else.

use std::rc::Rc;

use crate::error::{Error, Result, Wrap as _};
use crate::fs::{FileSystem, confirm_dir};
use crate::git::{RepoSpec, warn_of_prefix};
use crate::host::Host;
use crate::paths;
use crate::url::is_remote_file;

/// What a kustomization may read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadRestrictions {
    /// Files in its directory or below.
    #[default]
    RootOnly,
    /// Any file.
    None,
}

const MAX_NESTING: usize = 50;

pub(crate) struct Loader<'a> {
    pub(crate) fs: &'a dyn FileSystem,
    pub(crate) host: &'a dyn Host,
    pub(crate) root: String,
    restrictions: LoadRestrictions,
    /// The root that led here.
    referrer: Option<Rc<Loader<'a>>>,
    /// Set if this is a checkout, which goes with the loader.
    checkout: Option<Checkout>,
}

struct Checkout {
    spec: RepoSpec,
    dir: String,
    /// It is not ours to remove.
    stays: bool,
}

impl Drop for Loader<'_> {
    fn drop(&mut self) {
        if let Some(checkout) = self.checkout.as_ref().filter(|it| !it.stays) {
            self.fs.remove_all(&checkout.dir);
        }
    }
}

impl<'a> Loader<'a> {
    pub(crate) fn open(
        fs: &'a dyn FileSystem,
        host: &'a dyn Host,
        target: &str,
        restrictions: LoadRestrictions,
    ) -> Result<Rc<Self>> {
        warn_of_prefix(target, host);
        if let Ok(spec) = RepoSpec::parse(target) {
            return Self::at_checkout(fs, host, &spec, None);
        }
        let root = confirm_dir(fs, target).wrap("must build at directory")?;
        Ok(Rc::new(Self {
            fs,
            host,
            root,
            restrictions,
            referrer: None,
            checkout: None,
        }))
    }

    /// Another root, below this one or elsewhere.
    pub(crate) fn enter(self: &Rc<Self>, path: &str) -> Result<Rc<Self>> {
        if path.is_empty() {
            return Err(Error::new("new root cannot be empty"));
        }
        warn_of_prefix(path, self.host);
        if let Ok(spec) = RepoSpec::parse(path) {
            self.refuse_repository_cycle(&spec)?;
            return Self::at_checkout(self.fs, self.host, &spec, Some(Rc::clone(self)));
        }
        if path.starts_with('/') {
            return Err(Error::new(format!("new root '{path}' cannot be absolute")));
        }
        let root =
            confirm_dir(self.fs, &paths::join(&self.root, path)).wrap("must build at directory")?;
        self.refuse_leaving_checkout(&root)?;
        self.refuse_cycle(&root)?;
        Ok(Rc::new(Self {
            fs: self.fs,
            host: self.host,
            root,
            restrictions: self.restrictions,
            referrer: Some(Rc::clone(self)),
            checkout: None,
        }))
    }

    fn at_checkout(
        fs: &'a dyn FileSystem,
        host: &'a dyn Host,
        spec: &RepoSpec,
        referrer: Option<Rc<Self>>,
    ) -> Result<Rc<Self>> {
        let repository = spec.repository();
        host.progress(&format!("fetching {}", spec.raw));
        let kept = host.kept_checkout(&repository)?;
        let stays = kept.is_some();
        let dir = match kept {
            Some(dir) => dir,
            None => fs.temporary_directory()?,
        };
        let mut loader = Self {
            fs,
            host,
            root: String::new(),
            // Strangers' files read nothing of ours.
            restrictions: LoadRestrictions::RootOnly,
            referrer,
            checkout: Some(Checkout {
                spec: spec.clone(),
                dir: dir.clone(),
                stays,
            }),
        };
        if !stays {
            host.checkout(&repository, &dir)?;
        }
        let wanted = paths::join(&dir, &spec.root_path);
        let (root, file) = fs.resolve(&wanted)?;
        if let Some(file) = file {
            return Err(Error::new(format!(
                "'{wanted}' refers to file '{file}'; expecting directory"
            )));
        }
        if !paths::is_within(&root, &dir) {
            return Err(Error::new(format!(
                "{wanted:?} refers to directory outside of repo {dir:?}"
            )));
        }
        loader.root = root;
        Ok(Rc::new(loader))
    }

    /// Where the checkout is that this is in the root of.
    pub(crate) fn repository(&self) -> Option<&str> {
        self.checkout.as_ref().map(|it| it.dir.as_str())
    }

    fn referrers(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |it| it.referrer.as_deref())
    }

    /// A path as people know it: from the first root, or by the address of its repository.
    pub(crate) fn shown(&self, path: &str) -> String {
        if path.starts_with('/') || is_remote_file(path) {
            return path.to_owned();
        }
        let path = paths::join(&self.root, path);
        let checkout = self.referrers().find_map(|it| it.checkout.as_ref());
        match (checkout, self.referrers().last()) {
            (Some(checkout), _) => {
                let inside = paths::relative(&checkout.dir, &path);
                format!("{}//{inside}", checkout.spec.clone_spec())
            }
            (None, Some(first)) => paths::relative(&first.root, &path),
            (None, None) => path,
        }
    }

    fn refuse_leaving_checkout(&self, root: &str) -> Result<()> {
        let checkout = self.referrers().find_map(|it| it.checkout.as_ref());
        match checkout {
            Some(checkout) if !paths::is_within(root, &checkout.dir) => Err(Error::new(format!(
                "security; bases in kustomizations found in cloned git repos must be within the repo, but base '{root}' is outside '{}'",
                checkout.dir
            ))),
            _ => Ok(()),
        }
    }

    fn refuse_cycle(&self, root: &str) -> Result<()> {
        for visited in self.referrers() {
            if paths::is_within(&visited.root, root) {
                return Err(Error::new(format!(
                    "cycle detected: candidate root '{root}' contains visited root '{}'",
                    visited.root
                )));
            }
        }
        Ok(())
    }

    /// What recurses over roots stays within any stack.
    pub(crate) fn check_nesting(&self) -> Result<()> {
        if self.referrers().nth(MAX_NESTING).is_some() {
            return Err(Error::new(format!(
                "more than {MAX_NESTING} kustomizations within each other"
            )));
        }
        Ok(())
    }

    fn refuse_repository_cycle(&self, spec: &RepoSpec) -> Result<()> {
        let visited = self.referrers().filter_map(|it| it.checkout.as_ref());
        for checkout in visited {
            if checkout.spec.raw.starts_with(&spec.raw) {
                return Err(Error::new(format!(
                    "cycle detected: URI '{}' referenced by previous URI '{}'",
                    spec.raw, checkout.spec.raw
                )));
            }
        }
        Ok(())
    }

    pub(crate) fn load(&self, path: &str) -> Result<Vec<u8>> {
        if is_remote_file(path) {
            self.host.progress(&format!("fetching {path}"));
            return self.host.get(path).map_err(|error| match error {
                Error::Http(_) if RepoSpec::parse(path).is_ok() => {
                    Error::new("URL is a git repository")
                }
                error => error,
            });
        }
        let path = if path.starts_with('/') {
            path.to_owned()
        } else {
            paths::join(&self.root, path)
        };
        // The root has no links in it, so there is nothing to follow for what stands in it.
        let beside = path
            .rsplit_once('/')
            .is_some_and(|(dir, _)| dir == self.root);
        let at_hand = beside && self.fs.is_plain_file(&path);
        if at_hand || self.restrictions == LoadRestrictions::None {
            return self.fs.read(&path);
        }
        let (dir, file) = self.fs.resolve(&path)?;
        let Some(file) = file else {
            return Err(Error::new(format!("'{path}' must resolve to a file")));
        };
        if !paths::is_within(&dir, &self.root) {
            return Err(Error::new(format!(
                "security; file '{path}' is not in or below '{}'",
                self.root
            )));
        }
        self.fs.read(&paths::join(&dir, &file))
    }

    /// The same as text; what is not UTF-8 is not YAML.
    pub(crate) fn load_text(&self, path: &str) -> Result<String> {
        String::from_utf8(self.load(path)?).map_err(|error| {
            let problem = yaml::parse(error.as_bytes()).err();
            let problem = problem.map_or_else(|| error.to_string(), |it| it.to_string());
            Error::malformed(format_args!("{problem} in File: {path}"))
        })
    }
}
