//! The policies and bindings of one kind: read when they change, compiled when a request first needs them, and kept
//! until they change.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use json::Value;
use meta::gvk::GroupVersionResource;
use telemetry::logs::{self, Field, SERVER};

use super::GROUP;
use super::constraints::{Constraints, Matched};
use super::index::Index;
use super::params::{self, ParamKind, ParamRef};
use crate::read::{items, text};
use crate::{Lookup, Request};

/// A policy that took longer than this when it was last evaluated leaves its worker thread to others.
const SLOW: Duration = Duration::from_millis(1);

/// A policy, without its bindings.
#[derive(Debug)]
pub(crate) struct Definition<E> {
    pub name: String,
    pub constraints: Result<Constraints, String>,
    pub param_kind: Option<Result<ParamKind, String>>,
    /// `failurePolicy`
    pub failure_policy: FailurePolicy,
    spec: Value,
    compiled: OnceLock<E>,
    is_slow: AtomicBool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FailurePolicy {
    Fail,
    Ignore,
    Unknown(String),
}

#[derive(Debug)]
pub(crate) struct Binding {
    pub name: String,
    pub policy: String,
    pub constraints: Option<Result<Constraints, String>>,
    pub param_ref: Option<ParamRef>,
    /// `validationActions`
    pub actions: Vec<String>,
}

/// A policy with all its bindings, of which there is at least one.
#[derive(Debug)]
pub(crate) struct Bound<E> {
    pub definition: Arc<Definition<E>>,
    pub bindings: Vec<Arc<Binding>>,
}

/// All bound policies, in the order of their names.
#[derive(Debug)]
pub(crate) struct Policies<E> {
    all: Vec<Bound<E>>,
    index: Index,
}

impl<E> Policies<E> {
    /// Those that may mean a request.
    pub(crate) fn candidates(&self, request: &Request<'_>) -> Vec<usize> {
        self.index.candidates(request)
    }

    pub(crate) fn get(&self, number: usize) -> &Bound<E> {
        &self.all[number]
    }
}

/// What a policy is evaluated with.
#[derive(Debug)]
pub(crate) struct Meant<'a> {
    pub matched: Matched,
    /// The kind of parameters, and the resource it is served as.
    pub params: Option<(&'a ParamKind, GroupVersionResource)>,
}

impl<E> Definition<E> {
    /// Whether a request is meant.
    pub(crate) fn matches<'a>(
        &'a self,
        request: &Request<'_>,
        object: &Value,
    ) -> Result<Option<Meant<'a>>, String> {
        let constraints = self.constraints.as_ref().map_err(Clone::clone)?;
        let Some(matched) = constraints.matches(request, object)? else {
            return Ok(None);
        };
        let params = match &self.param_kind {
            None => None,
            Some(Err(why)) => return Err(why.clone()),
            Some(Ok(kind)) => Some((kind, kind.resource(request)?)),
        };
        Ok(Some(Meant { matched, params }))
    }
}

impl Binding {
    /// Whether a request that the policy means is meant here, too.
    pub(crate) fn matches(&self, request: &Request<'_>, object: &Value) -> Result<bool, String> {
        match &self.constraints {
            None => Ok(true),
            Some(Ok(it)) => it.matches(request, object).map(|it| it.is_some()),
            Some(Err(why)) => Err(why.clone()),
        }
    }

    /// The parameters of a request.
    pub(crate) async fn params(
        &self,
        meant: &Meant<'_>,
        request: &Request<'_>,
    ) -> Result<Vec<Value>, String> {
        let kind = meant.params.as_ref().map(|(kind, it)| (*kind, it));
        params::collect(kind, self.param_ref.as_ref(), request).await
    }
}

#[derive(Debug)]
pub(crate) struct Source<E> {
    policies: &'static str,
    bindings: &'static str,
    state: Mutex<State<E>>,
}

#[derive(Debug)]
struct State<E> {
    stamps: (u64, u64),
    definitions: BTreeMap<String, (u64, Arc<Definition<E>>)>,
    bindings: BTreeMap<String, (u64, Arc<Binding>)>,
    current: Arc<Policies<E>>,
}

impl<E> Source<E> {
    pub(crate) fn new(policies: &'static str, bindings: &'static str) -> Self {
        let current = Policies {
            all: Vec::new(),
            index: Index::default(),
        };
        Self {
            policies,
            bindings,
            state: Mutex::new(State {
                stamps: (0, 0),
                definitions: BTreeMap::new(),
                bindings: BTreeMap::new(),
                current: Arc::new(current),
            }),
        }
    }

    /// Whether there is any bound policy.
    pub(crate) fn is_empty(&self, lookup: &dyn Lookup) -> bool {
        lookup.stamp(GROUP, self.policies) == 0 || lookup.stamp(GROUP, self.bindings) == 0
    }

    /// As they are now.
    pub(crate) fn get(&self, lookup: &dyn Lookup) -> Arc<Policies<E>> {
        let stamps = (
            lookup.stamp(GROUP, self.policies),
            lookup.stamp(GROUP, self.bindings),
        );
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.stamps != stamps {
            let state = &mut *state;
            super::blocking(|| state.refresh(self, lookup));
            state.stamps = stamps;
        }
        state.current.clone()
    }
}

impl<E> State<E> {
    fn refresh(&mut self, source: &Source<E>, lookup: &dyn Lookup) {
        let policies = source.policies;
        refresh(&mut self.definitions, lookup, policies, Definition::new);
        refresh(&mut self.bindings, lookup, source.bindings, Binding::new);
        self.current = Arc::new(bind(&self.definitions, &self.bindings));
    }
}

/// Reads what has changed.
fn refresh<T>(
    known: &mut BTreeMap<String, (u64, Arc<T>)>,
    lookup: &dyn Lookup,
    resource: &str,
    read: impl Fn(&Value) -> T,
) {
    let mut before = std::mem::take(known);
    for (name, version) in lookup.versions(GROUP, resource) {
        if let Some(kept) = before.remove(&name)
            && kept.0 == version
        {
            known.insert(name, kept);
        } else if let Some(object) = lookup.get(GROUP, resource, "", &name) {
            known.insert(name, (version, Arc::new(read(&object))));
        } else {
            // Deleted in this moment, or not to be read: then it must not be missing in silence.
            let fields = [
                ("resource", Field::Text(resource)),
                ("name", Field::Text(&name)),
            ];
            logs::warning(&SERVER, "Admission policy object not found", &fields);
        }
    }
}

fn bind<E>(
    definitions: &BTreeMap<String, (u64, Arc<Definition<E>>)>,
    bindings: &BTreeMap<String, (u64, Arc<Binding>)>,
) -> Policies<E> {
    let mut by_policy: HashMap<&str, Vec<Arc<Binding>>> = HashMap::new();
    for (_, binding) in bindings.values() {
        let of = by_policy.entry(&binding.policy).or_default();
        of.push(binding.clone());
    }
    let mut all = Vec::new();
    let mut index = Index::default();
    for (name, (_, definition)) in definitions {
        let Some(bindings) = by_policy.remove(name.as_str()) else {
            continue;
        };
        match &definition.constraints {
            Ok(constraints) => {
                let mut rules = constraints.rules().peekable();
                if rules.peek().is_some() {
                    index.add(all.len(), rules);
                } else {
                    index.add_always(all.len());
                }
            }
            Err(_) => index.add_always(all.len()),
        }
        all.push(Bound {
            definition: definition.clone(),
            bindings,
        });
    }
    Policies { all, index }
}

impl<E> Definition<E> {
    pub(crate) fn new(object: &Value) -> Self {
        let spec = object.get("spec").cloned().unwrap_or_default();
        let constraints = spec.get("matchConstraints").filter(|it| !it.is_null());
        let constraints = match constraints {
            Some(it) => Constraints::new(it),
            None => Err("policy contained no match constraints, a required field".to_owned()),
        };
        Self {
            name: meta::object::name(object).to_owned(),
            constraints,
            param_kind: ParamKind::new(&spec),
            failure_policy: match text(&spec, &["failurePolicy"]) {
                "" | "Fail" => FailurePolicy::Fail,
                "Ignore" => FailurePolicy::Ignore,
                other => FailurePolicy::Unknown(other.to_owned()),
            },
            spec,
            compiled: OnceLock::new(),
            // Until it is known to be fast.
            is_slow: AtomicBool::new(true),
        }
    }

    /// Works with the compiled policy. Whatever takes long lets another thread take over what this worker would have
    /// done next.
    pub(crate) fn evaluate<T>(
        &self,
        compile: impl Fn(&Value) -> E,
        work: impl FnOnce(&E) -> T,
    ) -> T {
        let compiled = match self.compiled.get() {
            Some(compiled) => compiled,
            None => super::blocking(|| self.compiled.get_or_init(|| compile(&self.spec))),
        };
        let started = std::time::Instant::now();
        let done = if self.is_slow.load(Ordering::Relaxed) {
            super::blocking(|| work(compiled))
        } else {
            work(compiled)
        };
        let is_slow = started.elapsed() > SLOW;
        if self.is_slow.load(Ordering::Relaxed) != is_slow {
            self.is_slow.store(is_slow, Ordering::Relaxed);
        }
        done
    }
}

impl Binding {
    pub(crate) fn new(object: &Value) -> Self {
        let spec = object.get("spec").unwrap_or(&Value::Null);
        let constraints = spec.get("matchResources").filter(|it| !it.is_null());
        let actions = items(spec, &["validationActions"]).iter();
        let actions = actions.filter_map(Value::as_str).map(str::to_owned);
        Self {
            name: meta::object::name(object).to_owned(),
            policy: text(spec, &["policyName"]).to_owned(),
            constraints: constraints.map(Constraints::new),
            param_ref: ParamRef::new(spec),
            actions: actions.collect(),
        }
    }
}
