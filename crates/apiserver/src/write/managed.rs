//! Managed fields: the bridge to the crate `merge`.

use std::cell::OnceCell;

use json::Value;
use merge::fieldpath::Filter;
use merge::typed::Type;
use merge::{Context, Unconverted, Versions};
use meta::Status;
use meta::gvk::api_version;
use meta::status::Cause;
use schema::Schema;

use crate::catalog::convert;
use crate::catalog::{Resource, ServedCatalog};
use crate::runtime::clock;
use crate::write::strategy;

/// The field manager of a write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldManager<'a> {
    pub(crate) name: &'a str,
    pub(crate) resource: &'a Resource,
    pub(crate) subresource: &'a str,
    pub(crate) catalog: &'a ServedCatalog,
}

/// Tracks what a create, update or patch changed.
pub(crate) fn update(manager: FieldManager<'_>, live: Option<&Value>, new: &mut Value) {
    let versions = Served::new(manager);
    let context = context(manager, &versions, live);
    // A write never fails for want of tracking.
    let _ = merge::update(&context, new, manager.name, &clock::now());
}

pub(crate) fn fields(object: &Value) -> Option<&Value> {
    object.at(&["metadata", "managedFields"])
}

/// Whether the managed fields can be decoded.
pub(crate) fn check(object: &Value) -> Result<(), String> {
    merge::managed::decode(fields(object)).map(|_| ())
}

/// The live object with the patch applied.
pub(crate) fn apply(
    manager: FieldManager<'_>,
    live: Option<&Value>,
    patch: &Value,
    force: bool,
) -> Result<Value, Status> {
    let versions = Served::new(manager);
    let context = context(manager, &versions, live);
    merge::apply(&context, patch, manager.name, force, &clock::now()).map_err(refused)
}

pub(crate) fn refused(error: merge::Error) -> Status {
    let text = error.to_string();
    match error {
        merge::Error::BadRequest(_) => Status::bad_request(text),
        merge::Error::TooLarge(_) => Status::request_entity_too_large(text),
        merge::Error::Unprocessable(_) => Status::failure(422, meta::status::Reason::Invalid, text),
        // Upstream sends what its merge says as it is.
        merge::Error::Internal(_) => Status::failure(500, meta::status::Reason::Unknown, text),
        merge::Error::Conflict { causes, .. } => {
            let causes = causes.into_iter().map(|it| Cause {
                reason: "FieldManagerConflict".into(),
                message: it.message,
                field: it.field,
            });
            Status::apply_conflict(causes.collect(), text)
        }
    }
}

fn context<'a>(
    manager: FieldManager<'a>,
    versions: &'a Served<'a>,
    live: Option<&'a Value>,
) -> Context<'a> {
    Context {
        schema: versions.own(),
        api_version: &versions.api_version,
        kind: &manager.resource.kind,
        subresource: manager.subresource,
        custom: manager.resource.custom.is_some(),
        versions,
        live,
    }
}

/// The versions that an object of this resource can be had in.
struct Served<'a> {
    resource: &'a Resource,
    api_version: String,
    others: Vec<(String, std::sync::Arc<Resource>)>,
    /// The schemas of versions that a definition has and does not serve; made when a manager owns fields in one.
    unserved: OnceCell<Vec<(String, Schema)>>,
    reset: Option<Filter>,
}

impl<'a> Served<'a> {
    fn new(manager: FieldManager<'a>) -> Self {
        let resource = manager.resource;
        let catalog = manager.catalog.load();
        let versions = catalog
            .group(&resource.group)
            .map_or(&[][..], |it| &it.versions);
        let others = versions.iter().flat_map(|version| {
            let same = |it: &&std::sync::Arc<Resource>| it.plural == resource.plural;
            version.resources.iter().filter(same)
        });
        Self {
            resource,
            api_version: resource.api_version(),
            others: others.map(|it| (it.api_version(), it.clone())).collect(),
            unserved: OnceCell::new(),
            reset: strategy::reset_fields(resource, manager.subresource),
        }
    }

    fn own(&self) -> Type<'_> {
        of(self.resource)
    }

    fn unserved(&self) -> &[(String, Schema)] {
        self.unserved.get_or_init(|| {
            let custom = self.resource.custom.as_deref();
            let all = custom.into_iter().flat_map(|it| it.schemas.iter());
            let named =
                all.map(|(version, schema)| (api_version(&self.resource.group, version), schema));
            let is_served = |version: &str| self.others.iter().any(|(it, _)| it == version);
            let unserved = named.filter(|(version, _)| !is_served(version));
            unserved
                .map(|(version, schema)| (version, schema::with_object_meta(schema)))
                .collect()
        })
    }

    /// To a version that is not served. What a definition has no version of is an error, as upstream; a built-in kind just
    /// does not have it any more.
    fn convert_unserved(&self, object: &Value, version: &str) -> Result<Value, Unconverted> {
        let Some(custom) = &self.resource.custom else {
            return Err(Unconverted::MissingVersion);
        };
        if self.unserved().iter().any(|(it, _)| it == version) {
            let mut object = object.clone();
            custom
                .convert(&mut object, version)
                .map_err(|status| Unconverted::Failed(status.message))?;
            return Ok(object);
        }
        let group = version.split_once('/').map_or("", |it| it.0);
        Err(Unconverted::Failed(if *group == *self.resource.group {
            format!("request to convert CR to an invalid group/version: {version}")
        } else {
            format!(
                "{}, Kind={} is unstructured and is not suitable for converting to {}",
                self.api_version,
                self.resource.kind,
                meta::go::quote(version)
            )
        }))
    }
}

fn of(resource: &Resource) -> Type<'_> {
    match &resource.schema {
        Some(schema) => Type::of(schema.place()),
        None => Type::Deduced,
    }
}

impl Versions for Served<'_> {
    fn convert(&self, object: &Value, version: &str) -> Result<Value, Unconverted> {
        let found = self.others.iter().find(|(it, _)| it == version);
        let Some((_, resource)) = found else {
            return self.convert_unserved(object, version);
        };
        let mut object = object.clone();
        convert::to_version(resource, &mut object, &resource.group, &resource.version)
            .map_err(|status| Unconverted::Failed(status.message))?;
        Ok(object)
    }

    fn schema(&self, version: &str) -> Type<'_> {
        let found = self.others.iter().find(|(it, _)| it == version);
        if let Some((_, resource)) = found {
            return of(resource);
        }
        let found = self.unserved().iter().find(|(it, _)| it == version);
        found.map_or(self.own(), |(_, schema)| Type::of(schema.place()))
    }

    fn reset_fields(&self, _version: &str) -> Option<&Filter> {
        self.reset.as_ref()
    }
}
