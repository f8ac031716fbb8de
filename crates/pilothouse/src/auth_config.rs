//! `--authentication-config` and `--authorization-config`: read and validated as kube-apiserver does, expressions in CEL
//! included. What this server cannot do is refused, never left out in silence.

mod authentication;
mod authorization;

use std::path::Path;

use anyhow::anyhow;
use auth::authorizer::Mode;
use cel::kubernetes::{Mode as Expressions, environment};
use cel::{Env, Expression, Type};
use config::Document;
use json::Value;
use meta::field::{self, Error};

/// The minor version of Kubernetes whose expressions are spoken.
const MINOR: u32 = 37;

/// Whether requests without credentials are taken, if the file says so.
pub(crate) fn authentication(path: &Path, issuers: &[String]) -> anyhow::Result<Option<bool>> {
    let value = document(
        path,
        "--authentication-config",
        "AuthenticationConfiguration",
        &["jwt", "anonymous"],
    )?;
    refuse(&authentication::validate(&value, issuers))?;
    authentication::use_of(&value)
        .map_err(|why| anyhow!("--authentication-config {}: {why}", path.display()))
}

/// The authorizers, in order.
pub(crate) fn authorization(path: &Path) -> anyhow::Result<Vec<Mode>> {
    let value = document(
        path,
        "--authorization-config",
        "AuthorizationConfiguration",
        &["authorizers"],
    )?;
    refuse(&authorization::validate(&value))?;
    authorization::use_of(&value)
        .map_err(|why| anyhow!("--authorization-config {}: {why}", path.display()))
}

/// What a file of a kind says. Unknown fields of the whole are errors; those below are looked at by kind.
fn document(path: &Path, flag: &str, kind: &str, known: &[&str]) -> anyhow::Result<Value> {
    let shown = path.display();
    let failed = |why: String| anyhow!("{flag} {shown}: {why}");
    let text = config::read(path).map_err(|why| failed(why.clone()))?;
    let mut document = Document::parse(&text).map_err(|why| failed(why.to_string()))?;
    let versions = ["v1", "v1beta1", "v1alpha1"].map(|it| format!("apiserver.config.k8s.io/{it}"));
    let versions: Vec<&str> = versions.iter().map(|it| &**it).collect();
    document
        .expect(&versions, &[kind])
        .map_err(|why| failed(why.to_string()))?;
    let mut value = json::Object::new();
    {
        let fields = document.fields(known);
        for name in known {
            if let Some(it) = fields.value(name) {
                value.insert(*name, it.clone());
            }
        }
    }
    document.finish().map_err(|why| failed(why.to_string()))?;
    Ok(value.into())
}

fn refuse(errors: &[Error]) -> anyhow::Result<()> {
    if errors.is_empty() {
        return Ok(());
    }
    Err(anyhow!(field::aggregate(errors)))
}

/// An object of a file with the fields that it may have, and where it is.
struct Part<'a> {
    value: &'a Value,
    path: String,
}

impl<'a> Part<'a> {
    /// Names unknown fields.
    fn new(value: &'a Value, path: String, known: &[&str], errors: &mut Vec<Error>) -> Self {
        match value {
            Value::Object(fields) => {
                for (name, _) in fields.iter().filter(|it| !known.contains(&&**it.0)) {
                    let at = format!("{path}.{name}");
                    errors.push(Error::invalid(at, Value::Null, "unknown field"));
                }
            }
            Value::Null => {}
            other => errors.push(Error::type_invalid(
                &path,
                other.clone(),
                "must be an object",
            )),
        }
        Self { value, path }
    }

    fn at(&self, name: &str) -> String {
        format!("{}.{name}", self.path)
    }

    fn text(&self, name: &str) -> &'a str {
        self.value.str_at(&[name]).unwrap_or_default()
    }

    /// An object below.
    fn child(&self, name: &str, known: &[&str], errors: &mut Vec<Error>) -> Self {
        let value = self.value.get(name).unwrap_or(&Value::Null);
        Part::new(value, self.at(name), known, errors)
    }

    fn items(&self, name: &str) -> &'a [Value] {
        items(self.value, name)
    }
}

fn items<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    let found = value.get(name).and_then(Value::as_array);
    found.map_or(&[], Vec::as_slice)
}

/// Compiles an expression whose value must be of this type.
fn compile(
    env: &Env,
    text: &str,
    returns: &Type,
    mismatch: impl Fn(&Type) -> String,
) -> Result<Expression, CompileError> {
    let compiled = env.compile(text);
    let expression =
        compiled.map_err(|it| CompileError::Invalid(format!("compilation failed: {it}")))?;
    let of = expression.output_type();
    if *returns != Type::Any && of != returns {
        return Err(CompileError::Invalid(mismatch(of)));
    }
    match expression.program() {
        Ok(_) => Ok(expression),
        Err(error) => Err(CompileError::Internal(format!(
            "program instantiation failed: {error}"
        ))),
    }
}

enum CompileError {
    Invalid(String),
    Internal(String),
}

impl CompileError {
    fn at(self, path: String, text: &str) -> Error {
        match self {
            Self::Invalid(why) => Error::invalid(path, text, why),
            Self::Internal(why) => Error::internal(path, why),
        }
    }
}

fn base() -> Env {
    environment(MINOR, Expressions::Stored)
}
