//! The one place where errors of the store become a `Status`.

use meta::Status;
use meta::status::{Cause, Details, Reason};
use store::{Error, Revision};

pub(crate) fn of_store(error: &Error) -> Status {
    match error {
        Error::Compacted { requested, floor } => too_old(*requested, *floor),
        Error::FutureRevision { requested, current } => too_large(*requested, *current),
        Error::TooLarge { size, limit } => Status::request_entity_too_large(format!(
            "Request entity too large: limit is {limit}, the object takes {size}"
        )),
        Error::Unavailable { .. } | Error::Closed | Error::ReadOnly { .. } => {
            Status::service_unavailable(error.to_string())
        }
        Error::Unknown { .. } => Status::timeout(error.to_string(), 0),
        _ => Status::internal(error),
    }
}

/// The past of a list at an exact revision is gone.
pub(crate) fn of_list(error: &Error) -> Status {
    match error {
        Error::Compacted { .. } => {
            Status::resource_expired("The resourceVersion for the provided list is too old.")
        }
        other => of_store(other),
    }
}

pub(crate) fn too_old(requested: Revision, floor: Revision) -> Status {
    Status::resource_expired(format!("too old resource version: {requested} ({floor})"))
}

/// A client that has seen more than we have; soon we may have seen it too.
pub(crate) fn too_large(requested: Revision, current: Revision) -> Status {
    let mut status = Status::failure(
        504,
        Reason::Timeout,
        format!("Timeout: Too large resource version: {requested}, current: {current}"),
    );
    status.details = Some(Box::new(Details {
        causes: vec![Cause {
            reason: "ResourceVersionTooLarge".into(),
            message: "Too large resource version".into(),
            field: String::new(),
        }],
        retry_after_seconds: 1,
        ..Details::default()
    }));
    status
}
