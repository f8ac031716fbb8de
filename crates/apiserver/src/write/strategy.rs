//! Strategies of kinds: preparation and validation, by the crate `resources` for built-in kinds and by their definition for
//! custom ones.

use auth::pki::CertificateRequest;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use json::Value;
use merge::fieldpath::{Element, Filter, Matcher};
use meta::Status;
use meta::options::DeleteOptions;
use resources::prepare::ResetFields;
use resources::strategy::{Action, DeleteAnswer, GarbageCollection};
use resources::{prepare, validate};
use schema::Schema;
use schema::structural::{Budget, Outcome, rules_of};

use crate::catalog::object;
use crate::catalog::structural;
use crate::catalog::{Resource, ServedCatalog};
use crate::handler::context::RequestContext;
use crate::observe::metrics::Cel;
use crate::runtime::clock;
use crate::runtime::cpu_slots::CPU_SLOT_THRESHOLD;
use crate::runtime::random;
use crate::write::definition;
use crate::write::disabled;
use crate::write::unenforced;

/// A stored object, to be compared with what takes its place. What defaults add is no use of a field that is off.
pub(crate) fn complete(resource: &Resource, live: &mut Value) {
    if resource.custom.is_some() {
        return;
    }
    let stored = resource.gates.is_some().then(|| live.clone());
    prepare::stored(&resource.group, &resource.version, &resource.kind, live);
    disabled::drop_added(resource, live, stored.as_ref());
}

/// A kind that is about to go takes no new objects.
pub(crate) fn accepts_new(resource: &Resource, name: &str) -> Result<(), Status> {
    if !resource.custom.as_ref().is_some_and(|it| it.terminating) {
        return Ok(());
    }
    let why = "create not allowed while custom resource definition is terminating";
    Err(Status::forbidden(&resource.group_resource(), name, why))
}

fn has_status(resource: &Resource) -> bool {
    resource.subresource("status").is_some()
}

/// What is set and taken away before a new object is looked at; with warnings for its author.
pub(crate) fn prepare_create(
    ctx: &RequestContext<'_>,
    catalog: &ServedCatalog,
    object: &mut Value,
) -> Vec<String> {
    let resource = &ctx.resource;
    let (group, kind) = (&*resource.group, &*resource.kind);
    if resource.custom.is_some() {
        prepare::create_custom(object, has_status(resource));
        return Vec::new();
    }
    let (now, uid) = (clock::now(), random::uid());
    let extra = extra(ctx);
    let context = context(ctx, &extra, &now, &uid);
    // Said even if the object is then refused.
    let early = prepare::warnings::before_create(group, kind, object);
    ctx.warnings.add(early);
    prepare::create(group, &resource.version, kind, object, &context);
    if resource.strategy.action == Action::DefinesKind {
        definition::accept(&catalog.load(), object);
    }
    let mut warnings = prepare::warnings::on_create(group, kind, object);
    warnings.extend(unpaired(group, kind, object));
    warnings.extend(unenforced::warning(resource, object));
    warnings
}

/// A certificate whose key is another's, or none.
fn unpaired(group: &str, kind: &str, object: &Value) -> Option<String> {
    let (certificate, key) = prepare::warnings::key_pair(group, kind, object)?;
    let bytes = |text: &str| BASE64_STANDARD.decode(text).unwrap_or_default();
    let checked = auth::pki::check_pair(&bytes(certificate), &bytes(key));
    checked.err().map(|error| error.to_string())
}

pub(crate) fn prepare_update(
    ctx: &RequestContext<'_>,
    catalog: &ServedCatalog,
    object: &mut Value,
    live: &Value,
) -> Vec<String> {
    let resource = &ctx.resource;
    let (group, kind) = (&*resource.group, &*resource.kind);
    let subresource = subresource(ctx);
    if resource.custom.is_some() {
        prepare::update_custom(subresource, object, live, has_status(resource));
        return Vec::new();
    }
    let (now, uid) = (clock::now(), random::uid());
    let extra = extra(ctx);
    let context = context(ctx, &extra, &now, &uid);
    let version = &resource.version;
    prepare::update(group, version, kind, subresource, object, live, &context);
    if resource.strategy.action == Action::DefinesKind && subresource.is_empty() {
        definition::accept(&catalog.load(), object);
    }
    if !subresource.is_empty() {
        return Vec::new();
    }
    let mut warnings = prepare::warnings::on_update(group, kind, object, live);
    warnings.extend(unpaired(group, kind, object));
    warnings.extend(unenforced::warning(resource, object));
    warnings
}

/// A scale is written through its object, of which it is no part; so is a pod's binding.
fn subresource<'a>(ctx: &'a RequestContext<'_>) -> &'a str {
    match &*ctx.info.subresource {
        "scale" => "",
        other => other,
    }
}

fn extra(ctx: &RequestContext<'_>) -> Vec<(String, Vec<String>)> {
    let extra = ctx.user.extra.iter();
    extra
        .map(|(key, values)| (key.clone(), values.clone()))
        .collect()
}

fn context<'a>(
    ctx: &'a RequestContext<'_>,
    extra: &'a [(String, Vec<String>)],
    now: &'a str,
    uid: &'a str,
) -> prepare::Context<'a> {
    let user = ctx.user;
    prepare::Context {
        user: Some(prepare::User {
            name: &user.name,
            uid: &user.uid,
            groups: &user.groups,
            extra,
        }),
        now,
        uid,
    }
}

/// What the rules in CEL of a custom resource say, whatever else is wrong. Many objects take almost nothing; for those
/// that take more, and to compile rules, the request leaves the worker thread.
pub(crate) async fn rules(
    ctx: &RequestContext<'_>,
    metrics: &Cel,
    object: &Value,
    live: Option<&Value>,
) -> Result<Option<Outcome>, Status> {
    let custom = ctx.resource.custom.as_ref();
    let place = custom.and_then(|it| it.schema.as_ref()).map(Schema::place);
    let rules = place.and_then(|it| Some((it, rules_of(it)?)));
    let Some((place, rules)) = rules else {
        return Ok(None);
    };
    // As upstream: each place in a schema or an object is observed.
    let observed = |outcome: Option<Outcome>| {
        for took in outcome.iter().flat_map(|it| &it.times) {
            metrics.evaluation.observe(*took);
        }
        outcome
    };
    if rules.is_compiled() {
        let outcome = rules.evaluate(place, object, live, Budget::SMALL);
        if outcome.as_ref().is_none_or(|it| it.remaining >= 0) {
            return Ok(observed(outcome));
        }
    }
    ctx.acquire_cpu_slot(CPU_SLOT_THRESHOLD).await?;
    if !rules.is_compiled() {
        for took in rules.compile() {
            metrics.compilation.observe(*took);
        }
    }
    Ok(observed(rules.evaluate(
        place,
        object,
        live,
        Budget::default(),
    )))
}

pub(crate) fn validate_create(
    ctx: &RequestContext<'_>,
    object: &Value,
    rules: Option<Outcome>,
) -> Result<Vec<String>, Status> {
    let resource = &ctx.resource;
    let mut errors = if let Some(custom) = &resource.custom {
        structural::validate(resource, custom, object, None)
    } else {
        let (group, version, kind) = (&resource.group, &resource.version, &resource.kind);
        validate::create_with(group, version, kind, object, options(resource))
    };
    if let Some(rules) = rules {
        rules.add_to(&mut errors);
    }
    errors.retain(|it| !disabled::is_missed(resource, it));
    errors.extend(disabled::validate(resource, object, None));
    if resource.strategy.action == Action::HoldsCertificate {
        errors.extend(signing_request(object));
    }
    definitions(ctx, object, None, &mut errors);
    refuse(resource, object, &errors)?;
    let custom = resource.custom.as_ref();
    Ok(custom.map_or(Vec::new(), |_| structural::finalizer_warnings(object, None)))
}

pub(crate) fn validate_update(
    ctx: &RequestContext<'_>,
    object: &Value,
    live: &Value,
    rules: Option<Outcome>,
) -> Result<Vec<String>, Status> {
    let resource = &ctx.resource;
    let (group, version, kind) = (&resource.group, &resource.version, &resource.kind);
    let mut errors = match (&resource.custom, subresource(ctx)) {
        (Some(custom), "status") => structural::validate_status(custom, object, live),
        (Some(custom), _) => structural::validate(resource, custom, object, Some(live)),
        (None, "") => validate::update_with(group, version, kind, object, live, options(resource)),
        (None, "status") => validate::update_status(group, version, kind, object, live),
        (None, sub) => validate::update_subresource(group, version, kind, sub, object, live),
    };
    if let Some(rules) = rules {
        // A refusal has them as well.
        ctx.warnings.add(rules.add_to(&mut errors));
    }
    errors.retain(|it| !disabled::is_missed(resource, it));
    errors.extend(disabled::validate(resource, object, Some(live)));
    if resource.strategy.action == Action::HoldsCertificate {
        errors.extend(certificate(object, live));
    }
    definitions(ctx, object, Some(live), &mut errors);
    if resource.strategy.action == Action::DefinesKind {
        errors.extend(definition::validate_bundle(object, live));
    }
    refuse(resource, object, &errors)?;
    let custom = resource.custom.as_ref();
    Ok(custom.map_or(Vec::new(), |_| {
        structural::finalizer_warnings(object, Some(live))
    }))
}

/// What feature gates allow beyond the default.
fn options(resource: &Resource) -> validate::Options {
    let is_on = |gate| resource.gates.as_ref().is_none_or(|it| it.is_on(gate));
    validate::Options {
        stateful_set_recreate: is_on("StatefulSetRecreateStrategy"),
    }
}

/// `spec.request` must be a certificate request. That it is missing is reported by validation.
fn signing_request(object: &Value) -> Option<meta::field::Error> {
    let encoded = object.str_at(&["spec", "request"])?;
    let decoded = BASE64_STANDARD.decode(encoded).ok()?;
    if decoded.is_empty() {
        return None;
    }
    let error = CertificateRequest::from_pem(&decoded).err()?;
    let why = error.to_string();
    Some(meta::field::Error::invalid("spec.request", encoded, why))
}

/// What a signer writes must be certificates.
fn certificate(object: &Value, live: &Value) -> Option<meta::field::Error> {
    let path = ["status", "certificate"];
    let encoded = object.str_at(&path).filter(|it| !it.is_empty())?;
    if live.str_at(&path) == Some(encoded) {
        return None;
    }
    let decoded = BASE64_STANDARD.decode(encoded).ok()?;
    let why = auth::pki::check_chain(&decoded).err()?;
    let (path, shown) = ("status.certificate", "<certificate data>");
    Some(meta::field::Error::invalid(path, shown, why))
}

fn definitions(
    ctx: &RequestContext<'_>,
    object: &Value,
    live: Option<&Value>,
    errors: &mut Vec<meta::field::Error>,
) {
    let resource = &ctx.resource;
    if resource.strategy.action == Action::DefinesKind && subresource(ctx).is_empty() {
        errors.extend(schema::structural::check_definition(object, live));
    }
}

fn refuse(
    resource: &Resource,
    object: &Value,
    errors: &[meta::field::Error],
) -> Result<(), Status> {
    if errors.is_empty() {
        return Ok(());
    }
    let mut kind = resource.group_kind();
    if let Some(group) = resource.strategy.error_group {
        group.clone_into(&mut kind.group);
    }
    Err(Status::invalid(&kind, object::name(object), errors))
}

/// An object that was waiting for its last finalizer, and has none any more.
pub(crate) fn is_finished(resource: &Resource, object: &Value) -> bool {
    if !object::is_being_deleted(object) || !object::finalizers(object).is_empty() {
        return false;
    }
    let grace = object
        .at(&["metadata", "deletionGracePeriodSeconds"])
        .and_then(Value::as_i64);
    grace.unwrap_or(0) == 0 && !is_held(resource, object)
}

/// Some kinds have finalizers in their spec as well.
pub(crate) fn is_held(resource: &Resource, object: &Value) -> bool {
    if !resource.strategy.deletion.spec_finalizers {
        return false;
    }
    let finalizers = object.at(&["spec", "finalizers"]).and_then(Value::as_array);
    finalizers.is_some_and(|it| !it.is_empty())
}

/// What a first deletion has to wait for.
pub(crate) fn finalizer_on_delete(resource: &Resource, live: &Value) -> Option<Value> {
    let finalizer = resource.strategy.deletion.finalizer?;
    let waits = !object::is_being_deleted(live) && !meta::object::has_finalizer(live, finalizer);
    waits.then(|| finalizer.into())
}

pub(crate) fn mark_deleting(resource: &Resource, object: &mut Value) {
    if resource.strategy.action == Action::DefinesKind {
        definition::terminate(object);
    }
    resource.strategy.deletion.mark(object);
}

/// Seconds that the object lives on after its deletion; `None` where that is not known.
pub(crate) fn grace_period(
    resource: &Resource,
    options: &DeleteOptions,
    live: &Value,
) -> Option<i64> {
    let asked = options.grace_period_seconds;
    resource.strategy.deletion.grace_period(live, asked)
}

pub(crate) fn orphans_by_default(resource: &Resource) -> bool {
    resource.strategy.deletion.dependents == GarbageCollection::Orphan
}

pub(crate) fn returns_deleted(resource: &Resource) -> bool {
    resource.strategy.deletion.answer != DeleteAnswer::Status
}

pub(crate) fn allows_unconditional_update(resource: &Resource) -> bool {
    resource.strategy.allow_unconditional_update
}

pub(crate) fn allows_create_on_update(resource: &Resource) -> bool {
    resource.strategy.allow_create_on_update
}

/// The fields that no manager owns through this subresource.
pub(crate) fn reset_fields(resource: &Resource, subresource: &str) -> Option<Filter> {
    let set = |paths: &[&[&'static str]]| {
        let paths = paths.iter().map(|path| path.iter().copied().collect());
        Some(Filter::Exclude(paths.collect()))
    };
    if resource.custom.is_some() {
        return match subresource {
            "status" => set(&[&["spec"], &["metadata"]]),
            _ if has_status(resource) => set(&[&["status"]]),
            _ => None,
        };
    }
    match prepare::reset_fields(&resource.group, &resource.kind, subresource) {
        ResetFields::Paths([]) => None,
        ResetFields::Paths(paths) => set(paths),
        ResetFields::AllBut(paths) => {
            let element = |part: &&'static str| (*part != "*").then(|| Element::field(part));
            let patterns = paths
                .iter()
                .map(|path| Matcher::prefix(path.iter().map(element).collect()));
            patterns.reduce(Matcher::or).map(Filter::Include)
        }
    }
}
