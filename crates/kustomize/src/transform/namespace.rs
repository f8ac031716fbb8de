//! Namespaces, also of subjects in role bindings.

use std::collections::HashMap;

use crate::error::{Error, Result, Wrap as _};
use crate::fieldspec::{Make, Spec};
use crate::id::{Gvk, ResId};
use crate::node::{Kind, Node, Tag};
use crate::resmap::ResMap;
use crate::resource::{HELM_GENERATED, Resource};
use crate::schema::Schema;
use crate::transform::Transformer;
use crate::types::FieldSpec;

/// Which subjects of role bindings move too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Subjects {
    #[default]
    DefaultOnly,
    AllServiceAccounts,
    None,
}

impl Subjects {
    pub(crate) fn read(text: &str) -> Result<Self> {
        Ok(match text {
            "" | "defaultOnly" => Self::DefaultOnly,
            "allServiceAccounts" => Self::AllServiceAccounts,
            "none" => Self::None,
            other => {
                return Err(Error::new(format!(
                    "invalid value {other:?} for setRoleBindingSubjects: must be one of \"defaultOnly\", \"none\" or \"allServiceAccounts\""
                )));
            }
        })
    }
}

pub(crate) struct Namespace {
    name: String,
    specs: Vec<Spec>,
    unset_only: bool,
    subjects: Subjects,
    meta: Spec,
}

const MAKE: Option<Make> = Some(Make {
    kind: Kind::Scalar,
    tag: Tag::Str,
});

impl Namespace {
    pub(crate) fn new(
        namespace: &str,
        specs: &[FieldSpec],
        unset_only: bool,
        subjects: Subjects,
    ) -> Self {
        Self {
            name: namespace.to_owned(),
            specs: specs.iter().map(Spec::from).collect(),
            unset_only,
            subjects,
            meta: Spec::from(&FieldSpec {
                path: "metadata/namespace".into(),
                create: true,
                ..FieldSpec::default()
            }),
        }
    }

    fn set(&self, node: &mut Node) -> Result<()> {
        let is_set = !node.is_empty() && node.kind() == Kind::Scalar && !node.value().is_empty();
        if self.unset_only && is_set {
            return Ok(());
        }
        node.set_scalar(Node::tagged(Tag::Str, self.name.as_str()))
    }

    pub(crate) fn apply(&self, node: &mut Node) -> Result<()> {
        let gvk = Gvk::of(node);
        let core = gvk.group.is_empty() && *gvk.version == *"v1";
        if !gvk.is_cluster_scoped() {
            self.meta.apply(node, MAKE, &mut |node| self.set(node))?;
        }
        let is_binding = |kind: &str| matches!(kind, "RoleBinding" | "ClusterRoleBinding");
        let binding = is_binding(&gvk.kind);
        if binding {
            self.set_subjects(node)?;
        }
        for spec in &self.specs {
            let unneeded = spec.path == "metadata/namespace"
                || spec.path == "metadata/name" && !core
                || binding && is_binding(&spec.gvk.kind) && spec.path == "subjects/namespace";
            if unneeded || !gvk.is_selected(&spec.gvk) {
                continue;
            }
            spec.apply(node, MAKE, &mut |node| self.set(node))
                .map_err(|error| {
                    let what = match error.cause() {
                        Error::NotScalar(_) => "namespace field specs must target scalar nodes",
                        _ => "namespace transformation failed",
                    };
                    error.wrap(what)
                })?;
        }
        Ok(())
    }

    fn set_subjects(&self, node: &mut Node) -> Result<()> {
        let (field, wanted) = match self.subjects {
            Subjects::None => return Ok(()),
            Subjects::DefaultOnly => ("name", "default"),
            Subjects::AllServiceAccounts => ("kind", "ServiceAccount"),
        };
        let Some(subjects) = node.get_mut("subjects").filter(|it| !it.is_null()) else {
            return Ok(());
        };
        subjects.expect(Kind::Seq)?;
        for subject in subjects.items_mut() {
            let found = subject.field(field)?;
            if found.is_some_and(|it| !it.is_null() && it.value() == wanted) {
                let place = subject.field_or_create("namespace", || Node::plain(""))?;
                self.set(place)
                    .wrap("setting namespace on (cluster)role binding subjects")?;
            }
        }
        Ok(())
    }
}

impl Transformer for Namespace {
    fn transform(&mut self, map: &mut ResMap, _: &Schema) -> Result<()> {
        if self.name.is_empty() {
            return Ok(());
        }
        let list = map.list_mut();
        let mut ids: HashMap<ResId, u32> = HashMap::with_capacity(list.len());
        for resource in list.iter() {
            *ids.entry(resource.current_id().key()).or_default() += 1;
        }
        for at in 0..list.len() {
            let resource = &mut list[at];
            let helm = resource.node.annotation(HELM_GENERATED);
            if resource.node.is_empty() || helm.is_some_and(|it| **it == *"true") {
                continue;
            }
            if let Some(count) = ids.get_mut(&resource.current_id().key()) {
                *count -= 1;
            }
            resource.store_previous_id()?;
            self.apply(&mut resource.node)?;
            let id = resource.current_id().key();
            let count = ids.entry(id.clone()).or_default();
            *count += 1;
            if *count != 1 {
                return Err(conflict(list, &id));
            }
        }
        Ok(())
    }
}

fn conflict(list: &[Resource], id: &ResId) -> Error {
    let same = list.iter().filter(|it| it.current_id().key() == *id);
    let shown: Vec<String> = same
        .map(|it| it.to_json().unwrap_or_else(|error| format!("<{error}>")))
        .collect();
    Error::new(format!(
        "namespace transformation produces ID conflict: [{}]",
        shown.join(" ")
    ))
}
