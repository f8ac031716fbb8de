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
use super::manifests::StaticPolicies;
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
///
/// Those from files come first.
#[derive(Debug)]
pub(crate) struct Policies<E> {
    all: Vec<Bound<E>>,
    index: Index,
    /// How many are from files.
    from_files: usize,
}

impl<E> Policies<E> {
    fn new(all: Vec<Bound<E>>, from_files: usize) -> Self {
        let mut index = Index::default();
        for (number, bound) in all.iter().enumerate() {
            match &bound.definition.constraints {
                Ok(constraints) => {
                    let mut rules = constraints.rules().peekable();
                    if rules.peek().is_some() {
                        index.add(number, rules);
                    } else {
                        index.add_always(number);
                    }
                }
                Err(_) => index.add_always(number),
            }
        }
        Self {
            all,
            index,
            from_files,
        }
    }

    /// Those that may mean a request.
    pub(crate) fn candidates(&self, request: &Request<'_>) -> Vec<usize> {
        let mut found = self.index.candidates(request);
        if super::is_exempt_from_api(request) {
            found.retain(|it| *it < self.from_files);
        }
        found
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
    manifests: Arc<StaticPolicies>,
    state: Mutex<State<E>>,
}

#[derive(Debug)]
struct State<E> {
    stamps: (u64, u64, u64),
    from_files: Vec<Bound<E>>,
    definitions: BTreeMap<String, (u64, Arc<Definition<E>>)>,
    bindings: BTreeMap<String, (u64, Arc<Binding>)>,
    current: Arc<Policies<E>>,
}

impl<E> Source<E> {
    pub(crate) fn new(
        policies: &'static str,
        bindings: &'static str,
        manifests: Arc<StaticPolicies>,
    ) -> Self {
        let current = Policies {
            all: Vec::new(),
            index: Index::default(),
            from_files: 0,
        };
        Self {
            policies,
            bindings,
            manifests,
            state: Mutex::new(State {
                stamps: (0, 0, 0),
                from_files: Vec::new(),
                definitions: BTreeMap::new(),
                bindings: BTreeMap::new(),
                current: Arc::new(current),
            }),
        }
    }

    /// Whether there is any bound policy for the request.
    pub(crate) fn is_empty_for(&self, request: &Request<'_>) -> bool {
        if crate::matching::is_review(request) {
            return true;
        }
        let has_files = self.manifests.current().0 != 0;
        let lookup = request.lookup;
        !has_files
            && (super::is_exempt_from_api(request)
                || lookup.stamp(GROUP, self.policies) == 0
                || lookup.stamp(GROUP, self.bindings) == 0)
    }

    /// As they are now.
    pub(crate) fn get(&self, lookup: &dyn Lookup) -> Result<Arc<Policies<E>>, Unreadable> {
        let stamps = (
            lookup.stamp(GROUP, self.policies),
            lookup.stamp(GROUP, self.bindings),
            self.manifests.current().0,
        );
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.stamps != stamps {
            let state = &mut *state;
            super::blocking(|| state.refresh(self, lookup))?;
            state.stamps = stamps;
        }
        Ok(state.current.clone())
    }
}

impl<E> State<E> {
    fn refresh(&mut self, source: &Source<E>, lookup: &dyn Lookup) -> Result<(), Unreadable> {
        let policies = source.policies;
        refresh(&mut self.definitions, lookup, policies, Definition::new)?;
        refresh(&mut self.bindings, lookup, source.bindings, Binding::new)?;
        let (version, manifests) = source.manifests.current();
        if self.stamps.2 != version {
            let named = |it: &Value| meta::object::name(it).to_owned();
            let policies = manifests.policies.iter();
            let policies = policies.map(|it| (named(it), (0, Arc::new(Definition::new(it)))));
            let bindings = manifests.bindings.iter();
            let bindings = bindings.map(|it| (named(it), (0, Arc::new(Binding::new(it)))));
            self.from_files = bind(&policies.collect(), &bindings.collect());
        }
        let mut all: Vec<Bound<E>> = self.from_files.iter().map(Bound::share).collect();
        let from_files = all.len();
        all.extend(bind(&self.definitions, &self.bindings));
        self.current = Arc::new(Policies::new(all, from_files));
        Ok(())
    }
}

/// A policy or binding is stored and cannot be read: whether requests are allowed is not known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unreadable;

impl Unreadable {
    /// As upstream answers while its informers cannot list all policies.
    pub(crate) fn refusal(request: &Request<'_>, object: &Value) -> meta::Status {
        request.forbidden(object, "not yet ready to handle request")
    }
}

/// Reads what has changed.
fn refresh<T>(
    known: &mut BTreeMap<String, (u64, Arc<T>)>,
    lookup: &dyn Lookup,
    resource: &str,
    read: impl Fn(&Value) -> T,
) -> Result<(), Unreadable> {
    let mut before = std::mem::take(known);
    let mut missing = Vec::new();
    for (name, version) in lookup.versions(GROUP, resource) {
        if let Some(kept) = before.remove(&name)
            && kept.0 == version
        {
            known.insert(name, kept);
        } else if let Some(object) = lookup.get(GROUP, resource, "", &name) {
            known.insert(name, (version, Arc::new(read(&object))));
        } else {
            missing.push((name, version));
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    // What was deleted or changed in this moment is read when the stamp is looked at next.
    let now = lookup.versions(GROUP, resource);
    let mut unreadable = missing.iter().filter(|it| now.contains(it)).peekable();
    if unreadable.peek().is_none() {
        return Ok(());
    }
    for (name, _) in unreadable {
        let fields = [
            ("resource", Field::Text(resource)),
            ("name", Field::Text(name)),
        ];
        logs::error(
            &SERVER,
            "Admission policy object cannot be read: requests are refused until it is deleted or replaced",
            &fields,
        );
    }
    Err(Unreadable)
}

fn bind<E>(
    definitions: &BTreeMap<String, (u64, Arc<Definition<E>>)>,
    bindings: &BTreeMap<String, (u64, Arc<Binding>)>,
) -> Vec<Bound<E>> {
    let mut by_policy: HashMap<&str, Vec<Arc<Binding>>> = HashMap::new();
    for (_, binding) in bindings.values() {
        let of = by_policy.entry(&binding.policy).or_default();
        of.push(binding.clone());
    }
    let bound = definitions.iter().filter_map(|(name, (_, definition))| {
        let bindings = by_policy.remove(name.as_str())?;
        Some(Bound {
            definition: definition.clone(),
            bindings,
        })
    });
    bound.collect()
}

impl<E> Bound<E> {
    fn share(&self) -> Self {
        Self {
            definition: self.definition.clone(),
            bindings: self.bindings.clone(),
        }
    }
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
