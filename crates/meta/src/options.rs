//! What requests ask for beside their path: options from the query, checked with upstream's rules and texts.

mod delete;
mod list;
mod write;

pub use delete::{DeleteOptions, Preconditions, Propagation};
pub use list::{GetOptions, ListOptions, ResourceVersionMatch};
pub use write::{CreateOptions, FieldValidation, PatchOptions, UpdateOptions};

use json::Value;

use crate::Status;
use crate::field::{Error, Path};
use crate::go::parse_int;
use crate::gvk::GroupKind;
use crate::table::IncludeObject;

/// The pairs of a query, decoded. A name may come more than once; where one value is wanted, the first counts.
#[derive(Debug)]
pub struct Query<'a, S>(pub &'a [(S, S)]);

impl<S: AsRef<str>> Query<'_, S> {
    fn all<'b>(&'b self, name: &'b str) -> impl Iterator<Item = &'b str> {
        let found = self.0.iter().filter(move |(it, _)| it.as_ref() == name);
        found.map(|(_, value)| value.as_ref())
    }

    fn first(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(it, _)| it.as_ref() == name);
        found.map(|(_, value)| value.as_ref())
    }

    fn text(&self, name: &str) -> String {
        self.first(name).unwrap_or_default().into()
    }

    fn texts(&self, name: &str) -> Vec<String> {
        self.all(name).map(Into::into).collect()
    }

    /// All but `0` and `false` is true.
    fn flag(&self, name: &str) -> Option<bool> {
        let value = self.first(name)?;
        Some(value != "0" && !value.eq_ignore_ascii_case("false"))
    }

    fn number(&self, name: &str) -> Result<Option<i64>, Status> {
        let number = self.first(name).map(parse_int);
        let number = number.transpose();
        number.map_err(|error| Status::bad_request(error.to_string()))
    }
}

/// What goes into the row of a table.
pub fn include_object<S: AsRef<str>>(query: &Query<'_, S>) -> Result<IncludeObject, Status> {
    match query.first("includeObject").unwrap_or_default() {
        "" | "Metadata" => Ok(IncludeObject::Metadata),
        "None" => Ok(IncludeObject::None),
        "Object" => Ok(IncludeObject::Object),
        other => {
            let detail = "must be 'Metadata', 'Object', 'None', or empty";
            let error = Error::invalid("includeObject", other, detail);
            let message = format!("Unable to convert to Table as requested: {error}");
            Err(Status::bad_request(message))
        }
    }
}

fn refuse<T>(options: T, kind: &str, errors: &[Error]) -> Result<T, Status> {
    if errors.is_empty() {
        return Ok(options);
    }
    Err(Status::invalid(
        &GroupKind::new("meta.k8s.io", kind),
        "",
        errors,
    ))
}

/// `dryRun=All` is the only one there is.
fn validate_dry_run(dry_run: &[String]) -> Option<Error> {
    let unknown = dry_run.iter().any(|it| it != "All");
    unknown.then(|| {
        let given: Value = dry_run.iter().collect();
        Error::not_supported(Path::new("dryRun"), given, ["All"])
    })
}

#[cfg(test)]
mod tests;
