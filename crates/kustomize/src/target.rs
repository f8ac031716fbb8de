//! One kustomization: what it accumulates, in kustomize's order.

mod builtin;
mod external;
mod place;

use std::rc::Rc;

use crate::config::{Config, SharedConfig, from_crds};
use crate::error::{Error, Result, Wrap as _, quote};
use crate::explain::{self, Cause};
use crate::factory;
use crate::git::warn_of_prefix;
use crate::glob;
use crate::host::Host;
use crate::kustomization::{COMPONENT, FILE_NAMES};
use crate::loader::Loader;
use crate::origin::Origin;
use crate::plugin::{Generated, Transforming};
use crate::resmap::ResMap;
use crate::resource::ORIGIN;
use crate::schema::Schema;
use crate::types::{FieldSpec, Kustomization};
use crate::vars::{self, VarSet};
use crate::{Options, name_ref, transform};

/// Two roots that contain two each, and so on, are soon more than anyone can build.
const MAX_ROOTS: usize = 10_000;

/// What all targets of a build share.
pub(crate) struct Build<'a> {
    /// How many kustomizations were entered.
    roots: usize,
    pub(crate) options: &'a Options,
    pub(crate) host: &'a dyn Host,
    pub(crate) builtin: SharedConfig,
    schema: Option<Rc<Schema>>,
    schema_given: bool,
    seen_unknown_kind: bool,
}

impl<'a> Build<'a> {
    pub(crate) fn new(options: &'a Options, host: &'a dyn Host) -> Self {
        Self {
            roots: 0,
            options,
            host,
            builtin: SharedConfig::builtin(),
            schema: None,
            schema_given: false,
            seen_unknown_kind: false,
        }
    }

    /// Remembers who changed resources, if someone is to ask.
    fn record(&self, map: &mut ResMap, cause: impl FnOnce() -> Cause) {
        if self.options.explain {
            explain::record(map, cause());
        }
    }

    pub(crate) fn schema(&mut self) -> Rc<Schema> {
        let made = self
            .schema
            .get_or_insert_with(|| Rc::new(Schema::builtin()));
        Rc::clone(made)
    }

    /// The first kustomization that says something about it decides.
    fn set_schema(&mut self, target: &Target<'_>) -> Result<()> {
        let openapi = &target.kustomization.openapi;
        let text = match openapi.get("path") {
            Some(path) => Some(target.loader.load(path)?),
            None => None,
        };
        if self.schema_given {
            return Ok(());
        }
        let version = openapi.get("version").map_or("", String::as_str);
        if let Some(text) = text {
            if openapi.contains_key("version") {
                return Err(Error::new(
                    "builtin version and custom schema provided, cannot use both",
                ));
            }
            // Upstream has read its own by then if it had to ask for the scope of a kind it does not know.
            let before = if self.seen_unknown_kind {
                Schema::builtin()
            } else {
                Schema::default()
            };
            self.schema = Some(Rc::new(before.parse(&text)?));
            self.schema_given = true;
            return Ok(());
        }
        match version {
            "" => {}
            "v1.21.2" => self.schema_given = true,
            _ => {
                return Err(Error::new("the specified OpenAPI version is not built in"));
            }
        }
        Ok(())
    }
}

pub(crate) struct Target<'a> {
    pub(crate) loader: Rc<Loader<'a>>,
    pub(crate) kustomization: Box<Kustomization>,
    file_name: &'static str,
    origin: Option<Origin>,
    /// The namespace of those above, for charts.
    helm_namespace: String,
}

/// Resources, and what is needed to finish them.
#[derive(Default)]
pub(crate) struct Accumulator {
    pub(crate) map: ResMap,
    config: SharedConfig,
    vars: VarSet,
}

impl<'a> Target<'a> {
    pub(crate) fn load(loader: Rc<Loader<'a>>, options: &Options) -> Result<Self> {
        let mut found = FILE_NAMES
            .iter()
            .filter_map(|name| Some((*name, loader.load(name).ok()?)));
        let (first, second) = (found.next(), found.next());
        drop(found);
        let Some((file_name, text)) = first else {
            return Err(Error::new(format!(
                "unable to find one of 'kustomization.yaml', 'kustomization.yml' or 'Kustomization' in directory '{}'",
                loader.root
            )));
        };
        if second.is_some() {
            return Err(Error::new(format!(
                "Found multiple kustomization files under: {}\n",
                loader.root
            )));
        }
        let host = loader.host;
        let warn = &mut |line: &str| host.warn(line);
        let kustomization =
            Kustomization::read(&text, &loader.root, &options.usage_counts, warn)
                .map_err(|error| place::in_kustomization(error, &text, &loader, file_name))?;
        Ok(Self {
            loader,
            kustomization: Box::new(kustomization),
            file_name,
            origin: None,
            helm_namespace: String::new(),
        })
    }

    /// The whole of the build but the order of the output.
    pub(crate) fn run(&mut self, build: &mut Build<'a>) -> Result<ResMap> {
        build.set_schema(self)?;
        if !self.kustomization.build_metadata.is_empty() {
            self.origin = Some(Origin::default());
        }
        let mut all = self.accumulate(Accumulator::default(), build)?;
        let schema = build.schema();
        transform::Transformer::transform(&mut transform::Hash, &mut all.map, &schema)?;
        build.record(&mut all.map, || Cause::of("name suffix hash"));
        let config = all.config.get();
        name_ref::fix(&mut all.map, &config)?;
        build.record(&mut all.map, || Cause::of("new name of what it refers to"));
        vars::resolve(&mut all.map, &all.vars, &config, build.host)?;
        build.record(&mut all.map, || Cause::of("vars"));
        drop_local(&mut all.map)?;
        Ok(all.map)
    }

    fn accumulate(&mut self, all: Accumulator, build: &mut Build<'a>) -> Result<Accumulator> {
        let resources = self.listed(&self.kustomization.resources, build);
        let resources = resources.wrap("accumulating resources")?;
        let mut all = self
            .accumulate_resources(all, &resources, build)
            .wrap("accumulating resources")?;
        let configurations = &self.kustomization.configurations;
        if configurations.is_empty() {
            all.config.merge_builtin(&build.builtin)?;
        } else {
            let own = Config::load(&self.loader, configurations)?;
            all.config.merge_own(&build.builtin.get().merge(&own)?)?;
        }
        let crds = &self.kustomization.crds;
        let of_crds = from_crds(&self.loader, crds)
            .wrap_with(|| format!("loading CRDs [{}]", crds.join(" ")))?;
        all.config.merge_own(&of_crds)?;
        self.generate(&mut all, build)?;
        let components = self.listed(&self.kustomization.components, build);
        let components = components.wrap("accumulating components")?;
        let mut all = self
            .accumulate_components(all, &components, build)
            .wrap("accumulating components")?;
        self.transform(&mut all, build)?;
        self.validate(&mut all, build)?;
        let vars = &self.kustomization.vars;
        vars::mark(&mut all.map, vars)
            .and_then(|()| all.vars.merge(vars.iter().cloned()))
            .wrap_with(|| format!("merging vars {}", vars::show_all(vars)))?;
        Ok(all)
    }

    /// Paths, with patterns replaced if they are allowed.
    fn listed(&self, paths: &[String], build: &Build<'_>) -> Result<Vec<String>> {
        if build.options.enable_globs {
            glob::expand(self.loader.fs, &self.loader.root, paths)
        } else {
            Ok(paths.to_vec())
        }
    }

    fn accumulate_resources(
        &mut self,
        mut all: Accumulator,
        paths: &[String],
        build: &mut Build<'a>,
    ) -> Result<Accumulator> {
        for path in paths {
            let Err(no_file) = self.accumulate_file(&mut all, path, build) else {
                continue;
            };
            let listed = |error: Error| error.at(|| self.place_of_path("resources", path));
            if let Error::Http(_) = no_file {
                return Err(no_file);
            }
            let loader = match self.loader.enter(path) {
                Ok(loader) => loader,
                // A file, then; why it is no directory would only confuse.
                Err(error)
                    if no_file.is_malformed_yaml() && !matches!(error, Error::Timeout(_)) =>
                {
                    return Err(no_file);
                }
                Err(error) => {
                    let error = error.wrap(format!("accumulation err='{no_file}'"));
                    return Err(listed(error.where_as(&no_file)));
                }
            };
            all = self
                .accumulate_directory(all, path, loader, false, build)
                .wrap_with(|| format!("accumulation err='{no_file}'"))
                .map_err(|error| error.at(|| self.place_of_path("resources", path)))?;
        }
        Ok(all)
    }

    fn accumulate_components(
        &mut self,
        mut all: Accumulator,
        paths: &[String],
        build: &mut Build<'a>,
    ) -> Result<Accumulator> {
        for path in paths {
            let quoted =
                |what: &str, error: Error| error.reword(|text| format!("{what} {}", quote(&text)));
            let loader = self
                .loader
                .enter(path)
                .map_err(|error| quoted("loader.New", error))
                .map_err(|error| error.at(|| self.place_of_path("components", path)))?;
            all = self
                .accumulate_directory(all, path, loader, true, build)
                .map_err(|error| quoted("accumulateDirectory:", error))
                .map_err(|error| error.at(|| self.place_of_path("components", path)))?;
        }
        Ok(all)
    }

    fn accumulate_directory(
        &mut self,
        mut all: Accumulator,
        path: &str,
        loader: Rc<Loader<'a>>,
        component: bool,
        build: &mut Build<'a>,
    ) -> Result<Accumulator> {
        build.roots += 1;
        loader.check_nesting()?;
        if build.roots > MAX_ROOTS {
            return Err(Error::new(format!(
                "more than {MAX_ROOTS} kustomizations in one build"
            )));
        }
        let root = loader.root.clone();
        let mut target = Self::load(loader, build.options)
            .wrap_with(|| format!("couldn't make target for path '{root}'"))?;
        let own = &self.kustomization;
        target
            .kustomization
            .build_metadata
            .clone_from(&own.build_metadata);
        target.origin = self.origin.as_ref().map(|it| {
            warn_of_prefix(path, self.loader.host);
            it.append(path)
        });
        let namespace = if own.namespace.is_empty() {
            &self.helm_namespace
        } else {
            &own.namespace
        };
        target.helm_namespace.clone_from(namespace);
        build.set_schema(&target)?;
        if component && !target.kustomization.is_component() {
            return Err(Error::new(format!(
                "expected kind '{COMPONENT}' for path '{root}' but got '{}'",
                target.kustomization.kind
            )));
        }
        if !component && target.kustomization.is_component() {
            return Err(Error::new(format!(
                "expected kind != '{COMPONENT}' for path '{root}'"
            )));
        }
        let within = || format!("recursed accumulation of path '{root}'");
        if component {
            return target.accumulate(all, build).wrap_with(within);
        }
        let inner = target
            .accumulate(Accumulator::default(), build)
            .wrap_with(within)?;
        all.merge(inner)
            .wrap_with(|| format!("recursed merging from path '{root}'"))?;
        Ok(all)
    }

    fn accumulate_file(
        &self,
        all: &mut Accumulator,
        path: &str,
        build: &mut Build<'a>,
    ) -> Result<()> {
        let mut map = factory::map_from_file(&self.loader, path)
            .wrap_with(|| format!("accumulating resources from '{path}'"))?;
        if !build.seen_unknown_kind {
            build.seen_unknown_kind = map.iter().any(|it| !it.gvk().is_known());
        }
        if let Some(origin) = &self.origin {
            let text = origin.append(path).to_string();
            let spec = FieldSpec {
                path: "metadata/annotations".into(),
                create: true,
                ..FieldSpec::default()
            };
            let annotation = [(ORIGIN.to_owned(), text)].into();
            let mut annotate = transform::MetaMap::new(&annotation, &[spec]);
            transform::Transformer::transform(&mut annotate, &mut map, &Schema::default())?;
        }
        if build.options.explain {
            place::record_file(&mut map, &self.loader, path);
        }
        all.map
            .append_all(map)
            .wrap_with(|| format!("merging resources from '{path}'"))
    }

    fn generate(&mut self, all: &mut Accumulator, build: &mut Build<'a>) -> Result<()> {
        let mut generated = self.builtin_generators(build)?;
        let external = self
            .external_generators(build)
            .wrap("loading generator plugins")?;
        generated.extend(external);
        for Generated {
            generator,
            origin,
            asked,
        } in generated
        {
            let at = |error: Error| error.at(|| self.place(&asked));
            let mut map = generator.generate().map_err(at)?;
            if let Some(origin) = origin {
                map.annotate_origin(&origin)?;
            }
            let absorbed = all.map.absorb_all(map).wrap("merging from generator");
            absorbed.map_err(at)?;
            build.record(&mut all.map, || self.cause(&asked));
        }
        Ok(())
    }

    fn transform(&mut self, all: &mut Accumulator, build: &mut Build<'a>) -> Result<()> {
        let config = all.config.get();
        let mut transforming = self.builtin_transformers(&config)?;
        let paths = self.kustomization.transformers.clone();
        transforming.extend(self.external_transformers("transformers", &paths, build)?);
        let schema = build.schema();
        for Transforming {
            mut transformer,
            origin,
            asked,
        } in transforming
        {
            let done = transformer.transform(&mut all.map, &schema);
            done.map_err(|error| error.by(|known| self.place_at(&asked, known)))?;
            all.map.settle();
            build.record(&mut all.map, || self.cause(&asked));
            if let Some(origin) = origin {
                all.map.annotate_transformation(&origin)?;
            }
            all.map.drop_empty();
        }
        Ok(())
    }

    fn validate(&mut self, all: &mut Accumulator, build: &mut Build<'a>) -> Result<()> {
        let paths = self.kustomization.validators.clone();
        let schema = build.schema();
        for mut validator in self.external_transformers("validators", &paths, build)? {
            let before = all.map.clone();
            validator
                .transformer
                .transform(&mut all.map, &schema)
                .and_then(|()| external::same_but_for_mark(&before, &all.map))
                .map_err(|error| error.at(|| self.place(&validator.asked)))?;
            build.record(&mut all.map, || self.cause(&validator.asked));
        }
        Ok(())
    }
}

impl Accumulator {
    fn merge(&mut self, other: Self) -> Result<()> {
        self.map.append_all(other.map)?;
        self.config.merge(&other.config)?;
        self.vars.merge_set(other.vars)
    }
}

/// What is only for the build itself.
fn drop_local(map: &mut ResMap) -> Result<()> {
    const LOCAL: &str = "config.kubernetes.io/local-config";
    for resource in map.iter().filter(|it| !it.node.is_empty()) {
        resource.node.check_meta()?;
    }
    let is_local = |it: &crate::resource::Resource| {
        it.node
            .annotation(LOCAL)
            .is_some_and(|value| **value != *"false")
    };
    if map.iter().any(|it| it.node.is_empty() || is_local(it)) {
        map.list_mut()
            .retain(|it| !it.node.is_empty() && !is_local(it));
    }
    Ok(())
}
