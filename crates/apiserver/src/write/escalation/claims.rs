//! The status of a `ResourceClaim` has several owners: who binds claims may allocate and reserve them, and each driver
//! may tell of its own devices (KEP-4817).

use std::collections::{BTreeMap, BTreeSet};

use auth::{Attributes, forbidden};
use json::Value;
use meta::field::Error;

use crate::handler::context::RequestContext;
use crate::state::Api;

const GROUP: &str = "resource.k8s.io";
const CLAIMS: &str = "resourceclaims";

pub(super) async fn check(
    api: &Api,
    ctx: &RequestContext<'_>,
    object: &Value,
    live: &Value,
) -> Vec<Error> {
    if ctx.info.subresource != "status" {
        return Vec::new();
    }
    let mut errors = Vec::new();
    errors.extend(bind(api, ctx, object, live).await);
    // Those of a claim that is given up are dropped by the server.
    if part(object, "allocation").is_some() {
        for driver in changed_drivers(object, live) {
            errors.extend(drive(api, ctx, object, driver).await);
        }
    }
    errors
}

fn part<'a>(claim: &'a Value, field: &str) -> Option<&'a Value> {
    claim.at(&["status", field]).filter(|it| !it.is_null())
}

fn list<'a>(claim: &'a Value, field: &str) -> &'a [Value] {
    part(claim, field)
        .and_then(Value::as_array)
        .map_or(&[], |it| it)
}

async fn bind(api: &Api, ctx: &RequestContext<'_>, object: &Value, live: &Value) -> Option<Error> {
    if part(object, "allocation") == part(live, "allocation")
        && list(object, "reservedFor") == list(live, "reservedFor")
    {
        return None;
    }
    let verb = ctx.info.verb.as_str();
    let asked = attributes(ctx, verb).subresource("binding");
    let refused = refused(api, asked).await?;
    Some(Error::forbidden(
        "status.allocation",
        format!(
            "changing status.allocation or status.reservedFor requires resource=\"resourceclaims/binding\", verb=\"{verb}\" permission: {refused}"
        ),
    ))
}

async fn drive(api: &Api, ctx: &RequestContext<'_>, object: &Value, driver: &str) -> Option<Error> {
    let verb = ctx.info.verb.as_str();
    let mut verbs = vec![format!("arbitrary-node:{verb}")];
    let own = ctx.user.token_node();
    if own.is_some() && own == node(object) {
        verbs.insert(0, format!("associated-node:{verb}"));
    }
    let mut first = None;
    for verb in &verbs {
        let asked = attributes(ctx, verb)
            .subresource("driver")
            .namespace(&ctx.info.namespace)
            .name(driver);
        let refused = refused(api, asked).await?;
        first.get_or_insert(refused);
    }
    Some(Error::forbidden(
        "status.devices",
        format!(
            "changing status.devices requires resource=\"resourceclaims/driver\", verb=\"[{}]\" permission: {}",
            verbs.join(" "),
            first.unwrap_or_default()
        ),
    ))
}

fn attributes<'a>(ctx: &'a RequestContext<'_>, verb: &'a str) -> Attributes<'a> {
    let asked = Attributes::resource(ctx.user, verb, GROUP, CLAIMS);
    asked.version(&ctx.resource.version)
}

/// The words of a refusal, unless it is allowed.
async fn refused(api: &Api, asked: Attributes<'_>) -> Option<String> {
    let decision = api.authorize(asked).await;
    (!decision.allowed()).then(|| forbidden::message(&asked, &decision.reason))
}

/// Drivers of devices that came, went or changed.
fn changed_drivers<'a>(object: &'a Value, live: &'a Value) -> BTreeSet<&'a str> {
    let text = |device: &'a Value, field| device.str_at(&[field]).unwrap_or_default();
    let by_key = |claim: &'a Value| -> BTreeMap<[&'a str; 4], &'a Value> {
        let devices = list(claim, "devices").iter();
        let key = |it| ["driver", "pool", "device", "shareID"].map(|field| text(it, field));
        devices.map(|it| (key(it), it)).collect()
    };
    let (now, before) = (by_key(object), by_key(live));
    let all = now.iter().chain(&before);
    let changed = all.filter(|(key, _)| now.get(*key) != before.get(*key));
    changed.map(|(key, _)| key[0]).collect()
}

/// The one node that a claim is allocated on.
fn node(claim: &Value) -> Option<&str> {
    let one = |value: &'_ Value| value.as_array().is_some_and(|it| it.len() == 1);
    let terms = claim.at(&["status", "allocation", "nodeSelector", "nodeSelectorTerms"]);
    let term = terms.filter(|it| one(it))?.as_array()?.first()?;
    let expressions = term.get("matchExpressions").and_then(Value::as_array);
    let fields = term.get("matchFields").filter(|it| one(it))?;
    let field = fields.as_array()?.first()?;
    let values = field.get("values").filter(|it| one(it))?;
    let is_name = field.str_at(&["key"]) == Some("metadata.name")
        && field.str_at(&["operator"]) == Some("In")
        && expressions.is_none_or(Vec::is_empty);
    values.as_array()?.first()?.as_str().filter(|_| is_name)
}
