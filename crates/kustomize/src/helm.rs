//! Helm charts, inflated by the user's `helm`.

use std::rc::Rc;

use json::{Object, Value};

use crate::HelmOptions;
use crate::encode::Encode as _;
use crate::error::{Error, Result, Wrap as _};
use crate::factory;
use crate::host::Program;
use crate::loader::Loader;
use crate::node::{from_patched, parse_document, to_value};
use crate::paths;
use crate::plugin::Generator;
use crate::resmap::ResMap;
use crate::resource::HELM_GENERATED;
use crate::schema::Schema;
use crate::strategic;
use crate::types::{HelmChart, HelmGlobals};

pub(crate) fn configure<'a>(
    chart: &HelmChart,
    globals: &HelmGlobals,
    loader: Rc<Loader<'a>>,
    options: &HelmOptions,
) -> Result<Box<dyn Generator + 'a>> {
    if !options.enabled {
        return Err(Error::new("must specify --enable-helm"));
    }
    if options.command.is_empty() {
        return Err(Error::new("must specify --helm-command"));
    }
    let mut chart = chart.clone();
    if chart.kube_version.is_empty() {
        chart.kube_version.clone_from(&options.kube_version);
    }
    if chart.api_versions.is_empty() {
        chart
            .api_versions
            .extend(options.api_versions.iter().cloned());
    }
    chart.debug |= options.debug;
    if chart.name.is_empty() {
        return Err(Error::new("chart name cannot be empty"));
    }
    let mut home = globals.chart_home.clone();
    if home.is_empty() {
        home = "charts".into();
    }
    if !home.starts_with('/') {
        home = paths::join(&loader.root, &home);
    }
    if !chart.version.is_empty() && !chart.repo.is_empty() {
        home = paths::join(&home, &format!("{}-{}", chart.name, chart.version));
    }
    if chart.values_file.is_empty() {
        chart.values_file = paths::join(&paths::join(&home, &chart.name), "values.yaml");
    }
    for file in chart.additional_values_files.iter_mut() {
        loader
            .load(file)
            .wrap("could not load additionalValuesFile")?;
        *file = paths::join(&loader.root, file);
    }
    match chart.values_merge.as_str() {
        "" => chart.values_merge = "override".into(),
        "merge" | "override" | "replace" => {}
        _ => {
            return Err(Error::new(
                "valuesMerge must be one of [merge override replace]",
            ));
        }
    }
    let inflater = Inflater {
        chart,
        home,
        config_home: globals.config_home.clone(),
        loader,
        command: options.command.clone(),
    };
    Ok(Box::new(move || inflater.run()))
}

struct Inflater<'a> {
    chart: HelmChart,
    home: String,
    config_home: String,
    loader: Rc<Loader<'a>>,
    command: String,
}

impl Inflater<'_> {
    fn run(mut self) -> Result<ResMap> {
        let fs = self.loader.fs;
        let scratch = fs.temporary_directory()?;
        if self.config_home.is_empty() {
            self.config_home = paths::join(&scratch, "helm");
        }
        let done = self.inflate(&scratch);
        fs.remove_all(&scratch);
        done
    }

    fn inflate(&mut self, scratch: &str) -> Result<ResMap> {
        self.check_version()?;
        let chart_dir = paths::join(&self.home, &self.chart.name);
        if !matches!(self.loader.fs.resolve(&chart_dir), Ok((_, None))) {
            if self.chart.repo.is_empty() {
                return Err(Error::new(
                    "no repo specified for pull, no chart found at ''",
                ));
            }
            self.helm(&self.pull())?;
        }
        let values = self.values()?;
        let path = paths::join(
            scratch,
            &format!("{}-kustomize-values.yaml", self.chart.name),
        );
        self.loader.fs.write(&path, &values)?;
        self.chart.values_file = path;
        let output = self.helm(&self.template())?;
        let text = String::from_utf8_lossy(&output);
        let mut map = factory::map_from_text(&text).map_err(|error| {
            let read = if error.is_malformed_yaml() {
                "bytes"
            } else {
                "rnode slice"
            };
            error.wrap(format!("could not parse {read} into resource map"))
        })?;
        for resource in map.raw_list_mut() {
            resource
                .node
                .set_annotation(HELM_GENERATED, "true".into())?;
        }
        Ok(map)
    }

    fn helm(&self, arguments: &[String]) -> Result<Vec<u8>> {
        let home = &self.config_home;
        let environment = vec![
            ("HELM_CONFIG_HOME".to_owned(), home.clone()),
            ("HELM_CACHE_HOME".to_owned(), format!("{home}/.cache")),
            ("HELM_DATA_HOME".to_owned(), format!("{home}/.data")),
        ];
        let shown: Vec<String> = environment
            .iter()
            .map(|(k, v)| format!("{k}={v}"))
            .collect();
        let fail = |errors: &str, cause: &str| {
            let separator = if errors.is_empty() { "" } else { ": " };
            Error::new(format!(
                "{errors}{separator}unable to run: '{helm} {}' with env=[{}] (is '{helm}' installed?): {cause}",
                arguments.join(" "),
                shown.join(" "),
                helm = self.command
            ))
        };
        let program = Program {
            path: self.command.clone(),
            arguments: arguments.to_vec(),
            environment,
            ..Program::default()
        };
        let done = self
            .loader
            .host
            .run(&program)
            .map_err(|error| fail("", &error.to_string()))?;
        if done.success {
            return Ok(done.output);
        }
        let mut errors = String::from_utf8_lossy(&done.errors).into_owned();
        if arguments.iter().any(|it| it == "--debug") {
            let template = String::from_utf8_lossy(&done.output);
            errors = format!(" Helm stack trace:\n{errors}\nHelm template:\n{template}\n");
        }
        Err(fail(&errors, &done.status))
    }

    fn check_version(&self) -> Result<()> {
        let output = self.helm(&["version".to_owned(), "--short".to_owned()])?;
        let text = String::from_utf8_lossy(&output);
        let start = text.find(|it: char| it.is_ascii_digit());
        let version = start.map_or("", |at| {
            text[at..]
                .split(['+', '\n', ' '])
                .next()
                .unwrap_or_default()
        });
        if !version.contains('.') {
            return Err(Error::new(format!("cannot find version string in {text}")));
        }
        match version.split('.').next() {
            Some("3" | "4") => Ok(()),
            _ => Err(Error::new(format!(
                "this plugin requires helm V3 or V4 but got v{version}"
            ))),
        }
    }

    fn values(&self) -> Result<Vec<u8>> {
        let inline = self.chart.values_inline.as_ref();
        let Some(inline) = inline.filter(|it| !it.is_empty()) else {
            return self.loader.load(&self.chart.values_file);
        };
        let inline = Value::Object(inline.clone());
        if self.chart.values_merge == "replace" {
            return Ok(yaml::value_to_string(&inline).into_bytes());
        }
        let text = self.loader.load_text(&self.chart.values_file)?;
        let what = match yaml::parse_first(text.as_bytes()) {
            Ok(Some(_)) => None,
            Ok(None) => Some("EOF".to_owned()),
            Err(error) => Some(error.to_string()),
        };
        if let Some(what) = what {
            let what = format!("could not parse values file into rnode: {what}");
            return Err(Error::new(what));
        }
        let own = parse_document(&text)?;
        let own = own.unwrap_or_else(crate::node::Node::map);
        let given = from_patched(&inline)?;
        let (mut base, patch) = if self.chart.values_merge == "merge" {
            (given, own)
        } else {
            (own, given)
        };
        strategic::merge(&mut base, patch, &Schema::default()).wrap("could not merge values")?;
        Ok(yaml::value_to_string(&to_value(&base)?).into_bytes())
    }

    fn pull(&self) -> Vec<String> {
        let chart = &self.chart;
        let mut words = vec!["pull", "--untar", "--untardir", &self.home];
        let oci = format!("{}/{}", chart.repo.trim_end_matches('/'), chart.name);
        if chart.repo.starts_with("oci://") {
            words.push(&oci);
        } else {
            words.extend(["--repo", &chart.repo, &chart.name]);
        }
        if !chart.version.is_empty() {
            words.extend(["--version", &chart.version]);
        }
        if chart.devel {
            words.push("--devel");
        }
        words.into_iter().map(str::to_owned).collect()
    }

    fn template(&self) -> Vec<String> {
        let chart = &self.chart;
        let path = paths::join(&self.home, &chart.name);
        let mut words = vec!["template"];
        words.push(match chart.release_name.as_str() {
            "" => "--generate-name",
            name => name,
        });
        words.push(&path);
        for (flag, value) in [
            ("--namespace", &chart.namespace),
            ("--name-template", &chart.name_template),
            ("-f", &chart.values_file),
        ] {
            if !value.is_empty() {
                words.extend([flag, value]);
            }
        }
        for file in &chart.additional_values_files {
            words.extend(["-f", file]);
        }
        for version in &chart.api_versions {
            words.extend(["--api-versions", version]);
        }
        if !chart.kube_version.is_empty() {
            words.extend(["--kube-version", &chart.kube_version]);
        }
        for (set, flag) in [
            (chart.include_crds, "--include-crds"),
            (chart.skip_tests, "--skip-tests"),
            (chart.skip_hooks, "--no-hooks"),
            (chart.debug, "--debug"),
            (chart.devel, "--devel"),
        ] {
            if set {
                words.push(flag);
            }
        }
        words.into_iter().map(str::to_owned).collect()
    }
}

/// As it is shown when something is wrong with it.
pub(crate) fn show(chart: &HelmChart, globals: &HelmGlobals) -> String {
    let mut all = Object::new();
    for value in [chart.encode(), globals.encode()] {
        if let Value::Object(object) = value {
            all.extend(object);
        }
    }
    yaml::value_to_string(&Value::Object(all))
}
