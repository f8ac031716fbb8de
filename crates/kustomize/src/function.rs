//! KRM functions: programs and containers that read and write a list of resources.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::rc::Rc;

use json::{Object, Value};

use crate::FunctionOptions;
use crate::decode::{List, decode_yaml_strict, go_struct};
use crate::error::{Error, Result, Wrap as _};
use crate::factory;
use crate::host::{Host, Program};
use crate::loader::Loader;
use crate::paths;
use crate::resmap::ResMap;
use crate::resource::{Behavior, Resource};
use crate::schema::Schema;
use crate::transform::Transformer;

const ID: &str = "kustomize.config.k8s.io/id";
const NEEDS_HASH: &str = "kustomize.config.k8s.io/needs-hash";
const BEHAVIOR: &str = "kustomize.config.k8s.io/behavior";

go_struct! { Mount as "StorageMount" {
    kind: String = "type",
    source: String = "src",
    target: String = "dst",
    writable: bool = "rw",
}}

go_struct! { Container as "ContainerSpec" {
    image: String = "image",
    network: bool = "network",
    mounts: List<Mount> = "mounts",
    envs: List<String> = "envs",
}}

go_struct! { Exec as "ExecSpec" {
    path: String = "path",
    args: List<String> = "args",
    envs: List<String> = "envs",
}}

go_struct! { Spec as "FunctionSpec" {
    defer_failure: bool = "deferFailure",
    container: Container = "container",
    exec: Exec = "exec",
}}

pub(crate) struct Function<'a> {
    spec: Spec,
    config: Value,
    name: String,
    loader: Rc<Loader<'a>>,
    options: FunctionOptions,
}

impl<'a> Function<'a> {
    /// Nothing if the resource does not configure one.
    pub(crate) fn new(
        resource: &Resource,
        loader: &Rc<Loader<'a>>,
        options: &FunctionOptions,
    ) -> Result<Option<Self>> {
        let Some(spec) = read_spec(resource)? else {
            return Ok(None);
        };
        let id = resource.original_id();
        for mount in &spec.container.mounts {
            let source = &mount.source;
            let what = if source.starts_with('/') {
                "relative to the current kustomization directory"
            } else if paths::clean(source).starts_with("..") {
                "under the current kustomization directory"
            } else {
                continue;
            };
            return Err(Error::new(format!(
                "plugin {id} with mount path '{source}' is not permitted; mount paths must be {what}"
            )));
        }
        let node = &resource.node;
        Ok(Some(Self {
            spec,
            config: resource.to_value()?,
            name: format!(
                "api: {}, kind: {}, name: {}",
                node.api_version(),
                node.object_kind(),
                node.name()
            ),
            loader: Rc::clone(loader),
            options: options.clone(),
        }))
    }

    pub(crate) fn generate(&self) -> Result<ResMap> {
        let output = self.invoke(vec![self.local_config()])?;
        let mut map = factory::map_from_text(&output).map_err(unreadable)?;
        for resource in map.raw_list_mut() {
            let mut annotations = resource.node.annotations();
            let behavior = annotations.remove(BEHAVIOR).unwrap_or_default();
            let needs_hash = match annotations.remove(NEEDS_HASH).as_deref() {
                None | Some("0" | "f" | "F" | "false" | "False" | "FALSE") => false,
                Some("1" | "t" | "T" | "true" | "True" | "TRUE") => true,
                Some(other) => {
                    return Err(Error::new(format!(
                        "the annotation {NEEDS_HASH:?} contains an invalid value ({other:?})"
                    )));
                }
            };
            resource.node.set_annotations(annotations)?;
            if needs_hash {
                resource.enable_hash()?;
            }
            resource.set_behavior(Behavior::of(&behavior))?;
        }
        Ok(map)
    }

    /// The configuration marked as one that is not part of the output.
    fn local_config(&self) -> Value {
        let mut config = self.config.clone();
        set_annotation(&mut config, "config.kubernetes.io/local-config", "true");
        config
    }

    fn invoke(&self, items: Vec<Value>) -> Result<String> {
        let Some(program) = self.program()? else {
            // Not enabled: what comes in goes out.
            let texts: Vec<String> = items.iter().map(yaml::value_to_string).collect();
            return Ok(texts.join("---\n"));
        };
        let mut list = Object::new();
        list.insert("apiVersion", "config.kubernetes.io/v1");
        list.insert("kind", "ResourceList");
        let numbered = items.into_iter().enumerate().map(|(at, mut item)| {
            for key in [
                "config.kubernetes.io/index",
                "internal.config.kubernetes.io/index",
            ] {
                set_annotation(&mut item, key, &at.to_string());
            }
            for key in ["config.k8s.io/id", "internal.config.kubernetes.io/id"] {
                set_annotation(&mut item, key, &(at + 1).to_string());
            }
            item
        });
        list.insert("items", Value::Array(numbered.collect()));
        list.insert("functionConfig", self.local_config());
        let program = Program {
            input: write_list(&list)?.into_bytes(),
            ..program
        };
        let done = self.loader.host.run(&program);
        let done = done.map_err(|error| failure(&error.to_string()))?;
        if !done.errors.is_empty() {
            let text = String::from_utf8_lossy(&done.errors);
            text.lines().for_each(|line| self.loader.host.warn(line));
        }
        if !done.success {
            return Err(failure(&done.status));
        }
        Ok(String::from_utf8_lossy(&done.output).into_owned())
    }

    fn program(&self) -> Result<Option<Program>> {
        let Spec {
            container, exec, ..
        } = &self.spec;
        if container.network && !self.options.network {
            return Err(failure("network required but not enabled with --network"));
        }
        let Loader { root, host, .. } = &*self.loader;
        if !container.image.is_empty() {
            let program = container_program(container, &self.options, root, *host)
                .map_err(|error| failure(&error.to_string()))?;
            return Ok(Some(program));
        }
        if !self.options.enable_exec || exec.path.is_empty() {
            return Ok(None);
        }
        Ok(Some(exec_program(exec, &self.options, root)))
    }
}

/// The blank at the end is upstream's.
fn failure(cause: &str) -> Error {
    Error::new(format!("couldn't execute function: {cause} "))
}

/// What no YAML is, is so before anything else is known of it.
fn unreadable(error: Error) -> Error {
    if error.is_malformed_yaml() {
        failure(&error.to_string())
    } else {
        error
    }
}

/// A program, which runs in a directory.
pub(crate) fn exec_program(exec: &Exec, options: &FunctionOptions, directory: &str) -> Program {
    let given = exec.envs.iter().chain(&options.env);
    let environment = given.filter_map(|it| {
        let (key, value) = it.split_once('=')?;
        (!value.contains('=')).then(|| (key.to_owned(), value.to_owned()))
    });
    Program {
        path: exec.path.clone(),
        arguments: exec.args.to_vec(),
        directory: directory.to_owned(),
        environment: environment.collect(),
        ..Program::default()
    }
}

/// A container by `docker`, or by `podman` if only that is there: paths to mount are relative to the directory.
pub(crate) fn container_program(
    container: &Container,
    options: &FunctionOptions,
    directory: &str,
    host: &dyn Host,
) -> Result<Program> {
    if container.image.starts_with('-') {
        return Err(Error::new(format!(
            "image {:?} of a function would be read as a flag",
            container.image
        )));
    }
    let network = if container.network { "host" } else { "none" };
    let user = if options.as_current_user {
        options.user.clone()
    } else {
        "nobody".to_owned()
    };
    let words = [
        "run",
        "--rm",
        "-i",
        "-a",
        "STDIN",
        "-a",
        "STDOUT",
        "-a",
        "STDERR",
        "--network",
        network,
        "--user",
        &user,
        "--security-opt=no-new-privileges",
    ];
    let mut arguments: Vec<String> = words.iter().map(|it| (*it).to_owned()).collect();
    let given = options.mounts.iter().map(|it| read_mount(it));
    for mount in container.mounts.iter().cloned().chain(given) {
        let source = if mount.source.starts_with('/') {
            mount.source
        } else {
            paths::join(directory, &mount.source)
        };
        for (field, text) in [
            ("type", &mount.kind),
            ("src", &source),
            ("dst", &mount.target),
        ] {
            check_mount_field(field, text)?;
        }
        let mode = if mount.writable { "" } else { ",readonly" };
        arguments.push("--mount".into());
        arguments.push(format!(
            "type={},source={source},target={}{mode}",
            mount.kind, mount.target
        ));
    }
    for variable in variables(container.envs.iter().chain(&options.env)) {
        arguments.push("-e".into());
        arguments.push(variable);
    }
    arguments.push(container.image.clone());
    let only_podman = host.find("docker").is_none() && host.find("podman").is_some();
    Ok(Program {
        path: if only_podman { "podman" } else { "docker" }.into(),
        arguments,
        directory: directory.to_owned(),
        ..Program::default()
    })
}

/// Mounts are one line of comma-separated options, which docker and newer versions of podman read as CSV and older
/// ones cut at each comma. There is no way to write these characters that all of them read as part of a value.
fn check_mount_field(field: &str, text: &str) -> Result<()> {
    let separates = |it: char| matches!(it, ',' | '"') || it.is_control();
    if !text.contains(separates) {
        return Ok(());
    }
    Err(Error::new(format!(
        "{field} {text:?} of a mount holds a comma, a quotation mark or a control character, which would add mount options"
    )))
}

/// Those with a value by their names, each once; then those whose value the engine takes from its own.
fn variables<'a>(given: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut set = BTreeMap::from([("LOG_TO_STDERR", "true"), ("STRUCTURED_RESULTS", "true")]);
    let mut passed: Vec<&str> = Vec::new();
    for variable in given {
        match variable.split_once('=') {
            Some((name, value)) => _ = set.insert(name, value),
            None if passed.contains(&variable.as_str()) => {}
            None => passed.push(variable),
        }
    }
    let set = set.iter().map(|(name, value)| format!("{name}={value}"));
    set.chain(passed.into_iter().map(str::to_owned)).collect()
}

impl Transformer for Function<'_> {
    fn transform(&mut self, map: &mut ResMap, _: &Schema) -> Result<()> {
        let mut items = Vec::with_capacity(map.iter().len());
        for resource in map.iter() {
            let mut value = resource.to_value()?;
            let id = resource.current_id();
            let mut text = String::new();
            for (key, part) in [
                ("group", &id.gvk.group),
                ("kind", &id.gvk.kind),
                ("name", &id.name),
                ("namespace", &id.namespace),
                ("version", &id.gvk.version),
            ] {
                if !part.is_empty() {
                    _ = writeln!(text, "{key}: {part}");
                }
            }
            set_annotation(&mut value, ID, &text);
            items.push(value);
        }
        let output = self.invoke(items)?;
        let mut new = ResMap::new();
        for mut resource in factory::from_text(&output).map_err(unreadable)? {
            resource.remove_annotations(&[
                ID,
                "config.k8s.io/id",
                "internal.config.kubernetes.io/id",
                "config.kubernetes.io/index",
                "internal.config.kubernetes.io/index",
            ])?;
            let id = resource.current_id();
            new.append(resource).map_err(|_| {
                Error::new(format!(
                    "plugin {} generated duplicate resource: {id}",
                    self.name
                ))
            })?;
        }
        replace(map, new)
    }
}

/// Resources that come back keep their places, new ones go to the end.
fn replace(map: &mut ResMap, new: ResMap) -> Result<()> {
    let mut by_id: std::collections::HashMap<_, Resource> = std::collections::HashMap::new();
    let mut order = Vec::new();
    for resource in new.into_list() {
        let id = resource.current_id().key();
        order.push(id.clone());
        by_id.insert(id, resource);
    }
    let old = std::mem::take(map.list_mut());
    for mut resource in old {
        if let Some(new) = by_id.remove(&resource.current_id().key()) {
            resource.node = new.node;
            map.append(resource)?;
        }
    }
    for id in order {
        if let Some(resource) = by_id.remove(&id) {
            map.append(resource)?;
        }
    }
    Ok(())
}

fn read_spec(resource: &Resource) -> Result<Option<Spec>> {
    spec_of(|key| resource.node.annotation(key).map(json::Text::as_str))
        .wrap("loader: failed to get FunctionSpec")
}

/// The function that annotations name, if they do.
pub(crate) fn spec_of<'t>(annotation: impl Fn(&str) -> Option<&'t str>) -> Result<Option<Spec>> {
    let annotation = |key| annotation(key).filter(|it| !it.is_empty());
    for key in ["config.kubernetes.io/function", "config.k8s.io/function"] {
        if let Some(text) = annotation(key) {
            let spec = decode_yaml_strict(text.as_bytes());
            return spec
                .map(Some)
                .wrap_with(|| format!("{key} unmarshal error"));
        }
    }
    Ok(annotation("config.kubernetes.io/container").map(|image| {
        let mut spec = Spec::default();
        image.clone_into(&mut spec.container.image);
        spec
    }))
}

fn read_mount(text: &str) -> Mount {
    let mut mount = Mount::default();
    for (key, value) in text.split(',').filter_map(|it| it.split_once('=')) {
        match key {
            "type" => value.clone_into(&mut mount.kind),
            "src" | "source" => value.clone_into(&mut mount.source),
            "dst" | "target" => value.clone_into(&mut mount.target),
            "rw" => mount.writable = value == "true",
            _ => {}
        }
    }
    mount
}

fn set_annotation(object: &mut Value, key: &str, value: &str) {
    let Some(object) = object.as_object_mut() else {
        return;
    };
    let mut place = object;
    for name in ["metadata", "annotations"] {
        let next = place.get_or_insert(name);
        if next.as_object().is_none() {
            *next = Value::Object(Object::new());
        }
        let Some(inner) = next.as_object_mut() else {
            return;
        };
        place = inner;
    }
    place.insert(key, value);
}

/// In the order that functions know.
fn write_list(list: &Object) -> Result<String> {
    let pairs = list
        .iter()
        .map(|(key, value)| (yaml::Node::string(key.as_str()), yaml::Node::from(value)));
    Ok(yaml::to_string(
        &[yaml::Node::mapping(pairs)],
        yaml::Options::default(),
    )?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Alone;

    fn mounted(kind: &str, source: &str, target: &str) -> Result<Vec<String>> {
        let mut container = Container::default();
        "image".clone_into(&mut container.image);
        container.mounts.push(Mount {
            kind: kind.to_owned(),
            source: source.to_owned(),
            target: target.to_owned(),
            writable: false,
        });
        let program = container_program(&container, &FunctionOptions::default(), "/app", &Alone)?;
        let is_mount = |it: &String| it.starts_with("type=");
        Ok(program.arguments.into_iter().filter(is_mount).collect())
    }

    #[test]
    fn a_mount_cannot_add_options() {
        let plain = mounted("bind", "data=1", "/h: x").expect("nothing special");
        assert_eq!(
            plain,
            ["type=bind,source=/app/data=1,target=/h: x,readonly"]
        );
        for (kind, source, target) in [
            ("bind", "data", "/h,source=/etc"),
            ("bind", "data,source=/etc", "/h"),
            ("bind,source=/etc", "data", "/h"),
            ("bind", "data", "/h\",source=/etc"),
            ("bind", "data", "/h\nsource=/etc"),
        ] {
            let error = mounted(kind, source, target).expect_err("refused");
            assert!(error.to_string().contains("mount options"), "{error}");
        }
    }

    #[test]
    fn an_image_is_no_flag() {
        let mut container = Container::default();
        "--privileged".clone_into(&mut container.image);
        let made = container_program(&container, &FunctionOptions::default(), "/app", &Alone);
        assert!(made.is_err());
    }
}
