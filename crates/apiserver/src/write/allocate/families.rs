//! Which families of addresses a Service has. This server has addresses of IPv4.

use json::{Value, json};
use meta::Status;
use meta::field::Error;

use super::extra_writes::text;
use crate::catalog::Resource;
use crate::catalog::object;

const FAMILY: &str = "IPv4";
const POLICY: &str = "spec.ipFamilyPolicy";

/// Fills in what a Service leaves open, or refuses what it cannot have here: upstream's order and words.
pub(super) fn init(
    resource: &Resource,
    live: Option<&Value>,
    object: &mut Value,
) -> Result<(), Status> {
    if text(object, &["spec", "type"]) == "ExternalName" || is_as_preferred(live, object) {
        return Ok(());
    }
    let (headless, selects) = (
        text(object, &["spec", "clusterIP"]) == "None",
        object
            .at(&["spec", "selector"])
            .and_then(Value::as_object)
            .is_some_and(|it| !it.is_empty()),
    );
    if text(object, &["spec", "ipFamilyPolicy"]).is_empty() {
        let before = live.map_or("", |it| text(it, &["spec", "ipFamilyPolicy"]));
        let policy = match before {
            "" if headless && !selects => "RequireDualStack",
            "" => "SingleStack",
            before => before,
        };
        set(object, "ipFamilyPolicy", policy.into());
    }
    let refuse = |object: &Value, errors: &[Error]| {
        let name = object::name(object);
        Err(Status::invalid(&resource.group_kind(), name, errors))
    };
    let errors = resources::validate::service_ips(object, live);
    if !errors.is_empty() {
        return refuse(object, &errors);
    }
    let errors = settle(live, object);
    if !errors.is_empty() {
        return refuse(object, &errors);
    }
    if headless && !selects {
        // Nothing is allocated, so it may have families that this server has not.
        let single = text(object, &["spec", "ipFamilyPolicy"]) == "SingleStack";
        let families = match &*list(object, "ipFamilies") {
            [] if single => json!([FAMILY]),
            [] => json!([FAMILY, "IPv6"]),
            [one] if !single && one == FAMILY => json!([FAMILY, "IPv6"]),
            [_] if !single => json!(["IPv6", FAMILY]),
            _ => return Ok(()),
        };
        set(object, "ipFamilies", families);
        return Ok(());
    }
    let errors = missing(object);
    if !errors.is_empty() {
        return refuse(object, &errors);
    }
    if list(object, "ipFamilies").is_empty() {
        set(object, "ipFamilies", json!([FAMILY]));
    }
    Ok(())
}

/// A Service that prefers two families stays with what it has, whatever the server could give.
fn is_as_preferred(live: Option<&Value>, object: &Value) -> bool {
    const PREFER: &str = "PreferDualStack";
    let Some(live) = live else {
        return false;
    };
    let of = |it, field| text(it, &["spec", field]).to_owned();
    let kind = of(object, "type");
    matches!(&*kind, "ClusterIP" | "NodePort" | "LoadBalancer")
        && of(live, "type") == kind
        && of(object, "ipFamilyPolicy") == PREFER
        && matches!(&*of(live, "ipFamilyPolicy"), "" | PREFER)
        && ["clusterIPs", "ipFamilies"]
            .iter()
            .all(|field| list(live, field) == list(object, field))
}

/// Makes policy, addresses and families fit each other.
fn settle(live: Option<&Value>, object: &mut Value) -> Vec<Error> {
    let mut errors = Vec::new();
    let policy = text(object, &["spec", "ipFamilyPolicy"]).to_owned();
    let single = policy == "SingleStack";
    let mut invalid = |why: &str| errors.push(Error::invalid(POLICY, &*policy, why));
    let fields = [
        ("clusterIPs", "cluster IP", "cluster IPs"),
        ("ipFamilies", "IP family", "IP families"),
    ];
    for (field, one, _) in fields {
        let (now, before) = (
            list(object, field),
            live.map(|it| list(it, field)).unwrap_or_default(),
        );
        if single && live.is_some() && now == before && now.len() > 1 {
            // To want one is to give up the other.
            set(object, field, json!([(now[0].clone())]));
        } else if !single && !now.is_empty() && now.len() < before.len() {
            invalid(&format!(
                "must be 'SingleStack' to release the secondary {one}"
            ));
        }
    }
    for (field, _, several) in fields {
        if single && list(object, field).len() == 2 {
            invalid(&format!(
                "must be 'RequireDualStack' or 'PreferDualStack' when multiple {several} are specified"
            ));
        }
    }
    let (ips, mut families) = (list(object, "clusterIPs"), list(object, "ipFamilies"));
    for (index, ip) in ips.iter().enumerate().skip(families.len()) {
        if ip == "None" {
            break;
        }
        if ip.contains(':') {
            let all: Value = ips.iter().collect();
            let path = format!("spec.clusterIPs[{index}]");
            let why = "IPv6 is not configured on this cluster";
            errors.push(Error::invalid(path, all, why));
        } else {
            families.push(FAMILY.to_owned());
        }
    }
    if !families.is_empty() {
        set(object, "ipFamilies", families.iter().collect());
    }
    errors
}

/// What is asked for and not here.
fn missing(object: &Value) -> Vec<Error> {
    let mut errors = Vec::new();
    let policy = text(object, &["spec", "ipFamilyPolicy"]);
    if policy == "RequireDualStack" {
        let why = "this cluster is not configured for dual-stack services";
        errors.push(Error::invalid(POLICY, policy, why));
    }
    for (index, family) in list(object, "ipFamilies").iter().enumerate() {
        if family != FAMILY {
            let path = format!("spec.ipFamilies[{index}]");
            let why = "not configured on this cluster";
            errors.push(Error::invalid(path, &**family, why));
        }
    }
    errors
}

fn list(object: &Value, field: &str) -> Vec<String> {
    let all = object.at(&["spec", field]).and_then(Value::as_array);
    let all = all.into_iter().flatten().filter_map(Value::as_str);
    all.map(str::to_owned).collect()
}

fn set(object: &mut Value, field: &str, value: Value) {
    if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) {
        spec.insert(field, value);
    }
}
