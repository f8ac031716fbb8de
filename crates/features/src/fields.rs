//! Which API fields and enum values a gate guards.

use std::sync::LazyLock;

use crate::{Gate, Registry};

/// A field that counts only while its gate is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GatedField {
    /// The Go package and version of the type, as schema names have them: `core/v1`.
    pub package: &'static str,
    /// The type; `const` if `field` is a value of an enum.
    pub type_name: &'static str,
    /// The JSON name.
    pub field: &'static str,
    pub gate_name: &'static str,
    /// Nothing if Kubernetes has removed the gate: the field then always counts.
    pub gate: Option<Gate>,
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
    (package != "#").then(|| GatedField {
        package,
        type_name,
        field,
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
