//! The groups `apiextensions.k8s.io` and `apiregistration.k8s.io`.

use super::{Action, Deletion, SPEC, Strategy, Unenforced};
use crate::columns::table::machinery;
use crate::columns::{Columns, cluster};
use crate::defaults::{self, Defaults};
use crate::prepare::warnings::{Warn, definitions};
use crate::prepare::{Meta, Prepare, Status, kinds};
use crate::validate;

pub(super) const API_EXTENSIONS: &[Strategy] = &[Strategy {
    defaults: Defaults::Always(defaults::cluster::DEFINITION),
    status: Status::Wiped,
    generation: SPEC,
    prepare: Prepare {
        create: |object, _| kinds::stored_version(object),
        update: |new, _, _| kinds::stored_version(new),
        ..Prepare::NOTHING
    },
    validate: rules!(validate::definitions),
    repeats_errors: true,
    warnings: Warn {
        create: |object, all| definitions::check(object, None, all),
        update: |new, old, all| definitions::check(new, Some(old), all),
        ..Warn::NOTHING
    },
    columns: Some(Columns::new(machinery::DEFINITION, cluster::definition)),
    deletion: Deletion {
        // A definition goes after its objects.
        finalizer: Some("customresourcecleanup.apiextensions.k8s.io"),
        marks_time_only: true,
        ..Deletion::AT_ONCE
    },
    action: Action::DefinesKind,
    ..Strategy::new("apiextensions.k8s.io", "CustomResourceDefinition")
}];

pub(super) const API_REGISTRATION: &[Strategy] = &[Strategy {
    defaults: Defaults::Always(defaults::cluster::API_SERVICE),
    status: Status::Wiped,
    metadata: Meta::Reset,
    prepare: Prepare {
        create: kinds::local_service,
        ..Prepare::NOTHING
    },
    validate: rules!(validate::definitions::services),
    repeats_errors: true,
    columns: Some(Columns::new(machinery::API_SERVICE, cluster::api_service)),
    unenforced: Some(Unenforced {
        what: "APIService of another server",
        effect: "API aggregation is not supported by this server: requests for this group and version are not handed on to the Service",
        plugin: None,
        applies: |object| {
            object
                .at(&["spec", "service"])
                .is_some_and(|it| !it.is_null())
        },
    }),
    ..Strategy::new("apiregistration.k8s.io", "APIService")
}];
