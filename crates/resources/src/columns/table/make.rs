//! The pieces that columns are made of.

use crate::columns::Column;

pub(in crate::columns) const fn column(
    name: &'static str,
    kind: &'static str,
    priority: i32,
    description: &'static str,
) -> Column {
    Column {
        name,
        kind,
        format: "",
        priority,
        description,
    }
}

pub(in crate::columns) const fn text(name: &'static str, description: &'static str) -> Column {
    column(name, "string", 0, description)
}

pub(in crate::columns) const fn wide(name: &'static str, description: &'static str) -> Column {
    column(name, "string", 1, description)
}

pub(in crate::columns) const fn int(name: &'static str, description: &'static str) -> Column {
    column(name, "integer", 0, description)
}

pub(in crate::columns) const fn flag(name: &'static str, description: &'static str) -> Column {
    column(name, "boolean", 0, description)
}

pub(in crate::columns) const NAME: Column = Column {
    format: "name",
    ..text("Name", "Name of the object.")
};
pub(in crate::columns) const AGE: Column = text("Age", "Time since the object was created.");
pub(in crate::columns) const CREATED: Column =
    column("Created At", "date", 0, "When the object was created.");
pub(in crate::columns) const CONTAINERS: Column =
    wide("Containers", "Names of the template's containers.");
pub(in crate::columns) const IMAGES: Column =
    wide("Images", "Images of the template's containers.");
pub(in crate::columns) const SELECTOR: Column =
    wide("Selector", "Which pods belong to the object.");
pub(in crate::columns) const SIGNER: Column = text("SignerName", "Who is asked to sign.");

pub(in crate::columns) const DEFAULT: &[Column] = &[NAME, CREATED];
pub(in crate::columns) const PLAIN: &[Column] = &[NAME, AGE];
