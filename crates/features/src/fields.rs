//! Which API fields and enum values a gate guards.

use std::sync::LazyLock;

use crate::{Gate, Registry};

/// A field, or a value of an enum, that counts only while its gate is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GatedField {
    /// The Go package and version of the type, as schema names have them: `core/v1`.
    pub package: &'static str,
    pub type_name: &'static str,
    /// The JSON name of the field; the value if `type_name` is an enum.
    pub field: &'static str,
    /// Whether this is a value of an enum.
    pub is_value: bool,
    pub rule: Rule,
    pub gate_name: &'static str,
    /// Nothing if Kubernetes has removed the gate: the field then always counts.
    pub gate: Option<Gate>,
}

/// What becomes of a field while its gate is off. Whatever the rule, a stored object keeps what it uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The field is dropped, unless the stored object uses any field of the same gate.
    Gate,
    /// The field is dropped, unless the stored object has this very field.
    Field,
    /// The object that has the field is dropped as a whole, unless the stored object has that object already.
    Holder,
    /// As [`Rule::Gate`]; the object that has the field is dropped too if nothing is left in it.
    Member,
    /// The field is refused, unless the stored object uses any field of the same gate.
    Forbidden,
}

/// All fields of Kubernetes' API types that a gate guards.
pub fn fields() -> &'static [GatedField] {
    static FIELDS: LazyLock<Vec<GatedField>> = LazyLock::new(|| {
        let lines = include_str!("../tables/fields.txt").lines();
        lines.filter_map(parse).collect()
    });
    &FIELDS
}

fn parse(line: &'static str) -> Option<GatedField> {
    let mut words = line.split(' ');
    let (package, type_name) = (words.next()?, words.next()?);
    let (field, gate_name) = (words.next()?, words.next()?);
    let rule = match words.next() {
        Some("field") => Rule::Field,
        Some("holder") => Rule::Holder,
        Some("member") => Rule::Member,
        Some("forbidden") => Rule::Forbidden,
        _ => Rule::Gate,
    };
    (package != "#").then(|| GatedField {
        package,
        type_name,
        field: field.trim_start_matches('='),
        is_value: field.starts_with('='),
        rule,
        gate_name,
        gate: Registry::kubernetes().find(gate_name),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate;

    #[test]
    fn every_row_is_read() {
        let rows = include_str!("../tables/fields.txt").lines();
        let rows = rows.filter(|it| !it.starts_with('#')).count();
        assert_eq!(fields().len(), rows);
        let mut all = fields().iter();
        let max_unavailable =
            all.find(|it| it.package == "apps/v1" && it.field == "maxUnavailable");
        assert_eq!(
            max_unavailable.and_then(|it| it.gate),
            Some(gate!("MaxUnavailableStatefulSet"))
        );
    }

    #[test]
    fn gates_that_are_gone_are_known() {
        let gone = fields().iter().filter(|it| it.gate.is_none());
        let mut gone: Vec<&str> = gone.map(|it| it.gate_name).collect();
        gone.sort_unstable();
        let known = [
            "CSIStorageCapacity",
            "PodCertificateProjection",
            "TopologyAwareHints",
        ];
        assert_eq!(gone, known);
    }
}
