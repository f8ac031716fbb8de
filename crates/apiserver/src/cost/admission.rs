//! The admission plugins that send no requests.

use admission::storage::DefaultStorageClass;
use admission::{
    Admitting, ApplyError, BoxFuture, DefaultIngressClass, DefaultTolerationSeconds, Kinds,
    LimitRanger, Lookup, NamespaceLifecycle, NodeDeclaredFeatureValidator, Operation, Plugin,
    PodResizeValidator, PodSecurity, PodTopologyLabels, Priority, Request, RuntimeClass,
    TaintNodesByCondition,
};
use auth::User;
use json::{Value, json};
use meta::Status;
use meta::gvk::{GroupVersionKind, GroupVersionResource};
use resources::Resource;

pub(super) fn all(kind: &GroupVersionKind, resource: &Resource, object: Value) {
    let plugins: [Box<dyn Plugin>; 12] = [
        Box::new(NamespaceLifecycle),
        Box::new(LimitRanger),
        Box::new(TaintNodesByCondition),
        Box::new(PodSecurity),
        Box::new(Priority),
        Box::new(DefaultTolerationSeconds::default()),
        Box::new(DefaultStorageClass),
        Box::new(RuntimeClass),
        Box::new(DefaultIngressClass),
        Box::new(PodTopologyLabels),
        Box::new(NodeDeclaredFeatureValidator),
        Box::new(PodResizeValidator),
    ];
    let gvr = GroupVersionResource {
        group: resource.group.to_string(),
        version: resource.version.to_string(),
        resource: resource.plural.to_string(),
    };
    let (user, options) = (User::new("someone", &[]), json!({}));
    let old = object.clone();
    let mut admitting = Admitting::new(object);
    for operation in [Operation::Create, Operation::Update] {
        let request = Request {
            operation,
            kind,
            resource: &gvr,
            subresource: "",
            namespace: if resource.namespaced { "default" } else { "" },
            name: "a",
            user: &user,
            dry_run: false,
            options: &options,
            old: (operation == Operation::Update).then_some(&old),
            lookup: &Others,
            kinds: &Others,
            deadline: None,
        };
        for plugin in plugins.iter().filter(|it| it.handles(&request)) {
            drop(plugin.admit(&request, &mut admitting));
        }
        for plugin in plugins.iter().filter(|it| it.handles(&request)) {
            drop(plugin.validate(&request, &mut admitting));
        }
    }
}

/// A namespace with the strictest level and limits for all that can have some.
#[derive(Debug)]
pub(super) struct Others;

impl Lookup for Others {
    fn get(&self, _: &str, resource: &str, _: &str, name: &str) -> Option<Value> {
        (resource == "namespaces").then(|| {
            let level = "restricted";
            json!({"metadata": {"name": name, "labels": {
                "pod-security.kubernetes.io/enforce": level,
                "pod-security.kubernetes.io/audit": level,
                "pod-security.kubernetes.io/warn": level,
            }}})
        })
    }

    fn list(&self, _: &str, resource: &str, _: &str) -> Vec<Value> {
        if resource != "limitranges" {
            return Vec::new();
        }
        let limit = |kind: &str| {
            json!({
                "type": kind,
                "max": {"cpu": "1", "memory": "1Gi"},
                "min": {"cpu": "1m", "memory": "1Mi"},
                "default": {"cpu": "500m", "memory": "1Mi"},
                "defaultRequest": {"cpu": "100m", "memory": "1Mi"},
                "maxLimitRequestRatio": {"cpu": "2"},
            })
        };
        let limits: Value = ["Pod", "Container", "PersistentVolumeClaim"]
            .into_iter()
            .map(limit)
            .collect();
        vec![json!({"metadata": {"name": "l", "namespace": "default"}, "spec": {"limits": limits}})]
    }

    fn stamp(&self, _: &str, _: &str) -> u64 {
        1
    }

    fn versions(&self, _: &str, _: &str) -> Vec<(String, u64)> {
        Vec::new()
    }
}

impl Kinds for Others {
    fn is_namespaced(&self, _: &GroupVersionResource) -> bool {
        true
    }

    fn resource_for(&self, _: &GroupVersionKind) -> Option<GroupVersionResource> {
        None
    }

    fn written(&self, object: Value, _: &GroupVersionKind) -> Value {
        object
    }

    fn is_struct(&self, _: &GroupVersionKind) -> bool {
        true
    }

    fn equivalents(
        &self,
        _: &GroupVersionResource,
        _: &str,
    ) -> Vec<(GroupVersionResource, GroupVersionKind)> {
        Vec::new()
    }

    fn convert<'a>(
        &'a self,
        object: Value,
        _: &'a GroupVersionKind,
    ) -> BoxFuture<'a, Result<Value, Status>> {
        Box::pin(std::future::ready(Ok(object)))
    }

    fn apply_configuration(
        &self,
        object: Value,
        _: &Value,
        _: &GroupVersionKind,
    ) -> Result<Value, ApplyError> {
        Ok(object)
    }

    fn unknown_fields(&self, _: &Value, _: &GroupVersionKind) -> Vec<String> {
        Vec::new()
    }

    fn read(&self, object: Value, _: &GroupVersionKind) -> Result<Value, Status> {
        Ok(object)
    }
}
