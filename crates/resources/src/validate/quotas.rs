//! Limit ranges and resource quotas.

use std::collections::{HashMap, HashSet};

use meta::field::Error;
use meta::quantity::Quantity;

use super::errors::Errors;
use super::field::Field;
use super::object_meta::{self, Named};
use super::pod::resources::{container_resource_name, quantity_value, resource_name};
use super::quota_names::{is_standard_for_quota, overcommit_allowed};
use super::seen::Seen;
use super::words::quantity;

pub(crate) mod limits {
    //! `LimitRange`

    use super::{
        Errors, Field, Named, Quantity, Seen, container_resource_name, object_meta,
        overcommit_allowed, quantity, resource_name,
    };

    pub(crate) fn create(e: &mut Errors, it: &Field) {
        object_meta::create(e, it, Named::SUBDOMAIN);
        let all = it.children(&["spec", "limits"]);
        let mut seen = Seen::default();
        for limit in all.items() {
            let kind = limit.child("type");
            let before = e.len();
            e.qualified_name(&kind);
            let standard = ["Pod", "Container", "PersistentVolumeClaim"];
            if e.len() == before && !kind.str().contains('/') && !standard.contains(&kind.str()) {
                e.invalid(&kind, "must be a standard limit type or fully qualified");
            }
            if limit.value.get("type").is_some() && !seen.insert(limit.text("type")) {
                e.duplicate(&kind);
            }
            limit_of(e, &limit, kind.str());
        }
    }

    pub(crate) fn update(e: &mut Errors, new: &Field, _: &Field) {
        create(e, new);
    }

    fn names(e: &mut Errors, list: &Field, kind: &str) {
        for (name, at) in list.entries() {
            if matches!(kind, "Pod" | "Container") {
                container_resource_name(e, &at, name);
            } else {
                resource_name(e, &at, name);
            }
        }
    }

    fn limit_of(e: &mut Errors, it: &Field, kind: &str) {
        let (max, min) = (it.child("max"), it.child("min"));
        let (default, request) = (it.child("default"), it.child("defaultRequest"));
        let ratio = it.child("maxLimitRequestRatio");
        names(e, &max, kind);
        names(e, &min, kind);
        if kind == "Pod" {
            for list in [&default, &request] {
                if !list.is_empty() {
                    e.forbidden(list, "may not be specified when `type` is 'Pod'");
                }
            }
        } else {
            names(e, &default, kind);
            names(e, &request, kind);
        }
        if kind == "PersistentVolumeClaim" && !min.has("storage") && !max.has("storage") {
            let text =
                "either minimum or maximum storage value is required, but neither was provided";
            e.required(&it.child("limits"), text);
        }
        names(e, &ratio, kind);
        let (mut keys, mut seen) = (Vec::new(), Seen::default());
        let own: &[&Field] = if kind == "Pod" {
            &[]
        } else {
            &[&default, &request]
        };
        for list in [&max, &min, &ratio].iter().chain(own) {
            for (key, _) in list.pairs() {
                if seen.insert(key) {
                    keys.push(key);
                }
            }
        }
        for key in keys {
            compare(e, &[max, min, default, request, ratio], key, kind == "Pod");
        }
    }

    fn compare(
        e: &mut Errors,
        [max, min, default, request, ratio]: &[Field; 5],
        key: &str,
        pod: bool,
    ) {
        let read = |list: &Field| quantity(&list.entry(key));
        let (top, low, factor) = (read(max), read(min), read(ratio));
        let (limit, ask) = if pod {
            (None, None)
        } else {
            (read(default), read(request))
        };
        let mut greater = |a: &Option<Quantity>,
                           b: &Option<Quantity>,
                           at: &Field,
                           shown: &Option<Quantity>,
                           why: [&str; 2]| {
            if let (Some(a), Some(b), Some(shown)) = (a, b, shown)
                && a > b
            {
                let why = format!("{} value {a} is greater than {} value {b}", why[0], why[1]);
                e.invalid_value(&at.entry(key), shown.to_string(), &why);
            }
        };
        greater(&low, &top, min, &low, ["min", "max"]);
        greater(&low, &ask, request, &ask, ["min", "default request"]);
        greater(&ask, &top, request, &ask, ["default request", "max"]);
        greater(
            &ask,
            &limit,
            request,
            &ask,
            ["default request", "default limit"],
        );
        greater(&low, &limit, default, &low, ["min", "default"]);
        greater(&limit, &top, default, &top, ["default", "max"]);
        if let Some(factor) = &factor {
            let at = ratio.entry(key);
            if factor.as_f64() < 1.0 {
                e.invalid_value(
                    &at,
                    factor.to_string(),
                    &format!("ratio {factor} is less than 1"),
                );
            }
            if let (Some(low), Some(top)) = (&low, &top) {
                let most = top.as_f64() / low.as_f64();
                if factor.as_f64() > most {
                    let why = format!("ratio {factor} is greater than max/min = {most:.6}");
                    e.invalid_value(&at, factor.to_string(), &why);
                }
            }
        }
        if let (Some(limit), Some(ask)) = (&limit, &ask)
            && !overcommit_allowed(key)
            && limit != ask
        {
            let why =
                format!("default value {limit} must equal to defaultRequest value {ask} in {key}");
            e.invalid_value(&request.entry(key), ask.to_string(), &why);
        }
    }
}

fn quota_resource(e: &mut Errors, list: &Field) {
    for (name, at) in list.entries() {
        resource_name(e, &at, name);
        if !name.contains('/') && !is_standard_for_quota(name) {
            e.invalid_value(&at, name, "must be a standard resource for quota");
        }
        quantity_value(e, &at, name);
    }
}

pub(crate) fn create(e: &mut Errors, it: &Field) {
    object_meta::create(e, it, Named::SUBDOMAIN);
    spec(e, &it.child("spec"));
    let status = it.child("status");
    quota_resource(e, &status.child("hard"));
    quota_resource(e, &status.child("used"));
}

pub(crate) fn update(e: &mut Errors, new: &Field, old: &Field) {
    object_meta::update(e, new, old);
    let it = new.child("spec");
    spec(e, &it);
    let (scopes, had) = (it.child("scopes"), old.children(&["spec", "scopes"]));
    let set =
        |all: &Field<'_>| -> HashSet<String> { all.list().iter().map(json::to_string).collect() };
    if set(&scopes) != set(&had) {
        e.invalid_value(&scopes, scopes.value.clone(), super::words::IMMUTABLE);
    }
}

pub(crate) fn update_status(e: &mut Errors, new: &Field, old: &Field) {
    object_meta::update(e, new, old);
    if new.child("metadata").text("resourceVersion").is_empty() {
        e.required(&new.child("resourceVersion"), "");
    }
    let status = new.child("status");
    quota_resource(e, &status.child("hard"));
    quota_resource(e, &status.child("used"));
}

const SCOPES: &[&str] = &[
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "VolumeAttributesClass",
    "CrossNamespacePodAffinity",
];
const POD_COMPUTE: &[&str] = &[
    "pods",
    "cpu",
    "memory",
    "limits.cpu",
    "limits.memory",
    "requests.cpu",
    "requests.memory",
];

fn scope_fits(scope: &str, resource: &str) -> bool {
    match scope {
        "Terminating"
        | "NotTerminating"
        | "NotBestEffort"
        | "PriorityClass"
        | "CrossNamespacePodAffinity" => POD_COMPUTE.contains(&resource),
        "BestEffort" => resource == "pods",
        "VolumeAttributesClass" => {
            matches!(resource, "persistentvolumeclaims" | "requests.storage")
        }
        _ => true,
    }
}

fn spec(e: &mut Errors, it: &Field) {
    let (hard, scopes) = (it.child("hard"), it.child("scopes"));
    quota_resource(e, &hard);
    let mut counted: HashMap<&str, usize> = HashMap::new();
    let mut unfit = |scope: &str| {
        let Some(scope) = SCOPES.iter().find(|it| **it == scope) else {
            return 0;
        };
        *counted.entry(scope).or_insert_with(|| {
            hard.pairs()
                .filter(|(name, _)| is_standard_for_quota(name) && !scope_fits(scope, name))
                .count()
        })
    };
    let conflicts = |has: &dyn Fn(&str) -> bool| {
        usize::from(has("BestEffort") && has("NotBestEffort"))
            + usize::from(has("Terminating") && has("NotTerminating"))
    };
    for scope in scopes.texts() {
        if !SCOPES.contains(&scope) {
            e.invalid(&scopes, "unsupported scope");
        }
        for _ in 0..unfit(scope) {
            if e.is_full() {
                break;
            }
            e.invalid(&scopes, "unsupported scope applied to resource");
        }
    }
    for _ in 0..conflicts(&|scope| scopes.texts().any(|it| it == scope)) {
        e.invalid(&scopes, "conflicting scopes");
    }
    let selector = it.child("scopeSelector");
    let all = selector.child("matchExpressions");
    for requirement in all.list() {
        let requirement = all.with(requirement);
        let (scope, operator) = (
            requirement.child("scopeName"),
            requirement.child("operator"),
        );
        if !SCOPES.contains(&scope.str()) {
            e.invalid(&scope, "unsupported scope");
        }
        for _ in 0..unfit(scope.str()) {
            if e.is_full() {
                break;
            }
            e.invalid(
                &all.with(selector.value),
                "unsupported scope applied to resource",
            );
        }
        let plain = !matches!(scope.str(), "PriorityClass" | "VolumeAttributesClass")
            && SCOPES.contains(&scope.str());
        if plain && operator.str() != "Exists" {
            let text = "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
            e.invalid(&operator, text);
        }
        let values = requirement.child("values");
        match operator.str() {
            "In" | "NotIn" if values.is_empty() => {
                let text = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
                e.required(&values, text);
            }
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                let text = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
                e.invalid(&values, text);
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            _ => e.invalid(&operator, "not a valid selector operator"),
        }
    }
    let has = |scope: &str| {
        all.list()
            .iter()
            .any(|it| it.str_at(&["scopeName"]) == Some(scope))
    };
    for _ in 0..conflicts(&has) {
        e.push(Error::invalid(
            all.path,
            scopes.value.clone(),
            "conflicting scopes",
        ));
    }
}
