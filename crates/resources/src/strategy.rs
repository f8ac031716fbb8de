//! What each built-in kind does: one row per kind, the same facts that kube-apiserver has in the strategy of each registry
//! (`pkg/registry/*/*/strategy.go`) and in its tables of defaults, printers and field labels.
//!
//! A row names functions; they are in `defaults`, `prepare`, `validate`, `columns`. `docs/add-a-kind.md` says how to add one.

/// The rules of a module of `validate`. A kind without a status of its own has its updates checked as those of the object.
macro_rules! rules {
    ($path:path) => {{
        use $path as rules;
        Some(crate::validate::Rules {
            create: rules::create,
            update: rules::update,
            status: rules::update_status,
        })
    }};
    ($path:path, no status) => {{
        use $path as rules;
        Some(crate::validate::Rules {
            create: rules::create,
            update: rules::update,
            status: rules::update,
        })
    }};
}

mod admission;
mod apps;
mod auth;
mod cluster;
mod core;
mod device;
mod extension;
mod features;
mod network;
mod storage;

#[cfg(test)]
mod tests;

use std::fmt;

use json::{Object, Value};

use crate::columns::Columns;
use crate::defaults::Defaults;
use crate::prepare::warnings::Warn;
use crate::prepare::{Generation, Meta, Prepare, ResetFields, SelectableFields, Status};
use crate::validate::{Errors, Field, Rules};

/// What the server does with objects of a kind. Its fields are in the order in which a write meets them.
#[derive(Clone, Copy)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts of a table, not states"
)]
pub struct Strategy {
    pub group: &'static str,
    pub kind: &'static str,
    pub(crate) defaults: Defaults,
    pub(crate) status: Status,
    /// What of metadata an update of the status may change.
    pub(crate) metadata: Meta,
    pub(crate) generation: Generation,
    pub(crate) prepare: Prepare,
    /// `None`: whatever the schema allows is valid.
    pub(crate) validate: Option<Rules>,
    /// Names that end in `.static.k8s.io` are kept for manifests that are files on the server.
    pub(crate) reserves_static_names: bool,
    /// Errors that two rules find are said twice: upstream serves the kind by other code than most.
    pub(crate) repeats_errors: bool,
    pub(crate) subresources: &'static [SubresourceStrategy],
    /// Where they differ from what `status` and `metadata` say, by subresource.
    pub(crate) reset_fields: &'static [(&'static str, ResetFields)],
    pub(crate) warnings: Warn,
    /// `None`: name and age of the object.
    pub(crate) columns: Option<Columns>,
    /// `None`: name and namespace.
    pub(crate) fields: Option<SelectableFields>,
    /// A PUT to a name that does not exist creates the object.
    pub allow_create_on_update: bool,
    /// A PUT may leave out the resource version.
    pub allow_unconditional_update: bool,
    pub deletion: Deletion,
    /// Said in a header of every response about the kind.
    pub deprecation: Option<&'static str>,
    /// The group that refusals name, where it is not the kind's own.
    pub error_group: Option<&'static str>,
    /// Objects end by themselves after `--event-ttl`.
    pub expires: bool,
    pub action: Action,
    pub unenforced: Option<Unenforced>,
}

/// A subresource that is more than another view of the object.
#[derive(Clone, Copy)]
pub(crate) struct SubresourceStrategy {
    pub(crate) name: &'static str,
    pub(crate) prepare: fn(&mut Object, &Value, &crate::prepare::Context<'_>),
    pub(crate) validate: fn(&mut Errors, &Field, &Field),
    /// Of an object that is sent to the subresource and not stored.
    pub(crate) validate_create: fn(&mut Errors, &Field),
}

/// How objects of a kind are deleted.
#[derive(Clone, Copy, Debug)]
pub struct Deletion {
    /// What happens to dependents if a request does not say.
    pub dependents: GarbageCollection,
    /// The seconds that an object has, by the seconds that the request asks for. `None`: objects of the kind go at once.
    pub(crate) grace_period: Option<fn(&Value, Option<i64>) -> i64>,
    pub answer: DeleteAnswer,
    /// Given to a client that does not say what happens to dependents.
    pub warning: Option<&'static str>,
    /// Put on an object when its deletion begins.
    pub finalizer: Option<&'static str>,
    /// `spec.finalizers` hold an object as those of its metadata do.
    pub spec_finalizers: bool,
    /// A first DELETE only marks an object, whatever holds it.
    pub in_two_steps: bool,
    /// A marked object gets neither a grace period nor a new generation: upstream deletes the kind by code of its own.
    pub marks_time_only: bool,
    /// Changes an object whose deletion begins.
    pub(crate) mark: fn(&mut Value),
}

/// What becomes of dependents if a request does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GarbageCollection {
    Delete,
    Orphan,
    /// The kind has no dependents and no owners.
    Unsupported,
}

/// The response to a DELETE of an object that is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeleteAnswer {
    Status,
    Object,
    /// The object, though upstream's `OpenAPI` documents say that it is a Status.
    ObjectNotDocumented,
}

/// What `apiserver` does with objects of a kind beyond storing them. It finds these kinds by this field, not by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    None,
    /// Other objects are in it (Namespace).
    HoldsObjects,
    /// It defines a kind (`CustomResourceDefinition`).
    DefinesKind,
    /// It gets addresses and ports (Service).
    Allocates,
    /// It holds a request for a certificate, and the certificate.
    HoldsCertificate,
    /// Its author must have the permissions that it lists (roles).
    GrantsRules,
    /// Its author must have the permissions of the role that it names (bindings).
    BindsRole,
    /// Parts of its status need permissions of their own (`ResourceClaim`).
    SharesStatus,
    /// In kube-system only the API servers create and delete it, and names differ by more than case (Feature).
    IsAnnounced,
}

/// A kind, or some objects of it, that this server stores and does not act on. A client that writes one is warned.
#[derive(Clone, Copy, Debug)]
pub struct Unenforced {
    /// Which objects, in the words of a list.
    pub what: &'static str,
    /// The warning: what that means for the author.
    pub effect: &'static str,
    /// The admission plugin that would enforce it.
    pub plugin: Option<&'static str>,
    pub applies: fn(&Value) -> bool,
}

/// What changes a generation in most kinds that have one.
pub(crate) const SPEC: Generation = Generation::Of(&[&["spec"]]);

impl Strategy {
    /// The strategy of custom kinds, and of kinds without a row.
    pub const CUSTOM: &'static Self = &Self::new("", "");

    /// Of a kind that is stored as it comes.
    pub(crate) const fn new(group: &'static str, kind: &'static str) -> Self {
        Self {
            group,
            kind,
            defaults: Defaults::None,
            status: Status::None,
            metadata: Meta::Free,
            generation: Generation::None,
            prepare: Prepare::NOTHING,
            validate: None,
            reserves_static_names: false,
            repeats_errors: false,
            subresources: &[],
            reset_fields: &[],
            warnings: Warn::NOTHING,
            columns: None,
            fields: None,
            allow_create_on_update: false,
            allow_unconditional_update: false,
            deletion: Deletion::AT_ONCE,
            deprecation: None,
            error_group: None,
            expires: false,
            action: Action::None,
            unenforced: None,
        }
    }

    /// Of a kind that may be updated without a resource version, as most kinds that users write.
    pub(crate) const fn unconditional(group: &'static str, kind: &'static str) -> Self {
        Self {
            allow_unconditional_update: true,
            ..Self::new(group, kind)
        }
    }

    pub(crate) fn subresource(&self, name: &str) -> Option<&'static SubresourceStrategy> {
        self.subresources.iter().find(|it| it.name == name)
    }
}

impl Deletion {
    pub(crate) const AT_ONCE: Self = Self {
        dependents: GarbageCollection::Delete,
        grace_period: None,
        answer: DeleteAnswer::Status,
        warning: None,
        finalizer: None,
        spec_finalizers: false,
        in_two_steps: false,
        marks_time_only: false,
        mark: |_| {},
    };

    pub(crate) const WITH_OBJECT: Self = Self {
        answer: DeleteAnswer::Object,
        ..Self::AT_ONCE
    };

    /// The seconds that an object has before it goes, asked for or its own; `None` if its kind goes at once.
    pub fn grace_period(&self, object: &Value, requested: Option<i64>) -> Option<i64> {
        self.grace_period.map(|seconds| seconds(object, requested))
    }

    /// Changes an object whose deletion begins.
    pub fn mark(&self, object: &mut Value) {
        (self.mark)(object);
    }
}

/// The row of a kind.
pub fn find(group: &str, kind: &str) -> &'static Strategy {
    let found = of_group(group).iter().find(|it| it.kind == kind);
    found.unwrap_or(Strategy::CUSTOM)
}

/// All rows.
pub fn all() -> impl Iterator<Item = &'static Strategy> {
    GROUPS.iter().flat_map(|group| of_group(group))
}

const GROUPS: &[&str] = &[
    "",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "apps",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "features.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "internal.apiserver.k8s.io",
    "lifecycle.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
    "storagemigration.k8s.io",
];

fn of_group(group: &str) -> &'static [Strategy] {
    match group {
        "" => core::CORE,
        "admissionregistration.k8s.io" => admission::ADMISSION_REGISTRATION,
        "apiextensions.k8s.io" => extension::API_EXTENSIONS,
        "apiregistration.k8s.io" => extension::API_REGISTRATION,
        "apps" => apps::APPS,
        "authentication.k8s.io" => auth::AUTHENTICATION,
        "authorization.k8s.io" => auth::AUTHORIZATION,
        "autoscaling" => apps::AUTOSCALING,
        "batch" => apps::BATCH,
        "certificates.k8s.io" => auth::CERTIFICATES,
        "coordination.k8s.io" => cluster::COORDINATION,
        "discovery.k8s.io" => network::DISCOVERY,
        "events.k8s.io" => cluster::EVENTS,
        "features.k8s.io" => features::FEATURES,
        "flowcontrol.apiserver.k8s.io" => cluster::FLOW_CONTROL,
        "internal.apiserver.k8s.io" => cluster::INTERNAL,
        "lifecycle.k8s.io" => apps::LIFECYCLE,
        "networking.k8s.io" => network::NETWORKING,
        "node.k8s.io" => cluster::NODE,
        "policy" => apps::POLICY,
        "rbac.authorization.k8s.io" => auth::RBAC,
        "resource.k8s.io" => device::RESOURCE,
        "scheduling.k8s.io" => apps::SCHEDULING,
        "storage.k8s.io" => storage::STORAGE,
        "storagemigration.k8s.io" => cluster::STORAGE_MIGRATION,
        _ => &[],
    }
}

impl fmt::Debug for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Strategy({}/{})", self.group, self.kind)
    }
}

impl PartialEq for Strategy {
    fn eq(&self, other: &Self) -> bool {
        (self.group, self.kind) == (other.group, other.kind)
    }
}

impl Eq for Strategy {}
