//! Server-side apply.

use std::borrow::Cow;

use json::{Object, Value};

use super::last_applied::{allowed_conflicts, sync_annotation};
use super::{
    Context, MAX_UPDATERS, cap_updaters, describe, group_version_kind, managed_fields,
    set_managed_fields, strip_meta, track,
};
use crate::fieldpath::Set;
use crate::managed::{self, Managed, ManagerId, Operation};
use crate::typed::Emptied;
use crate::updater::UpdateError;
use crate::{Error, value};

/// The live object with the patch applied to it, and its managed fields. Defaults are for the caller to set.
///
/// Where a list or map loses its last item to an apply, structured-merge-diff leaves a null. Go's types drop it, so the
/// field goes; a custom resource keeps it, and its schema says whether it may be.
pub fn apply(
    context: &Context,
    patch: &Value,
    manager: &str,
    force: bool,
    now: &str,
) -> Result<Value, Error> {
    check(context, patch)?;
    let nothing = Value::Object(Object::new());
    let live = context.live.unwrap_or(&nothing);
    let mut entries = managed::decode(managed_fields(live))
        .map_err(|why| Error::Internal(format!("failed to decode managed fields: {why}")))?;
    let empty = context.empty_if(entries.is_empty() && context.live.is_some());
    if let Some(empty) = &empty {
        // Whatever is there was written before anyone kept track.
        track::track(
            context,
            empty,
            live,
            &mut entries,
            "before-first-apply",
            now,
        )
        .map_err(|why| {
            Error::Internal(format!(
                "failed to create manager for existing fields: {why}"
            ))
        })?;
        cap_updaters(&mut entries, MAX_UPDATERS);
    }
    let request = Request {
        context,
        live,
        patch,
        manager,
        now,
    };
    let mut result = if manager == "kubectl" && !force {
        request.run(entries.clone(), false)
    } else {
        request.run(std::mem::take(&mut entries), force)
    };
    // What kubectl applied on the client's side it may take over without a conflict.
    if manager == "kubectl"
        && let Err(Failure::Conflicts(conflicts)) = &result
        && let Some(allowed) = allowed_conflicts(context, live)
    {
        let mut rest = conflicts.clone();
        rest.retain_mut(|(_, fields)| {
            fields.subtract(&allowed);
            !fields.is_empty()
        });
        result = if rest.is_empty() {
            request.run(entries, true)
        } else {
            Err(Failure::Conflicts(rest))
        };
    }
    let (mut object, fields) = result.map_err(Failure::into_error)?;
    if manager == "kubectl" {
        sync_annotation(&mut object, patch);
    }
    set_managed_fields(&mut object, fields);
    Ok(object)
}

fn check(context: &Context, patch: &Value) -> Result<(), Error> {
    let text = |name: &str| patch.get(name).and_then(Value::as_str).unwrap_or("");
    // What cannot be read is nothing, the kind with it.
    let (api_version, kind) = match text("apiVersion") {
        it if it.matches('/').count() > 1 => ("", ""),
        it => (it.strip_prefix('/').unwrap_or(it), text("kind")),
    };
    if api_version != context.api_version || kind != context.kind {
        let found = group_version_kind(api_version, kind);
        return Err(Error::BadRequest(format!("invalid object type: {found}")));
    }
    if let Some(Value::Array(_)) = managed_fields(patch) {
        return Err(Error::BadRequest(
            "metadata.managedFields must be nil".into(),
        ));
    }
    Ok(())
}

enum Failure {
    Conflicts(Vec<(ManagerId<'static>, Set<'static>)>),
    Other(String),
}

impl Failure {
    fn into_error(self) -> Error {
        match self {
            Self::Other(why) => Error::Internal(why),
            Self::Conflicts(mut conflicts) => {
                conflicts.sort_by(|(a, _), (b, _)| a.cmp(b));
                Error::conflict(&conflicts)
            }
        }
    }
}

struct Request<'v> {
    context: &'v Context<'v>,
    live: &'v Value,
    patch: &'v Value,
    manager: &'v str,
    now: &'v str,
}

impl Request<'_> {
    /// The merged object without managed fields, and those.
    fn run<'m>(
        &'m self,
        mut managed: Managed<'m>,
        force: bool,
    ) -> Result<(Value, Option<Value>), Failure> {
        let context = self.context;
        let schema = context.schema;
        schema.validate(self.patch, false).map_err(|why| {
            let what = describe(self.patch);
            Failure::Other(format!(
                "failed to create typed patch object ({what}): {why}"
            ))
        })?;
        schema.validate(self.live, true).map_err(|why| {
            let what = describe(self.live);
            Failure::Other(format!(
                "failed to create typed live object ({what}): {why}"
            ))
        })?;
        let this = ManagerId::new(self.manager, Operation::Apply, "", context.subresource);
        let updater = context.updater();
        let live = without_managed_fields(self.live);
        let emptied = if context.custom {
            Emptied::Null
        } else {
            Emptied::Gone
        };
        let merged = updater.merge(live, self.patch, &mut managed, &this, emptied);
        let merged = merged.map_err(Failure::Other)?;
        let fields = {
            let mut managed: Managed = managed;
            let taken = updater.take_over(self.live, &merged, &mut managed, &this, force);
            taken.map_err(|why| match why {
                UpdateError::Failed(why) => Failure::Other(why),
                UpdateError::Conflicts(conflicts) => Failure::Conflicts(
                    (conflicts.into_iter())
                        .map(|(manager, fields)| (manager.into_owned(), fields.into_owned()))
                        .collect(),
                ),
            })?;
            strip_meta(&mut managed, &this);
            if !same_but_managed_fields(self.live, &merged)
                && let Some(owned) = managed.iter_mut().find(|it| it.manager == this)
            {
                owned.time = Some(Cow::Borrowed(self.now));
            }
            managed::encode(&mut managed)
        };
        Ok((merged, fields))
    }
}

/// A copy, without the largest part of it.
fn without_managed_fields(object: &Value) -> Value {
    let Value::Object(object) = object else {
        return object.clone();
    };
    let mut copy = Object::with_capacity(object.len());
    for (key, value) in object.iter() {
        match value {
            Value::Object(metadata) if key.as_str() == "metadata" => {
                let mut kept = Object::with_capacity(metadata.len());
                for (key, value) in metadata.iter() {
                    if key.as_str() != "managedFields" {
                        kept.push(key.clone(), value.clone());
                    }
                }
                copy.push(key.clone(), kept);
            }
            other => copy.push(key.clone(), other.clone()),
        }
    }
    copy.into()
}

fn same_but_managed_fields(live: &Value, new: &Value) -> bool {
    let mut same = true;
    value::zip(live.as_object(), new.as_object(), |key, live, new| {
        let (Some(live), Some(new)) = (live, new) else {
            same = false;
            return;
        };
        same = same
            && match (key, live, new) {
                ("metadata", Value::Object(live), Value::Object(new)) => {
                    let mut same = true;
                    value::zip(Some(live), Some(new), |key, live, new| {
                        same = same
                            && (key == "managedFields"
                                || match (live, new) {
                                    (Some(live), Some(new)) => value::equal(live, new),
                                    _ => false,
                                });
                    });
                    same
                }
                _ => value::equal(live, new),
            };
    });
    same
}
