//! The operations of each resource, as kube-apiserver installs them.

use meta::gvk::{GroupVersionKind, api_version};
use resources::Verb;
use resources::strategy::DeleteAnswer;

use super::operation::{Answer, Body, Operation, Path, camel, group_name, tag};
use super::parameters::{self, CONNECT, CREATE, DELETE, DELETE_COLLECTION, LIST, LOG, PATCH};
use super::types::{Types, name_of};
use crate::catalog::Resource;

pub(super) const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";

pub(super) const OBJECTS: &[&str] = &[
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
];
const STREAMS: &[&str] = &[
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "application/json;stream=watch",
    "application/vnd.kubernetes.protobuf;stream=watch",
];
const LOGS: &[&str] = &[
    "text/plain",
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
];
const PATCHES: &[&str] = &[
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
];
const CUSTOM: &[&str] = &["application/json", "application/yaml"];
const CUSTOM_PATCHES: &[&str] = &[
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/apply-patch+yaml",
];
const ANY: &[&str] = &["*/*"];

pub(super) fn of(resource: &Resource, types: &Types) -> Vec<Path> {
    let site = ResourceOperations::new(resource, types);
    let mut paths = Vec::new();
    site.collection(&mut paths);
    site.object(&mut paths);
    for sub in &resource.subresources {
        site.subresource(&mut paths, sub);
    }
    if !site.custom {
        site.watches(&mut paths);
    }
    paths.retain(|it| !it.operations.is_empty());
    paths
}

/// One resource, and what its operations have in common.
struct ResourceOperations<'a> {
    resource: &'a Resource,
    types: &'a Types,
    /// `/apis/apps/v1`
    root: String,
    /// `AppsV1`
    middle: String,
    tag: String,
    of: String,
    custom: bool,
}

impl<'a> ResourceOperations<'a> {
    fn new(resource: &'a Resource, types: &'a Types) -> Self {
        let (group, version) = (&*resource.group, &*resource.version);
        let base = if group.is_empty() { "/api" } else { "/apis" };
        Self {
            root: format!("{base}/{}", api_version(group, version)),
            middle: camel(group_name(group), true) + &camel(version, true),
            tag: tag(group, version),
            of: name_of(resource, &resource.kind),
            custom: resource.custom.is_some(),
            resource,
            types,
        }
    }

    fn collection(&self, paths: &mut Vec<Path>) {
        let resource = self.resource;
        let list = self.list();
        if resource.namespaced && resource.verbs.contains(Verb::List) {
            let path = format!("{}/{}", self.root, resource.plural);
            let mut all = self.operation(&path, "get", "list", "", "", LIST);
            all.id += "ForAllNamespaces";
            all.id = all.id.replacen("Namespaced", "", 1);
            all.produces = self.streams();
            all.answers = vec![("200", list.clone())];
            paths.push(Path {
                path,
                operations: vec![all],
            });
        }
        let path = self.at("");
        let mut operations = Vec::new();
        if resource.verbs.contains(Verb::List) {
            let mut one = self.operation(&path, "get", "list", "", "", LIST);
            one.produces = self.streams();
            one.answers = vec![("200", list)];
            operations.push(one);
        }
        if resource.verbs.contains(Verb::Create) {
            let mut one = self.operation(&path, "post", "post", "", "", CREATE);
            one.body = Some(body(&self.of, true));
            one.answers = answers(&["200", "201", "202"], &self.of);
            operations.push(one);
        }
        if resource.verbs.contains(Verb::DeleteCollection) {
            let names = if self.custom { LIST } else { DELETE_COLLECTION };
            let mut one = self.operation(&path, "delete", "deletecollection", "", "", names);
            if !self.custom {
                one.body = Some(body(&format!("{META}.DeleteOptions"), false));
            }
            one.answers = answers(&["200"], &format!("{META}.Status"));
            operations.push(one);
        }
        paths.push(Path { path, operations });
    }

    fn object(&self, paths: &mut Vec<Path>) {
        let path = self.at("/{name}");
        let mut operations = self.changes(&path, "", &self.of, self.resource.verbs);
        if self.resource.verbs.contains(Verb::Delete) {
            let mut one = self.operation(&path, "delete", "delete", "", "", DELETE);
            one.body = Some(body(&format!("{META}.DeleteOptions"), false));
            let gone = self.resource.strategy.deletion.answer == DeleteAnswer::Object;
            let status = format!("{META}.Status");
            let answer = if gone { &self.of } else { &status };
            one.answers = answers(&["200", "202"], answer);
            operations.push(one);
        }
        paths.push(Path { path, operations });
    }

    /// Get, update and patch of an object or of a part of it.
    fn changes(&self, path: &str, sub: &str, of: &str, verbs: resources::Verbs) -> Vec<Operation> {
        let mut operations = Vec::new();
        if verbs.contains(Verb::Get) {
            // Only custom resources say that a version can be asked for.
            let names: &[&str] = if self.custom {
                &["resourceVersion"]
            } else {
                &[]
            };
            let mut one = self.operation(path, "get", "get", "", sub, names);
            one.answers = answers(&["200"], of);
            operations.push(one);
        }
        if verbs.contains(Verb::Update) {
            let mut one = self.operation(path, "put", "put", "", sub, CREATE);
            one.body = Some(body(of, true));
            one.answers = answers(&["200", "201"], of);
            operations.push(one);
        }
        if verbs.contains(Verb::Patch) {
            let mut one = self.operation(path, "patch", "patch", "", sub, PATCH);
            one.body = Some(body(&format!("{META}.Patch"), true));
            one.consumes = if self.custom { CUSTOM_PATCHES } else { PATCHES };
            let codes: &[_] = if self.custom {
                &["200"]
            } else {
                &["200", "201"]
            };
            one.answers = answers(codes, of);
            operations.push(one);
        }
        operations
    }

    fn subresource(&self, paths: &mut Vec<Path>, sub: &resources::Subresource) {
        let path = self.at(&format!("/{{name}}/{}", sub.name));
        let kind = GroupVersionKind::new(&*sub.group, &*sub.version, &*sub.kind);
        if let Some((_, names)) = CONNECT.iter().find(|(name, _)| *name == &*sub.name) {
            let methods: &[_] = if &*sub.name == "proxy" {
                &["get", "put", "post", "delete", "options", "head", "patch"]
            } else {
                &["get", "post"]
            };
            let mut connect = |path: String, suffix: &str| {
                let each = methods.iter().map(|method| {
                    let verb = camel(method, true);
                    let mut one = self.operation(&path, method, "connect", &verb, &sub.name, names);
                    one.id += suffix;
                    one.parameters.retain(|it| it.name != "pretty");
                    (one.consumes, one.produces) = (ANY, ANY);
                    one.answers = vec![("200", Answer::Text)];
                    one.kind = Some(kind.clone());
                    one
                });
                let operations = each.collect();
                paths.push(Path { path, operations });
            };
            if &*sub.name == "proxy" {
                connect(format!("{path}/{{path}}"), "WithPath");
            }
            connect(path, "");
            return;
        }
        let of = self.types.kind(&sub.group, &sub.version, &sub.kind);
        let of = of.unwrap_or_else(|| self.of.clone());
        let mut operations = self.changes(&path, &sub.name, &of, sub.verbs);
        if sub.verbs.contains(Verb::Create) {
            let mut one = self.operation(&path, "post", "post", "", &sub.name, CREATE);
            one.body = Some(body(&of, true));
            one.answers = answers(&["200", "201", "202"], &of);
            operations.push(one);
        }
        for one in &mut operations {
            if &*sub.name == "log" {
                one.parameters = parameters::of(&path, &self.resource.kind, LOG, true);
                one.produces = LOGS;
                one.answers = vec![("200", Answer::Text)];
            }
            if !self.custom {
                one.kind = Some(kind.clone());
            }
        }
        paths.push(Path { path, operations });
    }

    /// The old paths of watches, of which only the documents still speak.
    fn watches(&self, paths: &mut Vec<Path>) {
        let resource = self.resource;
        if !resource.verbs.contains(Verb::Watch) {
            return;
        }
        let root = format!("{}/watch", self.root);
        let scope = if resource.namespaced {
            "/namespaces/{namespace}"
        } else {
            ""
        };
        let plural = &resource.plural;
        let mut all = vec![
            (format!("{root}{scope}/{plural}"), "watchlist", "List"),
            (format!("{root}{scope}/{plural}/{{name}}"), "watch", ""),
        ];
        if resource.namespaced {
            all.push((
                format!("{root}/{plural}"),
                "watchlist",
                "ListForAllNamespaces",
            ));
        }
        for (path, action, suffix) in all {
            let mut one = self.operation(&path, "get", action, "", "", LIST);
            one.id += suffix;
            if !path.contains("{namespace}") {
                one.id = one.id.replacen("Namespaced", "", 1);
            }
            one.produces = STREAMS;
            one.answers = answers(&["200"], &format!("{META}.WatchEvent"));
            paths.push(Path {
                path,
                operations: vec![one],
            });
        }
    }

    fn operation(
        &self,
        path: &str,
        method: &'static str,
        action: &'static str,
        infix: &str,
        sub: &str,
        names: &[&str],
    ) -> Operation {
        let resource = self.resource;
        let (verb, infix) = match action {
            "get" => ("read", infix),
            "put" => ("replace", infix),
            "post" => ("create", infix),
            "watchlist" => ("watch", infix),
            "deletecollection" => ("delete", "Collection"),
            other => (other, infix),
        };
        let scope = if resource.namespaced {
            "Namespaced"
        } else {
            ""
        };
        let part = camel(sub, true);
        Operation {
            method,
            action: Some(action),
            id: format!("{verb}{}{infix}{scope}{}{part}", self.middle, resource.kind),
            tag: self.tag.clone(),
            text: text(action, sub, &resource.kind),
            parameters: parameters::of(path, &resource.kind, names, true),
            body: None,
            consumes: if self.custom { CUSTOM } else { ANY },
            produces: if self.custom { CUSTOM } else { OBJECTS },
            answers: Vec::new(),
            kind: Some(resource.gvk()),
        }
    }

    fn at(&self, rest: &str) -> String {
        let scope = if self.resource.namespaced {
            "/namespaces/{namespace}"
        } else {
            ""
        };
        format!("{}{scope}/{}{rest}", self.root, self.resource.plural)
    }

    fn list(&self) -> Answer {
        let list = self.resource.list_kind.as_deref().unwrap_or_default();
        Answer::Type(name_of(self.resource, list))
    }

    fn streams(&self) -> &'static [&'static str] {
        if self.custom { CUSTOM } else { STREAMS }
    }
}

fn body(of: &str, required: bool) -> Body {
    Body {
        of: of.into(),
        required,
    }
}

fn answers(codes: &[&'static str], of: &str) -> Vec<(&'static str, Answer)> {
    let each = codes.iter().map(|code| (*code, Answer::Type(of.into())));
    each.collect()
}

fn text(action: &str, sub: &str, kind: &str) -> String {
    let of = if sub.is_empty() {
        String::new()
    } else {
        format!("{sub} of ")
    };
    match action {
        "get" => format!("read {of}one {kind}"),
        "put" => format!("replace {of}one {kind}"),
        "patch" => format!("change parts of {of}one {kind}"),
        "post" => format!("create {of}one {kind}"),
        "delete" => format!("delete one {kind}"),
        "deletecollection" => format!("delete many of kind {kind}"),
        "watch" => format!("watch one {kind}; superseded by `watch` of a list"),
        "watchlist" => format!("watch many of kind {kind}; superseded by `watch` of a list"),
        "connect" => format!("connect to {of}one {kind}"),
        _ => format!("list or watch objects of kind {kind}"),
    }
}
