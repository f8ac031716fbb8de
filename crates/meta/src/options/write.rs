use super::{Query, refuse, validate_dry_run};
use crate::Status;
use crate::field::{Error, Path};
use crate::object::validate_field_manager;

/// What happens to fields that the kind does not have, or has twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldValidation {
    Ignore,
    Warn,
    Strict,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CreateOptions {
    pub dry_run: bool,
    pub field_manager: String,
    /// None leaves it to the server.
    pub field_validation: Option<FieldValidation>,
}

/// An update asks for the same as a create.
pub type UpdateOptions = CreateOptions;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatchOptions {
    pub dry_run: bool,
    /// Whether an apply takes fields from others.
    pub force: Option<bool>,
    pub field_manager: String,
    pub field_validation: Option<FieldValidation>,
}

impl CreateOptions {
    pub fn from_query<S: AsRef<str>>(query: &Query<'_, S>) -> Result<Self, Status> {
        let (options, errors) = common(query);
        refuse(options, "CreateOptions", &errors)
    }

    /// The same for an update, which an error then names.
    pub fn from_update_query<S: AsRef<str>>(query: &Query<'_, S>) -> Result<Self, Status> {
        let (options, errors) = common(query);
        refuse(options, "UpdateOptions", &errors)
    }
}

impl PatchOptions {
    pub fn from_query<S: AsRef<str>>(query: &Query<'_, S>, apply: bool) -> Result<Self, Status> {
        let (options, wrong) = common(query);
        let options = Self {
            dry_run: options.dry_run,
            force: query.flag("force"),
            field_manager: options.field_manager,
            field_validation: options.field_validation,
        };
        let mut errors = Vec::new();
        if apply && options.field_manager.is_empty() {
            let path = Path::new("fieldManager");
            errors.push(Error::required(path, "is required for apply patch"));
        }
        if !apply && options.force.is_some() {
            let path = Path::new("force");
            errors.push(Error::forbidden(
                path,
                "may not be specified for non-apply patch",
            ));
        }
        errors.extend(wrong);
        refuse(options, "PatchOptions", &errors)
    }
}

fn common<S: AsRef<str>>(query: &Query<'_, S>) -> (CreateOptions, Vec<Error>) {
    let dry_run = query.texts("dryRun");
    let field_manager = query.text("fieldManager");
    let mut errors = validate_field_manager(&field_manager, &Path::new("fieldManager"));
    errors.extend(validate_dry_run(&dry_run));
    let field_validation = match query.first("fieldValidation").unwrap_or_default() {
        "" => None,
        "Ignore" => Some(FieldValidation::Ignore),
        "Warn" => Some(FieldValidation::Warn),
        "Strict" => Some(FieldValidation::Strict),
        other => {
            let path = Path::new("fieldValidation");
            let all = ["", "Ignore", "Strict", "Warn"];
            errors.push(Error::not_supported(path, other, all));
            None
        }
    };
    let options = CreateOptions {
        dry_run: !dry_run.is_empty(),
        field_manager,
        field_validation,
    };
    (options, errors)
}
