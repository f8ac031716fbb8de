//! The table of types.
//!
//! ```text
//! :package k8s.io/api/core/v1
//! :alias Protocol string enum=SCTP,TCP,UDP
//! :type ContainerPort [kind=VERSION|GROUP/VERSION|*] [map=atomic]
//! NAME TYPE NUMBER [FLAGS] [list=...] [map=...] [patch=...] [default=JSON]
//! ~ TYPE NUMBER
//! ```
//! Fields stand in Go's order; `~` is a struct whose fields stand among the outer ones. Types are written as Go does,
//! those of another package with its last two elements. The number is the protobuf field's, `-` if there is none. Flags:
//! `e` omitempty, `z` omitzero, `r` required, `d` a default that is the type's zero value.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use json::Value;

use super::golang::{Member, Source, Type, What};
use super::strings;

/// Types that read and write themselves.
const SPECIAL: &[(&str, &str, &str)] = &[
    (RESOURCE, "Quantity", "quantity"),
    (META, "Time", "time"),
    (META, "MicroTime", "microtime"),
    (META, "Duration", "duration"),
    (META, "FieldsV1", "fields"),
    ("k8s.io/apimachinery/pkg/runtime", "RawExtension", "raw"),
    (
        "k8s.io/apimachinery/pkg/util/intstr",
        "IntOrString",
        "intorstring",
    ),
    (EXTENSIONS, "JSON", "json"),
    (EXTENSIONS, "JSONSchemaPropsOrArray", "schemaorarray"),
    (EXTENSIONS, "JSONSchemaPropsOrBool", "schemaorbool"),
    (
        EXTENSIONS,
        "JSONSchemaPropsOrStringArray",
        "schemaorstrings",
    ),
];
const META: &str = "k8s.io/apimachinery/pkg/apis/meta/v1";
const RESOURCE: &str = "k8s.io/apimachinery/pkg/api/resource";
const EXTENSIONS: &str = "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1";

/// Types that travel but that no path of the documents shows, with the group and version of their kind.
const UNSEEN: &[(&str, &str, &[&str])] = &[
    (
        META,
        "*",
        &[
            "ListOptions",
            "GetOptions",
            "CreateOptions",
            "UpdateOptions",
            "PatchOptions",
        ],
    ),
    (
        META,
        "meta.k8s.io/v1",
        &[
            "PartialObjectMetadata",
            "PartialObjectMetadataList",
            "Table",
        ],
    ),
    (META, "v1", &["List"]),
    (
        "k8s.io/api/core/v1",
        "v1",
        &[
            "NodeProxyOptions",
            "PodAttachOptions",
            "PodExecOptions",
            "PodLogOptions",
            "PodPortForwardOptions",
            "PodProxyOptions",
            "RangeAllocation",
            "SerializedReference",
            "ServiceProxyOptions",
        ],
    ),
    (
        "k8s.io/api/admission/v1",
        "admission.k8s.io/v1",
        &["AdmissionReview"],
    ),
    (
        "k8s.io/api/apidiscovery/v2",
        "apidiscovery.k8s.io/v2",
        &["APIGroupDiscovery", "APIGroupDiscoveryList"],
    ),
    (
        "k8s.io/api/imagepolicy/v1alpha1",
        "imagepolicy.k8s.io/v1alpha1",
        &["ImageReview"],
    ),
];

pub(super) fn table(
    documents: &BTreeMap<String, Value>,
    source: &mut Source,
) -> Result<String, String> {
    let mut writer = Writer::new(documents, source);
    writer.collect()?;
    writer.write()
}

type Name = (String, String);

struct Writer<'a> {
    source: &'a mut Source,
    /// By Go package and name.
    schemas: BTreeMap<Name, &'a Value>,
    /// What the documents say of a field, by the struct that declares it.
    facts: BTreeMap<(Name, String), (&'a Value, bool)>,
    kinds: BTreeMap<Name, String>,
    wanted: BTreeSet<Name>,
}

impl<'a> Writer<'a> {
    fn new(documents: &'a BTreeMap<String, Value>, source: &'a mut Source) -> Self {
        let mut writer = Self {
            source,
            schemas: BTreeMap::new(),
            facts: BTreeMap::new(),
            kinds: BTreeMap::new(),
            wanted: BTreeSet::new(),
        };
        for document in documents.values() {
            let schemas = document.at(&["components", "schemas"]);
            for (name, schema) in schemas
                .and_then(Value::as_object)
                .into_iter()
                .flat_map(json::Object::iter)
            {
                writer.schemas.insert(go_name(name), schema);
            }
        }
        writer
    }

    fn collect(&mut self) -> Result<(), String> {
        let mut queue: Vec<Name> = self.schemas.keys().cloned().collect();
        for (name, schema) in self.schemas.clone() {
            self.assign(&name, schema)?;
            if let Some(kind) = kind(schema) {
                self.kinds.insert(name, kind);
            }
        }
        for (package, kind, names) in UNSEEN {
            for name in *names {
                let name = ((*package).to_owned(), (*name).to_owned());
                self.kinds.insert(name.clone(), (*kind).into());
                queue.push(name);
            }
        }
        while let Some((package, name)) = queue.pop() {
            if special(&package, &name).is_some()
                || self.wanted.contains(&(package.clone(), name.clone()))
            {
                continue;
            }
            let mut inner = Vec::new();
            match &self.source.declared(&package, &name)?.what {
                What::Struct(members) => members.iter().for_each(|it| named(&it.ty, &mut inner)),
                What::Alias(ty) | What::Defined(ty) => named(ty, &mut inner),
            }
            queue.extend(inner);
            self.wanted.insert((package, name));
        }
        Ok(())
    }

    /// Hands what a document says of an object's fields to the structs that declare them.
    fn assign(&mut self, name: &Name, schema: &'a Value) -> Result<(), String> {
        if special(&name.0, &name.1).is_some() {
            return Ok(());
        }
        let required = strings(schema.get("required"));
        let mut inlined = Vec::new();
        match &self.source.declared(&name.0, &name.1)?.what {
            What::Struct(members) => {
                for member in members {
                    let Some(json) = &member.json else {
                        named(&member.ty, &mut inlined);
                        continue;
                    };
                    if let Some(property) = schema.get("properties").and_then(|it| it.get(json)) {
                        let fact = (property, required.contains(&json.as_str()));
                        self.facts
                            .entry((name.clone(), json.clone()))
                            .or_insert(fact);
                    }
                }
            }
            What::Alias(ty) | What::Defined(ty) => named(ty, &mut inlined),
        }
        inlined.iter().try_for_each(|it| self.assign(it, schema))
    }

    fn write(mut self) -> Result<String, String> {
        let mut out = String::new();
        let mut current = String::new();
        for (package, name) in std::mem::take(&mut self.wanted) {
            if package != current {
                let _ = writeln!(out, ":package {package}");
                current.clone_from(&package);
            }
            self.declaration(&mut out, &(package, name))?;
        }
        Ok(out)
    }

    fn declaration(&mut self, out: &mut String, name: &Name) -> Result<(), String> {
        let home = self.source.package(&name.0)?;
        let values = home.values(&name.1);
        let declared = self.source.declared(&name.0, &name.1)?;
        match &declared.what {
            What::Alias(ty) | What::Defined(ty) => {
                let _ = write!(out, ":alias {} {}", name.1, written(ty, &name.0));
                if declared.listed && !values.is_empty() {
                    let _ = write!(out, " enum={}", values.join(","));
                }
                if declared.wrapped {
                    out.push_str(" wrapped");
                }
                out.push('\n');
            }
            What::Struct(members) => {
                let _ = write!(out, ":type {}", name.1);
                if let Some(kind) = self.kinds.get(name) {
                    let _ = write!(out, " kind={kind}");
                }
                if self.schemas.get(name).is_some_and(|it| atomic(it)) {
                    out.push_str(" map=atomic");
                }
                out.push('\n');
                for member in members {
                    let fact = member
                        .json
                        .clone()
                        .and_then(|json| self.facts.get(&(name.clone(), json)));
                    field(out, member, fact.copied(), &name.0);
                }
            }
        }
        Ok(())
    }
}

fn field(out: &mut String, member: &Member, fact: Option<(&Value, bool)>, home: &str) {
    let number = member.number.map_or("-".into(), |it| it.to_string());
    let name = member.json.as_deref().unwrap_or("~");
    let _ = write!(out, "{name} {} {number}", written(&member.ty, home));
    let default = fact.and_then(|(property, _)| property.get("default"));
    let zero = default
        .is_some_and(|it| ["{}", "\"\"", "0", "false"].contains(&json::to_string(it).as_str()));
    let flags: String = [
        (member.omit_empty, 'e'),
        (member.omit_zero, 'z'),
        (fact.is_some_and(|(_, required)| required), 'r'),
        (zero, 'd'),
    ]
    .iter()
    .filter_map(|(set, flag)| set.then_some(*flag))
    .collect();
    if !flags.is_empty() {
        let _ = write!(out, " {flags}");
    }
    if let Some((property, _)) = fact {
        let extension = |name: &str| property.get(&format!("x-kubernetes-{name}"));
        let text = |name: &str| extension(name).and_then(Value::as_str);
        if let Some(kind) = text("list-type") {
            let keys = strings(extension("list-map-keys"));
            let _ = write!(out, " list={}", [&[kind], &keys[..]].concat().join(","));
        }
        // A field may take apart what its type keeps together.
        if let Some(kind) = text("map-type") {
            let _ = write!(out, " map={kind}");
        }
        if let Some(strategy) = text("patch-strategy") {
            let _ = write!(out, " patch={strategy}");
            if let Some(key) = text("patch-merge-key") {
                let _ = write!(out, ":{key}");
            }
        }
    }
    if let Some(default) = default.filter(|_| !zero) {
        let _ = write!(out, " default={}", json::to_string(default));
    }
    out.push('\n');
}

fn atomic(schema: &Value) -> bool {
    schema.get("x-kubernetes-map-type").and_then(Value::as_str) == Some("atomic")
}

/// `GROUP/VERSION` of the kind that a type is; `*` if it is one in every group.
fn kind(schema: &Value) -> Option<String> {
    let all = schema.get("x-kubernetes-group-version-kind")?.as_array()?;
    let [one] = &all[..] else {
        return Some("*".into());
    };
    let version = one.str_at(&["version"])?;
    Some(match one.str_at(&["group"])? {
        "" => version.into(),
        group => format!("{group}/{version}"),
    })
}

fn special(package: &str, name: &str) -> Option<&'static str> {
    let found = SPECIAL.iter().find(|it| it.0 == package && it.1 == name);
    found.map(|it| it.2)
}

fn named(ty: &Type, found: &mut Vec<Name>) {
    match ty {
        Type::Basic(_) => {}
        Type::Pointer(ty) | Type::List(ty) | Type::Map(ty) => named(ty, found),
        Type::Named { package, name } => found.push((package.clone(), name.clone())),
    }
}

fn written(ty: &Type, home: &str) -> String {
    match ty {
        Type::Basic(name) => name.clone(),
        Type::Pointer(ty) => format!("*{}", written(ty, home)),
        Type::List(ty) => format!("[]{}", written(ty, home)),
        Type::Map(ty) => format!("map[string]{}", written(ty, home)),
        Type::Named { package, name } => match special(package, name) {
            Some(special) => special.into(),
            None if package == home => name.clone(),
            None => {
                let short: Vec<&str> = package.rsplitn(3, '/').take(2).collect();
                format!("{}.{}.{name}", short[1], short[0])
            }
        },
    }
}

/// `io.k8s.api.core.v1.Pod` is `Pod` of `k8s.io/api/core/v1`.
fn go_name(name: &str) -> Name {
    let (package, name) = name.rsplit_once('.').unwrap_or(("", name));
    let path = package.trim_start_matches("io.k8s.").replace('.', "/");
    (format!("k8s.io/{path}"), name.into())
}
