//! Update of an existing object.

use std::sync::Arc;

use admission::{Admitting, Operation};
use json::Value;
use meta::Status;
use meta::go::parse_uint;
use store::{Condition, Entry, Txn};

use super::{ADMITTED, AdmissionView, Change, Changed, Write, Written, is_same, transact};
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
use crate::write::managed;
use crate::write::strategy;

/// How often an update is tried again after a conflict, when the client named no resource version.
const RETRIES: usize = 5;

impl Write<'_> {
    /// Changes the object of this name, or creates it if `change` makes something of nothing.
    pub(crate) async fn update(
        &self,
        name: &str,
        change: &mut dyn Change,
    ) -> Result<Written, Status> {
        let resource = self.resource();
        let key = resource.key(self.namespace(), name);
        // A dry run only reads.
        let stores = !self.options.dry_run;
        let _storage = stores.then(|| self.storage("GuaranteedUpdate etcd3", &key));
        let mut attempt = 0;
        let mut tracked = true;
        loop {
            attempt += 1;
            let read = (!stores).then(|| traced::storage("Get etcd3"));
            let snapshot = if attempt == 1 {
                self.api.store().latest()
            } else {
                self.api.fresh_snapshot().await?
            };
            let entry = snapshot.get(key.as_bytes()).cloned();
            if let Some(read) = read {
                let length = entry.as_ref().map(|it| it.value.len());
                traced::record_get(&read, &key, false, length);
            }
            let Some(entry) = entry else {
                if attempt == 1 {
                    // Memory may lag behind what others wrote: look again before saying no.
                    continue;
                }
                let changed = change.apply(None)?;
                self.restored("initial value restored");
                return self.make(changed.object, changed.managed, true).await;
            };
            drop(snapshot);
            self.ctx.acquire_cpu_slot(entry.value.len()).await?;
            let mut live = convert::decode(resource, &entry.value, entry.modified)?;
            strategy::complete(resource, &mut live);
            self.restored(if attempt == 1 {
                "initial value restored"
            } else {
                "Retry value restored"
            });
            let changed = change.apply(Some(&live));
            let mut changed = match changed {
                // What we compared with may be old.
                Err(status) if attempt == 1 && status.is_conflict() => continue,
                changed => changed?,
            };
            if !tracked {
                changed.untrack();
            }
            let (exact, managed) = (changed.exact, changed.managed);
            match self.update_once(name, &key, &entry, &live, changed).await {
                // Another write was faster.
                Ok(None) if !exact => {}
                Ok(None) => return Err(self.modified(name)),
                Ok(Some(written)) => return Ok(written),
                Err(status) if status.is_conflict() && !exact && attempt <= RETRIES => {}
                // It may fit without what we add to it, unless that was asked for (server-side apply).
                Err(status) if status.is_too_large() && !managed => tracked = false,
                Err(status) => return Err(status),
            }
        }
    }

    /// `None` if it is not any more what the change was made from.
    async fn update_once(
        &self,
        name: &str,
        key: &str,
        entry: &Arc<Entry>,
        live: &Value,
        changed: Changed,
    ) -> Result<Option<Written>, Status> {
        let resource = self.resource();
        self.check_fence()?;
        let Changed {
            mut object,
            managed,
            ..
        } = changed;
        object::place(&mut object, resource, self.namespace(), name)?;
        self.check_version(name, &object, entry.modified)?;
        object::carry_over(&mut object, live)?;
        // Without a resource version the update applies to the live object.
        let metadata = object::metadata(&mut object)?;
        metadata.insert("resourceVersion", entry.modified.to_string());
        if !self.is_internal {
            disabled::drop_sent(self.ctx, resource, &mut object, Some(live))?;
        }
        defaults::apply(resource, &mut object);
        disabled::drop_added(resource, &mut object, Some(live));
        let patched = self.ctx.info.verb == Verb::Patch;
        self.distinct_owners(&mut object, if patched { ADMITTED } else { "" });
        if !managed && !self.is_internal {
            managed::update(self.field_manager(), Some(live), &mut object);
        }
        let gvr = resource.gvr();
        let face = match self.view {
            AdmissionView::Subresource(face) => Some(face.of(live)),
            _ => None,
        };
        let old = face.as_ref().unwrap_or(live);
        let request = self.request(Operation::Update, &gvr, name, Some(old));
        let is_seen = !matches!(self.view, AdmissionView::Nothing);
        let mut admitting = Admitting::default();
        let before = object.clone();
        if is_seen {
            admitting.object = self.view.take(&mut object);
            self.admit(&request, &mut admitting).await?;
            self.view.put_back(admitting.object.take(), &mut object);
        }
        if !is_same(&before, &object) {
            defaults::apply(resource, &mut object);
            self.distinct_owners(&mut object, ADMITTED);
            // What a client cannot change, a webhook cannot either.
            object::place(&mut object, resource, self.namespace(), "")?;
            object::carry_over(&mut object, live)?;
        }
        drop(before);
        allocate::carry_over(resource, &mut object, live);
        let mut warnings = self.prepare_update(&mut object, live);
        disabled::drop_added(resource, &mut object, Some(live));
        let beside = allocate::assign(self.api, resource, Some(live), &mut object)?;
        escalation::check(self.api, self.ctx, &object, Some(live)).await?;
        if !self.is_internal {
            let rules =
                strategy::rules(self.ctx, &self.api.metrics().cel, &object, Some(live)).await?;
            warnings.append(&mut strategy::validate_update(
                self.ctx, &object, live, rules,
            )?);
        }
        self.ctx.warnings.add(warnings);
        if is_seen {
            admitting.object = self.view.take(&mut object);
            self.validate(&request, &mut admitting).await?;
            self.view.put_back(admitting.object.take(), &mut object);
        }
        merge::keep_times(live, &mut object);
        let value = self.encode(&object)?;
        if value == entry.value {
            // Nothing changed: no write, no event, the same resource version.
            let mut written = self.written(key.to_owned(), value, entry.modified, false);
            written.is_stored = true;
            return Ok(Some(written));
        }
        if self.options.dry_run {
            let written = self.written(key.to_owned(), value, entry.modified, false);
            return Ok(Some(written));
        }
        let condition = Condition::Unchanged(key.to_owned().into(), entry.modified);
        let finished = strategy::is_finished(resource, &object);
        let txn = Txn::new().when(condition);
        let txn = if finished {
            let beside = allocate::release(self.api, resource, &object);
            beside.add_to(txn.delete(key.to_owned()))
        } else {
            // An Event lives on for its whole time after each change, as upstream; nothing else has a lease.
            let lease = match self.api.lease(resource).await? {
                0 => entry.lease,
                renewed => renewed,
            };
            beside.add_to(txn.put_leased(key.to_owned(), value.clone(), lease))
        };
        match transact(self.api, Stored::Update, resource, txn, value.len()).await {
            Ok(done) => {
                let written = self.written(key.to_owned(), value, done.revision, false);
                Ok(Some(written))
            }
            Err(store::Error::Conflict { .. }) => Ok(None),
            Err(error) => Err(failure::of_store(&error)),
        }
    }

    fn prepare_update(&self, object: &mut Value, live: &Value) -> Vec<String> {
        if self.is_internal {
            return Vec::new();
        }
        strategy::prepare_update(self.ctx, self.api.catalog(), object, live)
    }

    /// An object that names a version must name the one that is there.
    fn check_version(&self, name: &str, object: &Value, modified: u64) -> Result<(), Status> {
        let asked = object
            .str_at(&["metadata", "resourceVersion"])
            .unwrap_or_default();
        // Zero is as good as none.
        if matches!(asked, "" | "0") {
            if strategy::allows_unconditional_update(self.resource()) {
                return Ok(());
            }
            let field = "metadata.resourceVersion";
            let error = meta::field::Error::invalid(field, 0, "must be specified for an update");
            // By resource, where others are named by kind, as upstream has it.
            let resource = self.resource();
            let kind = meta::gvk::GroupKind::new(&*resource.group, &*resource.plural);
            return Err(Status::invalid(&kind, name, &[error]));
        }
        if asked == modified.to_string() {
            return Ok(());
        }
        if let Err(error) = parse_uint(asked) {
            let text = error.to_string();
            return Err(Status::failure(500, meta::status::Reason::Unknown, text));
        }
        Err(self.modified(name))
    }
}
