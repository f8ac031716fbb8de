//! Objects, kinds and an authorizer for tests.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use auth::{Answer, Attributes, Authorizer};
use json::Value;
use merge::typed::Type;
use meta::Status;
use meta::gvk::{GroupVersionKind, GroupVersionResource};

use crate::{ApplyError, BoxFuture, Kinds, Lookup};

/// Objects by group, resource and namespace, and how often one of them changed.
#[derive(Debug, Default)]
pub(super) struct World {
    objects: Mutex<Vec<(String, String, Value)>>,
    changes: AtomicU64,
    pub(super) reads: AtomicU64,
}

impl World {
    pub(super) fn put(&self, group: &str, resource: &str, object: Value) {
        let mut objects = self.objects.lock().unwrap();
        let name = meta::object::name(&object).to_owned();
        objects.retain(|it| it.1 != resource || meta::object::name(&it.2) != name);
        let change = self.changes.fetch_add(1, Ordering::Relaxed) + 1;
        let mut object = object;
        object
            .get_mut("metadata")
            .and_then(Value::as_object_mut)
            .unwrap()
            .insert("resourceVersion", change.to_string());
        objects.push((group.to_owned(), resource.to_owned(), object));
    }

    pub(super) fn remove(&self, resource: &str, name: &str) {
        let mut objects = self.objects.lock().unwrap();
        objects.retain(|it| it.1 != resource || meta::object::name(&it.2) != name);
        self.changes.fetch_add(1, Ordering::Relaxed);
    }

    fn all(&self, group: &str, resource: &str) -> Vec<Value> {
        let objects = self.objects.lock().unwrap();
        let found = objects
            .iter()
            .filter(|it| it.0 == group && it.1 == resource);
        found.map(|it| it.2.clone()).collect()
    }
}

impl Lookup for World {
    fn get(&self, group: &str, resource: &str, namespace: &str, name: &str) -> Option<Value> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.all(group, resource)
            .into_iter()
            .find(|it| meta::object::name(it) == name && meta::object::namespace(it) == namespace)
    }

    fn list(&self, group: &str, resource: &str, namespace: &str) -> Vec<Value> {
        let mut all = self.all(group, resource);
        all.retain(|it| namespace.is_empty() || meta::object::namespace(it) == namespace);
        all
    }

    fn stamp(&self, group: &str, resource: &str) -> u64 {
        if self.all(group, resource).is_empty() {
            return 0;
        }
        self.changes.load(Ordering::Relaxed)
    }

    fn versions(&self, group: &str, resource: &str) -> Vec<(String, u64)> {
        let all = self.all(group, resource);
        let mut all: Vec<(String, u64)> = all
            .iter()
            .map(|it| {
                let version = meta::object::resource_version(it).parse().unwrap();
                (meta::object::name(it).to_owned(), version)
            })
            .collect();
        all.sort_unstable();
        all
    }
}

impl Kinds for World {
    fn is_namespaced(&self, resource: &GroupVersionResource) -> bool {
        !matches!(&*resource.resource, "namespaces" | "limits")
    }

    fn resource_for(&self, kind: &GroupVersionKind) -> Option<GroupVersionResource> {
        let resource = match &*kind.kind {
            "ConfigMap" => "configmaps",
            "Limit" => "limits",
            _ => return None,
        };
        Some(GroupVersionResource::new(
            &*kind.group,
            &*kind.version,
            resource,
        ))
    }

    fn written(&self, object: Value, kind: &GroupVersionKind) -> Value {
        written(object, kind)
    }

    fn is_struct(&self, kind: &GroupVersionKind) -> bool {
        is_struct(kind)
    }

    fn equivalents(
        &self,
        resource: &GroupVersionResource,
        _: &str,
    ) -> Vec<(GroupVersionResource, GroupVersionKind)> {
        if resource.resource != "deployments" {
            return Vec::new();
        }
        let of = |group: &str, version: &str| {
            (
                GroupVersionResource::new(group, version, "deployments"),
                GroupVersionKind::new(group, version, "Deployment"),
            )
        };
        vec![of("apps", "v1"), of("extensions", "v1beta1")]
    }

    fn convert<'a>(
        &'a self,
        mut object: Value,
        to: &'a GroupVersionKind,
    ) -> BoxFuture<'a, Result<Value, Status>> {
        if let Some(fields) = object.as_object_mut() {
            fields.insert("apiVersion", to.api_version());
            fields.insert("kind", &*to.kind);
        }
        Box::pin(std::future::ready(Ok(object)))
    }

    fn apply_configuration(
        &self,
        object: Value,
        patch: &Value,
        kind: &GroupVersionKind,
    ) -> Result<Value, ApplyError> {
        let schema = schema::builtin().kind(&kind.group, &kind.version, &kind.kind);
        let schema = schema.ok_or(ApplyError::UnknownKind)?;
        let applied = Type::of(schema.place()).apply_configuration(object, patch);
        applied.map_err(|error| ApplyError::Failed(error.to_string()))
    }

    fn unknown_fields(&self, object: &Value, kind: &GroupVersionKind) -> Vec<String> {
        let schema = schema::builtin().kind(&kind.group, &kind.version, &kind.kind);
        schema.map_or_else(Vec::new, |it| schema::unknown(it.place(), object))
    }

    fn read(&self, object: Value, kind: &GroupVersionKind) -> Result<Value, Status> {
        Ok(written(object, kind))
    }
}

pub(super) fn is_struct(kind: &GroupVersionKind) -> bool {
    schema::builtin()
        .kind(&kind.group, &kind.version, &kind.kind)
        .is_some()
}

/// As the API server has it.
pub(super) fn written(mut object: Value, kind: &GroupVersionKind) -> Value {
    let schema = schema::builtin().kind(&kind.group, &kind.version, &kind.kind);
    if let Some(schema) = schema {
        schema::canonical(schema.place(), &mut object);
    }
    object
}

/// Allows what matches one of these, by all attributes that it gives.
#[derive(Debug, Default)]
pub(super) struct Allows(pub(super) Vec<Value>);

impl Authorizer for Allows {
    fn authorize<'a>(&'a self, asked: Attributes<'a>) -> Answer<'a> {
        let of = |key: &str| match key {
            "user" => &*asked.user.name,
            "verb" => asked.verb,
            "path" => asked.path,
            "group" => asked.api_group,
            "resource" => asked.resource,
            "subresource" => asked.subresource,
            "namespace" => asked.namespace,
            "name" => asked.name,
            other => panic!("{other} is no attribute"),
        };
        let allowed = self.0.iter().any(|it| {
            let mut given = it.as_object().unwrap().iter();
            given.all(|(key, value)| value.as_str() == Some(of(key)))
        });
        if allowed {
            auth::Decision::allow("allowed by case").into()
        } else {
            auth::Decision::no_opinion("no rule").into()
        }
    }
}
