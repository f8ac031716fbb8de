//! What admission asks about kinds: the equivalents of a resource, and conversion between them.

use admission::{ApplyError, BoxFuture};
use json::Value;
use merge::typed::Type;
use meta::Status;
use meta::gvk::{GroupVersionKind, GroupVersionResource};

use crate::catalog::Resource;
use crate::catalog::convert;
use crate::catalog::defaults;
use crate::state::Api;

impl admission::Kinds for Api {
    fn is_namespaced(&self, resource: &GroupVersionResource) -> bool {
        let catalog = self.catalog.load();
        let found = catalog.get(&resource.group, &resource.version, &resource.resource);
        found.is_some_and(|it| it.namespaced)
    }

    fn resource_for(&self, kind: &GroupVersionKind) -> Option<GroupVersionResource> {
        let catalog = self.catalog.load();
        let found = catalog.by_kind(&kind.group, &kind.version, &kind.kind);
        found.map(|it| it.gvr())
    }

    fn written(&self, mut object: Value, kind: &GroupVersionKind) -> Value {
        if let Some(schema) = self.go_schema(kind) {
            schema::canonical(schema.place(), &mut object);
        }
        object
    }

    fn is_struct(&self, kind: &GroupVersionKind) -> bool {
        self.go_schema(kind).is_some()
    }

    fn equivalents(
        &self,
        resource: &GroupVersionResource,
        subresource: &str,
    ) -> Vec<(GroupVersionResource, GroupVersionKind)> {
        let catalog = self.catalog.load();
        let found = catalog.get(&resource.group, &resource.version, &resource.resource);
        let Some(found) = found else {
            return Vec::new();
        };
        // What rests under the same keys is the same, whatever group it is served in.
        let same = |it: &Resource| {
            it.plural == found.plural
                && it.prefix == found.prefix
                && (!it.prefix.is_empty() || it.group == found.group)
        };
        let all = catalog.all().filter(|it| same(it));
        all.filter_map(|it| Some((it.gvr(), kind_of(it, subresource)?)))
            .collect()
    }

    fn convert<'a>(
        &'a self,
        mut object: Value,
        to: &'a GroupVersionKind,
    ) -> BoxFuture<'a, Result<Value, Status>> {
        Box::pin(async move {
            let catalog = self.catalog.load_full();
            let found = catalog.by_kind(&to.group, &to.version, &to.kind);
            if let Some(found) = found {
                convert::to_version(found, &mut object, &to.group, &to.version)?;
            }
            Ok(object)
        })
    }

    fn apply_configuration(
        &self,
        object: Value,
        patch: &Value,
        kind: &GroupVersionKind,
    ) -> Result<Value, ApplyError> {
        let catalog = self.catalog.load();
        let found = catalog.by_kind(&kind.group, &kind.version, &kind.kind);
        let schema = if let Some(found) = found {
            found.schema.clone()
        } else {
            let builtin = schema::builtin().kind(&kind.group, &kind.version, &kind.kind);
            Some(builtin.ok_or(ApplyError::UnknownKind)?)
        };
        let of = schema
            .as_ref()
            .map_or(Type::Deduced, |it| Type::of(it.place()));
        let applied = of.apply_configuration(object, patch);
        applied.map_err(|error| ApplyError::Failed(error.to_string()))
    }

    fn unknown_fields(&self, object: &Value, kind: &GroupVersionKind) -> Vec<String> {
        self.go_schema(kind)
            .map_or_else(Vec::new, |it| schema::unknown(it.place(), object))
    }

    fn read(&self, mut object: Value, kind: &GroupVersionKind) -> Result<Value, Status> {
        let catalog = self.catalog.load();
        let found = catalog.by_kind(&kind.group, &kind.version, &kind.kind);
        if let Some(schema) = self.go_schema(kind) {
            schema::check_types(schema.place(), &object)
                .map_err(|error| Status::internal(error.to_string()))?;
            schema::prune(schema.place(), &mut object);
            schema::canonical(schema.place(), &mut object);
        }
        if let Some(found) = found {
            defaults::apply(found, &mut object);
        }
        Ok(object)
    }
}

impl Api {
    /// The schema of a kind that upstream has a Go type for.
    fn go_schema(&self, kind: &GroupVersionKind) -> Option<schema::Schema> {
        let catalog = self.catalog.load();
        match catalog.by_kind(&kind.group, &kind.version, &kind.kind) {
            Some(found) if found.custom.is_some() => None,
            Some(found) => found.schema.clone(),
            None => schema::builtin().kind(&kind.group, &kind.version, &kind.kind),
        }
    }
}

/// The kind that a resource, or a subresource of it, takes.
fn kind_of(resource: &Resource, subresource: &str) -> Option<GroupVersionKind> {
    if subresource.is_empty() {
        return Some(resource.gvk());
    }
    let found = resource.subresource(subresource)?;
    Some(GroupVersionKind::new(
        &*found.group,
        &*found.version,
        &*found.kind,
    ))
}
