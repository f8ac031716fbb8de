//! The managers of a Scale's replicas: those that own the replicas of the scaled object.

use json::Value;
use merge::fieldpath::{Element, Path};
use merge::typed::Type;
use merge::{Context, ReplicasPath, Unconverted, Versions, scale_fields, scale_to_parent};
use meta::Status;
use meta::gvk::GroupVersionKind;
use schema::Schema;

use crate::catalog::object;
use crate::handler::context::RequestContext;
use crate::runtime::clock;
use crate::state::Api;
use crate::write::managed;

pub(super) struct Owners<'a> {
    kind: &'a GroupVersionKind,
    schema: Option<&'a Schema>,
    manager: &'a str,
    /// The version that is scaled through.
    version: String,
    api_version: String,
    /// Where each served version has its replicas.
    paths: Vec<(String, Option<Path<'static>>)>,
}

impl<'a> Owners<'a> {
    pub(super) fn new(
        api: &Api,
        ctx: &RequestContext<'_>,
        kind: &'a GroupVersionKind,
        schema: Option<&'a Schema>,
        manager: &'a str,
    ) -> Self {
        let catalog = api.catalog().load();
        let group = catalog.group(&ctx.resource.group);
        let versions = group.map_or(&[][..], |it| &it.versions);
        let same = versions.iter().flat_map(|version| {
            let all = version.resources.iter();
            all.filter(|it| it.plural == ctx.resource.plural)
        });
        let paths = same.map(|resource| {
            let names = match &resource.custom {
                None => Some("spec.replicas"),
                Some(custom) => custom.scale.as_ref().map(|it| &*it.spec),
            };
            (resource.api_version(), names.map(path))
        });
        Self {
            kind,
            schema,
            manager,
            version: ctx.resource.api_version(),
            api_version: kind.group_version().to_string(),
            paths: paths.collect(),
        }
    }

    fn path_of(&self, version: &str) -> Option<ReplicasPath<'static>> {
        let found = self.paths.iter().find(|(it, _)| it == version);
        found.map(|(_, path)| path.clone())
    }

    /// Puts the managed fields of what is scaled into its Scale.
    pub(super) fn show(&self, live: &Value, scale: &mut Value) -> Result<(), Status> {
        let fields = scale_fields(managed::fields(live), |it| self.path_of(it));
        set(scale, fields.map_err(Status::internal)?)
    }

    /// The Scale with the patch applied.
    pub(super) fn apply(
        &self,
        before: &Value,
        patch: &Value,
        force: bool,
    ) -> Result<Value, Status> {
        merge::apply(
            &self.context(before),
            patch,
            self.manager,
            force,
            &clock::now(),
        )
        .map_err(managed::refused)
    }

    /// Tracks what an update or another patch changed.
    pub(super) fn track(&self, before: &Value, scale: &mut Value) {
        // A write never fails for want of tracking.
        let _ = merge::update(&self.context(before), scale, self.manager, &clock::now());
    }

    /// Puts the managed fields of a Scale into what is scaled.
    pub(super) fn put_back(&self, scale: &Value, object: &mut Value) -> Result<(), Status> {
        let fields = scale_to_parent(
            managed::fields(object),
            managed::fields(scale),
            &self.version,
            |it| self.path_of(it),
        );
        set(object, fields.map_err(Status::internal)?)
    }

    fn context<'b>(&'b self, before: &'b Value) -> Context<'b> {
        Context {
            schema: self.own(),
            api_version: &self.api_version,
            kind: &self.kind.kind,
            subresource: "scale",
            custom: false,
            versions: self,
            live: Some(before),
        }
    }

    fn own(&self) -> Type<'_> {
        self.schema.map_or(Type::Deduced, |it| Type::of(it.place()))
    }
}

impl Versions for Owners<'_> {
    fn convert(&self, _: &Value, _: &str) -> Result<Value, Unconverted> {
        Err(Unconverted::MissingVersion)
    }

    fn schema(&self, _: &str) -> Type<'_> {
        self.own()
    }
}

fn path(text: &str) -> Path<'static> {
    let names = text.split('.').filter(|it| !it.is_empty());
    Path(names.map(|it| Element::field(it).into_owned()).collect())
}

fn set(object: &mut Value, fields: Option<Value>) -> Result<(), Status> {
    let metadata = object::metadata(object)?;
    match fields {
        Some(fields) => metadata.insert("managedFields", fields),
        None => metadata.remove("managedFields"),
    };
    Ok(())
}
