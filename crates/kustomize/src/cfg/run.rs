//! `fn run`: functions read resources from files or a text, and what they give is written back.

mod carry;
mod names;
mod package;

use yaml::Node;

use super::annotations as notes;
use super::read::Reader;
use super::{Input, clear, to_text};
use crate::FunctionOptions;
use crate::error::{Error, Result};
use crate::fs::FileSystem;
use crate::function::{Spec, container_program, exec_program, spec_of};
use crate::host::Host;
use crate::paths;
use names::Before;

#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Print what would be written.
    pub dry_run: bool,
    /// Functions see all resources, not only those below them.
    pub global: bool,
    /// Where functions are, if not among the resources.
    pub paths: Vec<String>,
    /// A function that is run instead of those that are found.
    pub function: Option<OneFunction>,
    pub results_dir: String,
    pub log_steps: bool,
    /// Where functions run.
    pub directory: String,
    pub functions: FunctionOptions,
}

/// A function by its image or program, with what it is told as `key=value`; the first can be its kind.
#[derive(Clone, Debug)]
pub struct OneFunction {
    pub image: String,
    pub program: String,
    pub arguments: Vec<String>,
}

/// Gives what is to be printed: nothing if resources were written to where they came from.
pub fn run(
    fs: &dyn FileSystem,
    host: &dyn Host,
    input: Input<'_>,
    options: &RunOptions,
) -> std::result::Result<String, Error> {
    let reader = Reader {
        fs: Some(fs),
        json: true,
        ..Reader::default()
    };
    let found = match input {
        Input::Text(text) => Reader::default().text(text)?,
        Input::Path(path) => reader.package(path)?,
    };
    let files = package::files(&found);
    let (functions, mut resources) = functions(fs, found, options)?;
    let mut run = Run {
        host,
        options,
        configs: functions.iter().map(|it| it.config.clone()).collect(),
        failures: Vec::new(),
    };
    for (at, function) in functions.iter().enumerate() {
        let before = Before::of(&mut resources)?;
        resources = run.one(fs, at, function, resources)?;
        if resources.is_empty() {
            return run.finish(String::new());
        }
        before.reconcile(&mut resources)?;
    }
    let mut resources: Vec<Node> = resources.into_iter().map(|it| it.node).collect();
    let text = match input {
        Input::Path(path) if !options.dry_run => {
            package::write(fs, path, resources, &files)?;
            String::new()
        }
        _ if package::is_one_json(&resources) => {
            clear(&mut resources, false, &[])?;
            package::json_text(&resources[0])?
        }
        _ => {
            clear(&mut resources, false, &[])?;
            to_text(&resources)?
        }
    };
    run.finish(text)
}

struct Function {
    spec: Spec,
    config: Node,
    /// Sees all resources wherever it is.
    global: bool,
    results: String,
}

/// A resource, and the function that it configures: upstream has one object for both, so that who changes one changes
/// the other.
struct Resource {
    node: Node,
    configures: Option<usize>,
}

fn functions(
    fs: &dyn FileSystem,
    resources: Vec<Node>,
    options: &RunOptions,
) -> Result<(Vec<Function>, Vec<Resource>)> {
    let mut all = Vec::new();
    let mut resources: Vec<Resource> = resources
        .into_iter()
        .map(|node| Resource {
            node,
            configures: None,
        })
        .collect();
    let explicit = !options.paths.is_empty() || options.function.is_some();
    if !explicit {
        let mut found = Vec::new();
        for (at, resource) in resources.iter().enumerate() {
            if spec(&resource.node)?.is_some() {
                found.push(at);
            }
        }
        package::deepest_first(&mut found, |at| &resources[at].node)?;
        for at in found {
            let config = resources[at].node.clone();
            if add(&mut all, config, false, options)? {
                resources[at].configures = Some(all.len() - 1);
            }
        }
    }
    for path in &options.paths {
        let reader = Reader {
            fs: Some(fs),
            ..Reader::default()
        };
        for config in reader.package(path)? {
            add(&mut all, config, true, options)?;
        }
    }
    if let Some(function) = &options.function {
        add(&mut all, function.config(options)?, true, options)?;
    }
    Ok((all, resources))
}

fn spec(config: &Node) -> Result<Option<Spec>> {
    spec_of(|key| notes::get(config, key))
}

/// Says whether there is something to run.
fn add(all: &mut Vec<Function>, config: Node, global: bool, options: &RunOptions) -> Result<bool> {
    let found = spec(&config).map_err(|error| error.wrap("failed to get FunctionSpec"))?;
    let Some(spec) = found else {
        return Ok(false);
    };
    if spec.container.network && !options.functions.network {
        return Err(Error::new(
            "network required but not enabled with --network",
        ));
    }
    let is_container = !spec.container.image.is_empty();
    if !is_container && (!options.functions.enable_exec || spec.exec.path.is_empty()) {
        return Ok(false);
    }
    let results = match options.results_dir.as_str() {
        "" => String::new(),
        dir => paths::join(dir, &format!("results-{}.yaml", all.len())),
    };
    all.push(Function {
        spec,
        config,
        // As upstream: only for containers.
        global: options.global || global && is_container,
        results,
    });
    Ok(true)
}

impl OneFunction {
    fn config(&self, options: &RunOptions) -> Result<Node> {
        let text = |text: &str| Node::scalar("", text);
        let flow = |mut node: Node| {
            node.style = yaml::Style::Flow;
            node
        };
        let mut kind = "ConfigMap";
        let mut data = Node::mapping([]);
        for (at, argument) in self.arguments.iter().enumerate() {
            match argument.split_once('=') {
                None if at == 0 => kind = argument,
                None => {
                    return Err(Error::new("args must have keys and values separated by ="));
                }
                Some((key, value)) => match data.get_mut(key) {
                    Some(known) => *known = text(value),
                    None => data.content.extend([text(key), text(value)]),
                },
            }
        }
        let function = if self.image.is_empty() {
            let program = Node::mapping([(text("path"), text(&self.program))]);
            Node::mapping([(text("exec"), flow(program))])
        } else {
            let mut container = vec![(text("image"), text(&self.image))];
            if options.functions.network {
                container.push((text("network"), Node::scalar("!!bool", "true")));
            }
            Node::mapping([(text("container"), flow(Node::mapping(container)))])
        };
        let annotation = to_text(&[function])?;
        let mut value = Node::string(annotation);
        value.tag = "".into();
        let annotations = Node::mapping([(text("config.kubernetes.io/function"), value)]);
        let metadata = [
            (text("name"), text("function-input")),
            (text("annotations"), annotations),
        ];
        Ok(Node::mapping([
            (text("metadata"), Node::mapping(metadata)),
            (text("data"), flow(data)),
            (text("kind"), text(kind)),
            (text("apiVersion"), text("v1")),
        ]))
    }
}

struct Run<'a> {
    host: &'a dyn Host,
    options: &'a RunOptions,
    configs: Vec<Node>,
    /// Those that do not stop the rest.
    failures: Vec<String>,
}

impl Run<'_> {
    fn one(
        &mut self,
        fs: &dyn FileSystem,
        at: usize,
        function: &Function,
        resources: Vec<Resource>,
    ) -> Result<Vec<Resource>> {
        let spec = &function.spec;
        if self.options.log_steps {
            let name = match spec.container.image.as_str() {
                "" => &spec.exec.path,
                image => image,
            };
            self.host.warn(&format!("Running {name}"));
        }
        let scope = package::scope_of(&self.configs[at]);
        let (mut input, saved): (Vec<Resource>, Vec<Resource>) = resources
            .into_iter()
            .partition(|it| function.global || package::is_within_scope(&it.node, &scope));
        for (number, resource) in input.iter_mut().enumerate() {
            let id = (number + 1).to_string();
            notes::set(&mut resource.node, notes::ID, &id)?;
            notes::set(&mut resource.node, notes::LEGACY_ID, &id)?;
            if let Some(configures) = resource.configures {
                self.configs[configures] = resource.node.clone();
            }
        }
        let functions = &self.options.functions;
        let directory = &self.options.directory;
        let mut program = if spec.container.image.is_empty() {
            exec_program(&spec.exec, functions, directory)
        } else {
            container_program(&spec.container, functions, directory, self.host)?
        };
        program.input = list(&input, &self.configs[at])?.into_bytes();
        let done = self.host.run(&program);
        let (output, failure) = match done {
            Ok(done) => {
                let errors = String::from_utf8_lossy(&done.errors);
                errors.lines().for_each(|line| self.host.warn(line));
                (done.output, (!done.success).then_some(done.status))
            }
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        let (mut output, results) = Reader::default().list(&output)?;
        for node in &mut output {
            let id = [notes::ID, notes::LEGACY_ID].iter();
            let id = id.copied().find_map(|key| notes::get(node, key));
            let number = id.and_then(|it| it.parse::<usize>().ok());
            let Some(before) = number.and_then(|it| input.get(it.checked_sub(1)?)) else {
                continue;
            };
            carry::comments(&before.node, node);
            carry::order(notes::root(&before.node), notes::root_mut(node));
            notes::clear(node, &[notes::ID, notes::LEGACY_ID])?;
        }
        if let Some(results) = results.filter(|_| !function.results.is_empty()) {
            fs.write(&function.results, to_text(&[results])?.as_bytes())?;
        }
        if let Some(failure) = failure {
            if !spec.defer_failure {
                return Err(Error::new(failure));
            }
            self.failures.push(failure);
        }
        for node in &mut output {
            package::default_path(&scope, node)?;
        }
        let new = output.into_iter().map(|node| Resource {
            node,
            configures: None,
        });
        Ok(new.chain(saved).collect())
    }

    fn finish(self, text: String) -> Result<String> {
        if self.failures.is_empty() {
            return Ok(text);
        }
        Err(Error::new(self.failures.join("\n---\n")))
    }
}

/// What a function reads.
fn list(input: &[Resource], config: &Node) -> Result<String> {
    let text = |text: &str| Node::scalar("", text);
    let mut items: Vec<Node> = input.iter().map(|it| it.node.clone()).collect();
    clear(&mut items, true, &[])?;
    to_text(&[Node::mapping([
        (text("apiVersion"), text("config.kubernetes.io/v1")),
        (text("kind"), text("ResourceList")),
        (
            text("items"),
            Node::sequence(items.into_iter().map(notes::into_root)),
        ),
        (text("functionConfig"), notes::into_root(config.clone())),
    ])])
}
