//! Creation: of a POST, or of a change to an object that does not exist.

use admission::{Admitting, Operation, Request};
use bytes::Bytes;
use json::Value;
use meta::Status;
use store::{Condition, Txn};
use telemetry::trace;

use super::{ADMITTED, Write, Written, commit, is_same, transact};
use crate::catalog::convert;
use crate::catalog::defaults;
use crate::catalog::object;
use crate::instruments::row::Operation as Stored;
use crate::observe::traced;
use crate::request::Verb;
use crate::state::failure;
use crate::write::allocate;
use crate::write::disabled;
use crate::write::escalation;
use crate::write::feature_rules;
use crate::write::managed;
use crate::write::strategy;

/// How many generated names may turn out to be taken, as upstream.
const NAMES: usize = 8;

impl Write<'_> {
    /// Makes a new object.
    pub(crate) async fn create(&self, object: Value, managed: bool) -> Result<Written, Status> {
        self.make(object, managed, false).await
    }

    /// The same, or as a part of a change of what was not there.
    pub(super) async fn make(
        &self,
        mut object: Value,
        mut managed: bool,
        updating: bool,
    ) -> Result<Written, Status> {
        let resource = self.resource();
        object::place(&mut object, resource, self.namespace(), &self.ctx.info.name)?;
        strategy::accepts_new(resource, object::name(&object))?;
        let generated = object
            .str_at(&["metadata", "name"])
            .unwrap_or_default()
            .is_empty();
        let tries = if generated { NAMES } else { 1 };
        for attempt in 1.. {
            let written = self.make_once(object.clone(), managed, updating).await;
            match written {
                Err(status) if status.is_already_exists() && attempt < tries => {}
                Err(status) if status.is_conflict() && attempt < NAMES => {}
                // It may fit without what we add to it, unless that was asked for (server-side apply).
                Err(status) if status.is_too_large() && !managed => {
                    object::forget_managers(&mut object);
                    managed = true;
                }
                written => return written,
            }
        }
        unreachable!("the last try returns")
    }

    /// The end of a dry run: only what is there already speaks against it.
    async fn would_make(
        &self,
        key: String,
        value: Bytes,
        object: &Value,
        updating: bool,
    ) -> Result<Written, Status> {
        let read = (!updating).then(|| traced::storage("Get etcd3"));
        let latest = self.api.fresh_snapshot().await?;
        let found = latest.get(key.as_bytes()).map(|it| it.value.len());
        if let Some(read) = read {
            traced::record_get(&read, &key, false, found);
        }
        if found.is_some() {
            let resource = self.resource().group_resource();
            return Err(Status::already_exists(&resource, object::name(object)));
        }
        let mut written = self.written(key, value, 0, true);
        let given = object.str_at(&["metadata", "resourceVersion"]);
        written.given_version = given.filter(|it| !it.is_empty()).map(str::to_owned);
        Ok(written)
    }

    /// As admission sees them, whatever the verb.
    fn create_options(&self) -> Value {
        let mut options = self.options.value.clone();
        if let Some(options) = options.as_object_mut() {
            options.insert("kind", "CreateOptions");
        }
        options
    }

    async fn make_once(
        &self,
        mut object: Value,
        managed: bool,
        updating: bool,
    ) -> Result<Written, Status> {
        let resource = self.resource();
        self.check_fence()?;
        object::forget_system_fields(object::metadata(&mut object)?);
        let name = object
            .str_at(&["metadata", "name"])
            .unwrap_or_default()
            .to_owned();
        disabled::drop_sent(self.ctx, resource, &mut object, None)?;
        defaults::apply(resource, &mut object);
        disabled::drop_added(resource, &mut object, None);
        self.distinct_owners(&mut object, "");
        // Before admission: fields that plugins and webhooks add have no manager.
        if !managed {
            managed::update(self.field_manager(), None, &mut object);
        }
        let before = object.clone();
        let mut admitting = Admitting::new(object);
        let gvr = resource.gvr();
        let options = self.create_options();
        let request = Request {
            options: &options,
            ..self.request(Operation::Create, &gvr, &name, None)
        };
        self.admit(&request, &mut admitting).await?;
        let mut object = admitting.object.take();
        if !is_same(&before, &object) {
            defaults::apply(resource, &mut object);
            self.distinct_owners(&mut object, ADMITTED);
        }
        drop(before);
        // Not before: webhooks see none of these, and what they write into them does not count. Admission knows an object
        // without a name by what its name begins with.
        object::place(&mut object, resource, self.namespace(), "")?;
        object::fill_new(&mut object)?;
        object::fill_name(&mut object)?;
        let mut warnings = strategy::prepare_create(self.ctx, self.api.catalog(), &mut object);
        disabled::drop_added(resource, &mut object, None);
        // Before validation: what is given must be there then, and what cannot be given is said first.
        let beside = allocate::assign(self.api, resource, None, &mut object)?;
        escalation::check(self.api, self.ctx, &object, None).await?;
        feature_rules::check_create(self.api, self.ctx, &object)?;
        let rules = strategy::rules(self.ctx, &self.api.metrics().cel, &object, None).await?;
        warnings.append(&mut strategy::validate_create(self.ctx, &object, rules)?);
        self.ctx.warnings.add(warnings);
        if updating {
            // Permission to update does not include permission to create.
            self.api
                .allow(self.ctx.attributes_for(Verb::Create))
                .await?;
        }
        admitting.object = object;
        self.validate(&request, &mut admitting).await?;
        let object = admitting.object;
        let name = object.str_at(&["metadata", "name"]).unwrap_or_default();
        let key = resource.key(self.namespace(), name);
        // The caller that changed it already holds the storage span.
        let stores = !updating && !self.options.dry_run;
        let storage = stores.then(|| self.storage("Create etcd3", &key));
        if !self.options.dry_run {
            check_version(&object)?;
        }
        let value = self.encode(&object)?;
        if self.options.dry_run {
            return self.would_make(key, value, &object, updating).await;
        }
        let lease = self.api.lease(resource).await?;
        let txn = Txn::new()
            .when(Condition::Absent(key.clone().into()))
            .put_leased(key.clone(), value.clone(), lease);
        let txn = beside.add_to(txn);
        let done = if updating {
            transact(self.api, Stored::Create, resource, txn, value.len()).await
        } else {
            let done = commit(self.api, Stored::Create, resource, txn).await;
            if matches!(done, Ok(_) | Err(store::Error::Conflict { .. })) {
                trace::event("Txn call succeeded");
            }
            if done.is_ok() {
                trace::event_with("Decode succeeded", "len", value.len());
            }
            done
        };
        drop(storage);
        match done {
            Ok(done) => Ok(self.written(key, value, done.revision, true)),
            Err(store::Error::Conflict { key: other, .. }) if other != key.as_bytes() => {
                // Another write took the same address or port at this moment.
                Err(self.modified(name))
            }
            Err(store::Error::Conflict { current, .. }) => {
                let mut status = Status::already_exists(&resource.group_resource(), name);
                // Upstream reads what is there once more.
                let read = stores.then(|| traced::storage("Get etcd3"));
                let length = current.as_ref().map(|it| it.value.len());
                let current = current.and_then(|it| convert::parse(resource, &it.value).ok());
                if let Some(read) = read {
                    traced::record_get(&read, &key, false, length);
                }
                if current.is_some_and(|it| object::is_being_deleted(&it)) {
                    status.message = format!("object is being deleted: {}", status.message);
                }
                Err(status)
            }
            Err(error) => Err(failure::of_store(&error)),
        }
    }
}

/// As late as upstream, where the storage notices; what is no version says nothing to it.
fn check_version(object: &Value) -> Result<(), Status> {
    let version = object.str_at(&["metadata", "resourceVersion"]);
    let version = version.and_then(|it| it.parse::<u64>().ok());
    if version.is_none_or(|it| it == 0) {
        return Ok(());
    }
    let text = "resourceVersion should not be set on objects to be created";
    Err(Status::failure(500, meta::status::Reason::Unknown, text))
}
