//! Hot path. Names changed; whoever refers to one of them by an old name gets the new one.
//!
//! kustomize looks at all resources for each reference. Here, candidates are found by the name they once had.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::rc::Rc;

use json::Text;

use crate::config::Config;
use crate::error::{Error, Result};
use crate::fieldspec::Spec;
use crate::id::{Gvk, NOT_NAMESPACEABLE, ResId};
use crate::node::{Kind, Node};
use crate::resmap::ResMap;
use crate::resource::{Affixes, Resource};

pub(crate) fn fix(map: &mut ResMap, config: &Config) -> Result<()> {
    let index = Index::of(map);
    let filters: Vec<Filter> = config
        .name_reference
        .iter()
        .flat_map(|target| {
            let gvk = target.gvk();
            target.referrers.iter().map(move |spec| Filter {
                target: gvk.clone(),
                spec: spec.into(),
            })
        })
        .collect();
    let mut by_gvk: HashMap<Gvk, Rc<[usize]>> = HashMap::new();
    for at in 0..map.iter().len() {
        let original = index.all[at].original.gvk.clone();
        let fit = by_gvk.entry(original).or_insert_with_key(|gvk| {
            let fit = filters.iter().enumerate();
            fit.filter(|(_, it)| gvk.is_selected(&it.spec.gvk))
                .map(|(at, _)| at)
                .collect()
        });
        let fit = Rc::clone(fit);
        if fit.is_empty() {
            continue;
        }
        // The tree is taken out so that the others can be read while it changes.
        let empty = Resource::new(Node::plain(""));
        let mut referrer = std::mem::replace(&mut map.raw_list_mut()[at], empty);
        let scope = Scope::of(&referrer, &index.all[at].current)?;
        let outcome = fit.iter().try_for_each(|filter| {
            let filter = &filters[*filter];
            let run = Run {
                filter,
                scope: &scope,
                referrer_at: at,
                role: role_of(filter, &referrer.node),
                index: &index,
                map,
                affixes: &index.all[at].affixes,
            };
            run.apply(&mut referrer.node)
        });
        let outcome = outcome.map_err(|error| match error {
            Error::Ambiguous { before, after } => {
                let shown = referrer.to_yaml().unwrap_or_default();
                Error::new(format!("{before}{shown}{after}"))
            }
            error => error,
        });
        map.raw_list_mut()[at] = referrer;
        outcome?;
    }
    Ok(())
}

struct Filter {
    /// What is referred to.
    target: Gvk,
    spec: Spec,
}

/// What is known of a resource while references are fixed.
struct Known {
    current: ResId,
    original: ResId,
    previous: Vec<ResId>,
    cluster_scoped: bool,
    /// Of the current id.
    namespace: Text,
    affixes: Affixes,
}

struct Index {
    all: Vec<Known>,
    by_old_name: HashMap<Text, Vec<usize>>,
    /// The current namespaces of those that came from a namespace, as written and as it counts.
    by_original_namespace: HashMap<Text, HashSet<(Text, Text)>>,
}

impl Index {
    fn of(map: &ResMap) -> Self {
        let mut index = Self {
            all: Vec::with_capacity(map.iter().len()),
            by_old_name: HashMap::new(),
            by_original_namespace: HashMap::new(),
        };
        for (at, resource) in map.iter().enumerate() {
            let previous: Vec<ResId> = resource.previous_ids().collect();
            let current = resource.current_id();
            let original = previous.first().unwrap_or(&current).clone();
            for id in &previous {
                let known = index.by_old_name.entry(id.name.clone()).or_default();
                if known.last() != Some(&at) {
                    known.push(at);
                }
            }
            let namespace = current.effective_namespace();
            index
                .by_original_namespace
                .entry(original.effective_namespace())
                .or_default()
                .insert((current.namespace.clone(), namespace.clone()));
            index.all.push(Known {
                cluster_scoped: current.is_cluster_scoped(),
                affixes: resource.affixes(),
                namespace,
                current,
                original,
                previous,
            });
        }
        index
    }
}

/// Whom a resource may refer to at all.
struct Scope {
    cluster_scoped: bool,
    namespace: Text,
    /// Namespaces of the service accounts of a role binding.
    accounts: HashSet<Text>,
}

impl Scope {
    fn of(referrer: &Resource, id: &ResId) -> Result<Self> {
        let mut accounts = HashSet::new();
        if *id.gvk.kind == *"RoleBinding" && !id.is_cluster_scoped() {
            let subjects = referrer.node.get("subjects").map_or(&[][..], Node::items);
            for subject in subjects {
                let kind = subject.get("kind").map_or("", Node::value);
                if let Some(namespace) = subject.get("namespace")
                    && kind == "ServiceAccount"
                {
                    if namespace.kind() != Kind::Scalar || namespace.is_null() {
                        return Err(Error::new(format!(
                            "Invalid Input: namespace is blank for resource {:?}\n",
                            id.to_string()
                        )));
                    }
                    accounts.insert(namespace.raw().clone());
                }
            }
        }
        Ok(Self {
            cluster_scoped: id.is_cluster_scoped(),
            namespace: id.effective_namespace(),
            accounts,
        })
    }

    fn includes(&self, written: &Text, namespace: &Text) -> bool {
        self.cluster_scoped
            || **namespace == *NOT_NAMESPACEABLE
            || *namespace == self.namespace
            || self.accounts.contains(written)
    }
}

/// The group and kind that a role binding says it refers to.
fn role_of(filter: &Filter, referrer: &Node) -> Option<Gvk> {
    if !filter.spec.path.ends_with("roleRef/name") {
        return None;
    }
    let role = referrer.get("roleRef")?;
    Some(Gvk {
        group: role.get("apiGroup")?.raw().clone(),
        version: Text::new(),
        kind: role.get("kind")?.raw().clone(),
    })
}

struct Run<'a> {
    filter: &'a Filter,
    scope: &'a Scope,
    referrer_at: usize,
    role: Option<Gvk>,
    index: &'a Index,
    map: &'a ResMap,
    affixes: &'a Affixes,
}

impl Run<'_> {
    fn apply(&self, node: &mut Node) -> Result<()> {
        let spec = &self.filter.spec;
        spec.apply(node, None, &mut |field| self.set(field))
            .map_err(|error| {
                let id = &self.index.all[self.referrer_at].current;
                error.wrap(format!(
                    "updating name reference in '{}' field of '{id}'",
                    spec.path
                ))
            })
    }

    fn set(&self, field: &mut Node) -> Result<()> {
        if field.is_null() {
            return Ok(());
        }
        match field.kind() {
            Kind::Scalar => self.set_name(field),
            Kind::Map => self.set_object(field),
            Kind::Seq => {
                for item in field.items_mut() {
                    if item.is_null() {
                        continue;
                    }
                    match item.kind() {
                        Kind::Scalar => self.set_name(item)?,
                        Kind::Map => self.set_object(item)?,
                        Kind::Seq => {
                            return Err(Error::new(
                                "expected to be either a string or a map of string",
                            ));
                        }
                    }
                }
                Ok(())
            }
        }
    }

    fn set_name(&self, field: &mut Node) -> Result<()> {
        let Some(found) = self.referral(field.raw(), None, false)? else {
            return Ok(());
        };
        let name = &self.index.all[found].current.name;
        if name == field.raw() {
            return Ok(());
        }
        field.set_scalar(Node::plain(name.clone()))
    }

    /// A reference with a name and maybe a namespace.
    fn set_object(&self, field: &mut Node) -> Result<()> {
        let Some(name) = field.get("name") else {
            return Err(Error::new("path config error; no 'name' field in node"));
        };
        let namespace = field.get("namespace").map(Node::raw);
        let Some(found) = self.referral(name.raw(), namespace, true)? else {
            return Ok(());
        };
        let found = &self.index.all[found].current;
        if found.name == *name.raw() && found.namespace.is_empty() {
            return Ok(());
        }
        field.set_field("name", Node::plain(found.name.clone()))?;
        if found.namespace.is_empty() {
            return Ok(());
        }
        field.set_field("namespace", Node::plain(found.namespace.clone()))
    }

    /// Whom an old name means, if anyone. `with_namespace`: the namespace is part of the reference.
    fn referral(
        &self,
        old_name: &Text,
        namespace: Option<&Text>,
        with_namespace: bool,
    ) -> Result<Option<usize>> {
        let Some(named) = self.index.by_old_name.get(old_name) else {
            return Ok(None);
        };
        let by_original = namespace.is_none_or(|it| self.has_original_namespace(it));
        let mut found: Vec<usize> = named
            .iter()
            .copied()
            .filter(|at| self.may_be_meant(*at, namespace, by_original))
            .collect();
        if let [one] = found[..] {
            return Ok(Some(one));
        }
        let same =
            |at: &usize, allow_empty| self.index.all[*at].affixes.same(self.affixes, allow_empty);
        found.retain(|at| same(at, true));
        if found.len() > 1 {
            found.retain(|at| same(at, false));
        }
        let Some(first) = found.first() else {
            return Ok(None);
        };
        let id = |at: &usize| &self.index.all[*at].current;
        let identical = found.iter().all(|at| {
            id(at).name == id(first).name
                && (!with_namespace || id(at).namespace == id(first).namespace)
        });
        if identical {
            return Ok(Some(*first));
        }
        Err(self.ambiguous(&found))
    }

    fn has_original_namespace(&self, namespace: &Text) -> bool {
        let known = self.index.by_original_namespace.get(namespace);
        **namespace != *NOT_NAMESPACEABLE
            && known.is_some_and(|all| {
                all.iter()
                    .any(|(written, it)| self.scope.includes(written, it))
            })
    }

    fn may_be_meant(&self, at: usize, namespace: Option<&Text>, by_original: bool) -> bool {
        let known = &self.index.all[at];
        let selected = |gvk: &Gvk| known.previous.iter().any(|id| id.gvk.is_selected(gvk));
        if !self
            .scope
            .includes(&known.current.namespace, &known.namespace)
            || !selected(&self.filter.target)
            || !self.role.as_ref().is_none_or(selected)
        {
            return false;
        }
        if let Some(namespace) = namespace {
            let own = if by_original {
                known.original.effective_namespace()
            } else {
                known.namespace.clone()
            };
            if own != *namespace || **namespace == *NOT_NAMESPACEABLE {
                return false;
            }
        }
        self.scope.cluster_scoped
            || known.cluster_scoped
            || *known.current.gvk.kind == *"ServiceAccount"
            || known.namespace == self.scope.namespace
    }

    fn ambiguous(&self, found: &[usize]) -> Error {
        let ids: Vec<String> = found
            .iter()
            .map(|at| self.index.all[*at].current.to_string())
            .collect();
        let before = format!(
            "found multiple possible referrals: {}\n\n**** Too many possible referral targets to referrer:\n",
            ids.join(", ")
        );
        let mut after = String::from("\n");
        for (at, candidate) in found.iter().enumerate() {
            let shown = self.map.get(*candidate).to_yaml().unwrap_or_default();
            _ = writeln!(after, "--- possible referral {at}:\n{shown}");
        }
        Error::Ambiguous { before, after }
    }
}
