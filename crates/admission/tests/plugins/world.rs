//! A request, the objects around it, and what a plugin makes of it.

use admission::{
    Admitting, ApplyError, BoxFuture, Kinds, Lookup, Operation, Outcome, Plugin, Request,
};
use auth::{Answer, Attributes, Authorizer, Decision, User};
use json::Value;
use meta::Status;
use meta::gvk::{GroupVersionKind, GroupVersionResource};

/// Objects, each with `group/resource`.
#[derive(Debug, Default)]
pub(crate) struct World(pub(crate) Vec<(&'static str, Value)>);

impl Lookup for World {
    fn get(&self, group: &str, resource: &str, namespace: &str, name: &str) -> Option<Value> {
        let mut all = self.list(group, resource, namespace).into_iter();
        all.find(|it| meta::object::name(it) == name && meta::object::namespace(it) == namespace)
    }

    fn list(&self, group: &str, resource: &str, namespace: &str) -> Vec<Value> {
        let key = format!("{group}/{resource}");
        let all = self.0.iter().filter(|(it, _)| *it == key);
        let all = all.map(|(_, object)| object.clone());
        all.filter(|it| namespace.is_empty() || meta::object::namespace(it) == namespace)
            .collect()
    }

    fn stamp(&self, _: &str, _: &str) -> u64 {
        unreachable!("only policies and webhooks ask")
    }

    fn versions(&self, _: &str, _: &str) -> Vec<(String, u64)> {
        unreachable!("only policies and webhooks ask")
    }
}

/// Built-in plugins take objects as they are.
#[derive(Debug)]
struct NoKinds;

impl Kinds for NoKinds {
    fn is_namespaced(&self, _: &GroupVersionResource) -> bool {
        unreachable!("only policies and webhooks ask")
    }

    fn resource_for(&self, _: &GroupVersionKind) -> Option<GroupVersionResource> {
        unreachable!("only policies and webhooks ask")
    }

    fn written(&self, _: Value, _: &GroupVersionKind) -> Value {
        unreachable!("only policies and webhooks ask")
    }

    fn is_struct(&self, _: &GroupVersionKind) -> bool {
        unreachable!("only policies and webhooks ask")
    }

    fn equivalents(
        &self,
        _: &GroupVersionResource,
        _: &str,
    ) -> Vec<(GroupVersionResource, GroupVersionKind)> {
        unreachable!("only policies and webhooks ask")
    }

    fn convert<'a>(
        &'a self,
        _: Value,
        _: &'a GroupVersionKind,
    ) -> BoxFuture<'a, Result<Value, Status>> {
        unreachable!("only policies and webhooks ask")
    }

    fn apply_configuration(
        &self,
        _: Value,
        _: &Value,
        _: &GroupVersionKind,
    ) -> Result<Value, ApplyError> {
        unreachable!("only policies and webhooks ask")
    }

    fn unknown_fields(&self, _: &Value, _: &GroupVersionKind) -> Vec<String> {
        unreachable!("only policies and webhooks ask")
    }

    fn read(&self, _: Value, _: &GroupVersionKind) -> Result<Value, Status> {
        unreachable!("only policies and webhooks ask")
    }
}

/// Allows a verb on a resource, or on one name of it: `verb resource name`.
#[derive(Debug)]
pub(crate) struct Allows(pub(crate) &'static [&'static str]);

impl Authorizer for Allows {
    fn authorize<'a>(&'a self, attributes: Attributes<'a>) -> Answer<'a> {
        let Attributes {
            verb,
            resource,
            name,
            ..
        } = attributes;
        let asked = format!("{verb} {resource} {name}");
        if self.0.contains(&asked.as_str()) {
            Decision::allow("").into()
        } else {
            Decision::no_opinion("").into()
        }
    }
}

/// What is asked for. The object decides about its name.
pub(crate) struct Case<'a> {
    pub(crate) plugin: &'a dyn Plugin,
    pub(crate) world: World,
    pub(crate) operation: Operation,
    /// `group/resource` or `group/resource/subresource`.
    pub(crate) resource: &'a str,
    pub(crate) kind: &'a str,
    pub(crate) namespace: &'a str,
    pub(crate) name: &'a str,
    pub(crate) user: User,
    pub(crate) old: Option<Value>,
}

impl<'a> Case<'a> {
    /// A create in the namespace `shop`.
    pub(crate) fn create(plugin: &'a dyn Plugin, resource: &'a str) -> Self {
        Self {
            plugin,
            world: World::default(),
            operation: Operation::Create,
            resource,
            kind: "Pod",
            namespace: "shop",
            name: "",
            user: User::new("jane", &["developers"]),
            old: None,
        }
    }

    pub(crate) fn update(plugin: &'a dyn Plugin, resource: &'a str, old: Value) -> Self {
        Self {
            operation: Operation::Update,
            old: Some(old),
            ..Self::create(plugin, resource)
        }
    }

    pub(crate) fn with(mut self, resource: &'static str, object: Value) -> Self {
        self.world.0.push((resource, object));
        self
    }

    pub(crate) fn handles(&self) -> bool {
        self.ask(|request| self.plugin.handles(request))
    }

    /// Both phases, as the chain runs them: a plugin that does not handle the request is not asked.
    pub(crate) fn run(&self, object: &Value) -> Result<Admitting, Status> {
        self.ask(|request| {
            let mut admitting = Admitting::new(object.clone());
            if self.plugin.handles(request) {
                settle(self.plugin.admit(request, &mut admitting))?;
                settle(self.plugin.validate(request, &mut admitting))?;
            }
            Ok(admitting)
        })
    }

    #[track_caller]
    pub(crate) fn ok(&self, object: &Value) -> Value {
        match self.run(object) {
            Ok(admitting) => admitting.object,
            Err(status) => panic!("refused: {}", status.message),
        }
    }

    /// Admitted as it is.
    #[track_caller]
    pub(crate) fn same(&self, object: &Value) {
        assert_eq!(self.ok(object), *object);
    }

    #[track_caller]
    pub(crate) fn err(&self, object: &Value) -> String {
        match self.run(object) {
            Ok(admitting) => panic!("admitted: {}", json::to_string(&admitting.object)),
            Err(status) => status.message.clone(),
        }
    }

    fn ask<T>(&self, run: impl FnOnce(&Request<'_>) -> T) -> T {
        let mut parts = self.resource.split('/');
        let mut part = || parts.next().unwrap_or_default();
        let (group, resource, subresource) = (part(), part(), part());
        let request = Request {
            operation: self.operation,
            kind: &GroupVersionKind::new(group, "v1", self.kind),
            resource: &GroupVersionResource::new(group, "v1", resource),
            subresource,
            namespace: self.namespace,
            name: self.name,
            user: &self.user,
            dry_run: false,
            options: &Value::Null,
            old: self.old.as_ref(),
            lookup: &self.world,
            kinds: &NoKinds,
            deadline: None,
        };
        run(&request)
    }
}

fn settle(outcome: Outcome<'_>) -> Result<(), Status> {
    match outcome {
        Outcome::Nothing => Ok(()),
        Outcome::Now(result) => result,
        Outcome::Later(result) => {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(1)
                .enable_time()
                .build()
                .expect("a runtime");
            runtime.block_on(result)
        }
    }
}
