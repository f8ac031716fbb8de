//! What `auth` finds wrong with a field, as a field error.

use auth::fault::{Fault, FaultKind};
use meta::field::{Error, ErrorKind};

pub(crate) fn error(fault: &Fault) -> Error {
    let kind = match fault.kind {
        FaultKind::Invalid => ErrorKind::Invalid,
        FaultKind::Required => ErrorKind::Required,
    };
    Error {
        kind,
        field: fault.field.clone(),
        value: fault.value.clone(),
        detail: fault.detail.clone(),
    }
}
