//! The pieces that columns are made of.

use crate::columns::Column;

pub(crate) const fn column(
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

pub(crate) const fn text(name: &'static str, description: &'static str) -> Column {
    column(name, "string", 0, description)
}

pub(crate) const fn wide(name: &'static str, description: &'static str) -> Column {
    column(name, "string", 1, description)
}

pub(crate) const fn int(name: &'static str, description: &'static str) -> Column {
    column(name, "integer", 0, description)
}

pub(crate) const fn flag(name: &'static str, description: &'static str) -> Column {
    column(name, "boolean", 0, description)
}

pub(crate) const NAME: Column = Column {
    format: "name",
    ..text("Name", "Name of the object.")
};
pub(crate) const AGE: Column = text("Age", "Time since the object was created.");
pub(crate) const CREATED: Column = column("Created At", "date", 0, "When the object was created.");
pub(crate) const CONTAINERS: Column = wide("Containers", "Names of the template's containers.");
pub(crate) const IMAGES: Column = wide("Images", "Images of the template's containers.");
pub(crate) const SELECTOR: Column = wide("Selector", "Which pods belong to the object.");
pub(crate) const SIGNER: Column = text("SignerName", "Who is asked to sign.");

pub(crate) const DEFAULT: &[Column] = &[NAME, CREATED];
pub(crate) const PLAIN: &[Column] = &[NAME, AGE];
