//! An expression as one of an admission policy.

use anyhow::{Context as _, bail};
use cel::kubernetes::{
    self, AdmissionVariables, Mode, PER_CALL_LIMIT, TypeChecker, admission_environment,
    environment, type_checking_environment,
};
use cel::{Attributes, Authorizer, Limits, SizeHints};
use json::{Object, Value, json};
use meta::gvk::GroupVersionKind;

use super::eval::{Arguments, Decision};
use super::files::Files;
use super::report::{Outcome, Report, Result};

/// The minor version of Kubernetes whose expressions are spoken.
const MINOR: u32 = 37;

pub(super) fn report(arguments: &Arguments, files: &mut Files) -> anyhow::Result<Report> {
    let object = files.object(&arguments.object)?;
    let mut optional = |path: &Option<String>| match path {
        Some(path) => files.object(path).map(Some),
        None => Ok(None),
    };
    let (old, params) = (optional(&arguments.old)?, optional(&arguments.params)?);
    let kind = (arguments.kind.as_deref()).map(builtin_kind).transpose()?;
    let text = &arguments.expression;
    let mut report = Report::new(text, "admission");
    let has = AdmissionVariables {
        params: params.is_some(),
        authorizer: true,
        patch_types: false,
    };
    let env = admission_environment(environment(MINOR, Mode::New), has);
    let expression = match env.compile(text) {
        Ok(it) => it,
        Err(issues) => {
            report.outcome = Outcome::Uncompiled(issues.to_string());
            if params.is_none() && issues.iter().any(|it| it.message.contains("'params'")) {
                report.notes.push(
                    "params is there only with --params, as in a policy with a paramKind"
                        .to_owned(),
                );
            }
            return Ok(report);
        }
    };
    report.of(&expression);
    if let Some((kind, schema)) = &kind {
        let types = schema.types(&kind.to_string());
        let params = params.is_some().then_some(None);
        let base = environment(MINOR, Mode::Stored);
        let checker = TypeChecker::new(type_checking_environment(base, types, params), &[]);
        if let Err(issues) = checker.check(text) {
            report.warnings.push(format!("{kind}: {issues}"));
        }
    }
    let uses = |name: &str| expression.uses_variable(name);
    let uses_authorizer = uses("authorizer") || uses("authorizer.requestResource");
    if uses_authorizer && arguments.authorizer.is_none() {
        let note = "there is no authorizer here: give --authorizer=allow or --authorizer=deny";
        report.notes.push(note.to_owned());
    }
    if uses("request") {
        let note = "request is made of the object: userInfo and options are empty";
        report.notes.push(note.to_owned());
    }
    if uses("namespaceObject") {
        report.notes.push("namespaceObject is null".to_owned());
    }
    let hints = Hints(kind.as_ref().map(|it| &it.1));
    let mut parts = expression.parts(&hints);
    let program = match expression.program() {
        Ok(it) => it,
        Err(error) => {
            report.outcome = Outcome::Uncompiled(format!("program instantiation failed: {error}"));
            return Ok(report);
        }
    };
    let request = request(&object, old.is_some());
    let authorizer = arguments.authorizer.map(Always);
    let null = Value::Null;
    let variables = |name: &str| -> Option<cel::Value<'_>> {
        Some(match name {
            "object" => cel::Value::from_json(&object),
            "oldObject" => cel::Value::from_json(old.as_ref().unwrap_or(&null)),
            "params" => cel::Value::from_json(params.as_ref().unwrap_or(&null)),
            "request" => cel::Value::from_json(&request),
            "namespaceObject" => cel::Value::from_json(&null),
            "authorizer" => kubernetes::authorizer(authorizer.as_ref()?),
            "authorizer.requestResource" => {
                kubernetes::request_resource(authorizer.as_ref()?, Attributes::default())
            }
            _ => return None,
        })
    };
    let limits = Limits {
        cost: PER_CALL_LIMIT,
        interrupt: None,
    };
    let (found, cost, charges) = program.evaluate_parts(&variables, limits);
    parts.charge(&charges);
    report.outcome = Outcome::Evaluated(vec![Result::new("", &found, cost)]);
    report.parts = Some(parts);
    Ok(report)
}

/// A kind and the types of its fields, by a name such as `apps/v1/Deployment`.
fn builtin_kind(name: &str) -> anyhow::Result<(GroupVersionKind, cel::Schema)> {
    let Some((version, kind)) = name.rsplit_once('/') else {
        bail!(
            "--kind={name}: write VERSION/KIND or GROUP/VERSION/KIND, as v1/Pod or apps/v1/Deployment"
        );
    };
    let kind = GroupVersionKind::parse(version, kind)
        .map_err(|error| anyhow::anyhow!("--kind={name}: {error}"))?;
    let found = apiserver::builtin_document(&kind.group, &kind.version)
        .and_then(|document| resources::type_checking::schema_in(&document, &kind));
    let schema = found.with_context(|| {
        format!(
            "--kind={name}: there is no such built-in kind; for a custom resource give --schema"
        )
    })?;
    Ok((kind, cel::Schema::from_open_api(&schema, true)))
}

/// What a server would make of a request with this object.
fn request(object: &Value, is_update: bool) -> Value {
    let text = |path: &[&str]| object.str_at(path).unwrap_or_default();
    let parsed = GroupVersionKind::parse(text(&["apiVersion"]), text(&["kind"]));
    let kind = parsed.unwrap_or_else(|_| GroupVersionKind {
        group: String::new(),
        version: String::new(),
        kind: text(&["kind"]).into(),
    });
    let row = resources::builtin().kind(&kind.group, &kind.version, &kind.kind);
    let plural = row.map_or("", |it| &*it.plural);
    let shown =
        json!({"group": (&*kind.group), "version": (&*kind.version), "kind": (&*kind.kind)});
    let resource =
        json!({"group": (&*kind.group), "version": (&*kind.version), "resource": plural});
    let mut out = Object::new();
    for key in ["name", "namespace"] {
        let value = text(&["metadata", key]);
        if !value.is_empty() {
            out.insert(key, value);
        }
    }
    out.insert("kind", shown.clone());
    out.insert("resource", resource.clone());
    out.insert("requestKind", shown);
    out.insert("requestResource", resource);
    out.insert("operation", if is_update { "UPDATE" } else { "CREATE" });
    out.insert("userInfo", Object::new());
    out.insert("dryRun", false);
    out.insert("options", Object::new());
    out.into()
}

/// Decides all alike.
#[derive(Debug)]
struct Always(Decision);

impl Authorizer for Always {
    fn authorize(&self, _: &Attributes) -> cel::Decision {
        cel::Decision {
            allowed: self.0 == Decision::Allow,
            ..cel::Decision::default()
        }
    }
}

/// The sizes of the objects, if their kind is known.
struct Hints<'s>(Option<&'s cel::Schema>);

impl SizeHints for Hints<'_> {
    fn max_size(&self, path: &[std::sync::Arc<str>]) -> Option<u64> {
        match &**path.first()? {
            "object" | "oldObject" => self.0?.max_size(path),
            _ => None,
        }
    }
}
