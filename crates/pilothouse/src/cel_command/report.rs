//! Reports about an expression, as text and as JSON.

use std::fmt::Write as _;

use cel::kubernetes::{PER_CALL_LIMIT, RUNTIME_COST_BUDGET};
use cel::{Expression, Parts};
use json::{Object, Value, json};

use super::{grouped, maximum, tree};

/// What one rule may cost at most, as upstream has it.
const RULE_LIMIT: u64 = 10_000_000;

#[derive(Debug)]
pub(super) struct Report {
    expression: String,
    /// `rule` or `admission`
    mode: &'static str,
    output_type: Option<String>,
    pub(super) outcome: Outcome,
    pub(super) parts: Option<Parts>,
    /// How often a rule can be evaluated for one object, if it is one; the largest number if there is no bound.
    pub(super) cardinality: Option<u64>,
    /// Reason a server would refuse to store it.
    pub(super) refused: Vec<String>,
    pub(super) warnings: Vec<String>,
    /// What differs from a server.
    pub(super) notes: Vec<String>,
}

#[derive(Debug)]
pub(super) enum Outcome {
    /// It does not compile, with the text of the compiler.
    Uncompiled(String),
    Evaluated(Vec<Result>),
}

/// What one value gives.
#[derive(Debug)]
pub(super) struct Result {
    path: String,
    found: Found,
    cost: u64,
}

#[derive(Debug)]
enum Found {
    Value {
        shown: String,
        json: Option<Value>,
    },
    Error(String),
    /// It needs an old value, and there is none.
    Skipped,
}

impl Result {
    pub(super) fn new(
        path: &str,
        found: &std::result::Result<cel::Value<'_>, cel::Error>,
        cost: u64,
    ) -> Self {
        let found = match found {
            Ok(value) => {
                let json = value.to_json().ok();
                let shown = match (value, &json) {
                    (
                        cel::Value::Duration(_) | cel::Value::Timestamp(_) | cel::Value::Double(_),
                        _,
                    )
                    | (_, None) => shown(value),
                    (_, Some(json)) => as_written(json),
                };
                Found::Value { shown, json }
            }
            Err(error) => Found::Error(error.to_string()),
        };
        Self {
            path: path.to_owned(),
            found,
            cost,
        }
    }

    pub(super) fn skipped(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            found: Found::Skipped,
            cost: 0,
        }
    }

    fn shown(&self) -> String {
        match &self.found {
            Found::Value { shown, .. } => shown.clone(),
            Found::Error(error) => format!("error: {error}"),
            Found::Skipped => {
                "skipped: the rule uses oldSelf, and there is no old value here".to_owned()
            }
        }
    }

    fn json(&self) -> Value {
        let mut out = Object::new();
        if !self.path.is_empty() {
            out.insert("path", &*self.path);
        }
        match &self.found {
            Found::Value { shown, json } => {
                let value = json.clone();
                out.insert("value", value.unwrap_or_else(|| shown.as_str().into()));
            }
            Found::Error(error) => {
                out.insert("error", &**error);
            }
            Found::Skipped => {
                out.insert("skipped", true);
            }
        }
        out.insert("cost", units(self.cost));
        out.into()
    }
}

/// A value that has no JSON.
fn shown(value: &cel::Value<'_>) -> String {
    match value {
        cel::Value::Optional(Some(inside)) => {
            let json = inside
                .to_json()
                .map_or_else(|_| inside.to_string(), |it| as_written(&it));
            format!("optional.of({json})")
        }
        cel::Value::Optional(None) => "optional.none()".to_owned(),
        other => other.to_string(),
    }
}

/// As people write it: nothing is escaped for HTML.
fn as_written(value: &Value) -> String {
    let text = value.to_string();
    [("\\u003c", "<"), ("\\u003e", ">"), ("\\u0026", "&")]
        .into_iter()
        .fold(text, |text, (escaped, plain)| text.replace(escaped, plain))
}

/// A number that JSON has; nothing if there is no bound.
fn units(cost: u64) -> Value {
    i64::try_from(cost).map_or(Value::Null, Value::from)
}

impl Report {
    pub(super) fn new(expression: &str, mode: &'static str) -> Self {
        Self {
            expression: expression.to_owned(),
            mode,
            output_type: None,
            outcome: Outcome::Evaluated(Vec::new()),
            parts: None,
            cardinality: None,
            refused: Vec::new(),
            warnings: Vec::new(),
            notes: Vec::new(),
        }
    }

    pub(super) fn of(&mut self, expression: &Expression) {
        self.output_type = Some(expression.output_type().to_string());
    }

    /// Whether it does not compile, or has no value.
    pub(super) fn is_wrong(&self) -> bool {
        match &self.outcome {
            Outcome::Uncompiled(_) => true,
            Outcome::Evaluated(all) => all.iter().any(|it| matches!(it.found, Found::Error(_))),
        }
    }

    fn cost(&self) -> u64 {
        match &self.outcome {
            Outcome::Uncompiled(_) => 0,
            Outcome::Evaluated(all) => all.iter().fold(0, |sum, it| sum.saturating_add(it.cost)),
        }
    }

    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        let results = match &self.outcome {
            Outcome::Uncompiled(why) => {
                let _ = writeln!(out, "{why}");
                self.remarks(&mut out);
                return out;
            }
            Outcome::Evaluated(results) => results,
        };
        let mut line = |name: &str, text: &str| {
            let _ = writeln!(out, "{name:9} {text}");
        };
        for it in results {
            match &*it.path {
                "" => line("value:", &it.shown()),
                path => line("value:", &format!("{}  at {path}", it.shown())),
            }
        }
        line("type:", self.output_type.as_deref().unwrap_or_default());
        let evaluated = results
            .iter()
            .filter(|it| !matches!(it.found, Found::Skipped));
        line("run time:", &self.run_time(evaluated.count()));
        if let Some(parts) = &self.parts {
            line("static:", &self.static_cost(parts.estimate.max));
            out.push('\n');
            out.push_str(&tree::text(&self.expression, parts));
        }
        self.remarks(&mut out);
        out
    }

    fn run_time(&self, evaluations: usize) -> String {
        let cost = self.cost();
        if evaluations > 1 {
            return format!(
                "{} units in {evaluations} evaluations; the limit is {} for each and {} for an object",
                grouped(cost),
                grouped(PER_CALL_LIMIT),
                grouped(RUNTIME_COST_BUDGET)
            );
        }
        format!(
            "{} of at most {} units",
            grouped(cost),
            grouped(PER_CALL_LIMIT)
        )
    }

    fn static_cost(&self, max: u64) -> String {
        match self.cardinality {
            None if max == u64::MAX => "no bound: the sizes of the data are not known".to_owned(),
            None => format!(
                "{} units by estimate, which does not count fields of object; policies have no limit for that",
                grouped(max)
            ),
            Some(1) => format!("at most {} of {} units", maximum(max), grouped(RULE_LIMIT)),
            Some(times) => format!(
                "at most {} units x {} values in an object = {} of {}",
                maximum(max),
                maximum(times),
                maximum(max.saturating_mul(times)),
                grouped(RULE_LIMIT)
            ),
        }
    }

    fn remarks(&self, out: &mut String) {
        if !self.refused.is_empty() {
            out.push_str("\nA server would refuse the definition with this rule:\n");
        }
        for it in &self.refused {
            let _ = writeln!(out, "  {}", it.replace('\n', "\n  "));
        }
        for it in &self.warnings {
            let _ = writeln!(out, "\nwarning: {it}");
        }
        if !self.notes.is_empty() {
            out.push('\n');
        }
        for it in &self.notes {
            let _ = writeln!(out, "note: {it}");
        }
    }

    pub(super) fn json(&self) -> Value {
        let texts = |all: &[String]| all.iter().map(|it| Value::from(&**it)).collect::<Vec<_>>();
        let mut out = Object::new();
        out.insert("expression", &*self.expression);
        out.insert("mode", self.mode);
        if let Some(it) = &self.output_type {
            out.insert("type", &**it);
        }
        match &self.outcome {
            Outcome::Uncompiled(why) => {
                out.insert("error", &**why);
            }
            Outcome::Evaluated(results) => {
                let results: Vec<Value> = results.iter().map(Result::json).collect();
                out.insert("results", results);
                out.insert("cost", units(self.cost()));
                out.insert("costLimit", units(PER_CALL_LIMIT));
            }
        }
        if let Some(parts) = &self.parts {
            let (min, max) = (parts.estimate.min, parts.estimate.max);
            let mut estimate = Object::new();
            estimate.insert("min", units(min));
            estimate.insert("max", units(max));
            if let Some(times) = self.cardinality {
                estimate.insert("cardinality", units(times));
                estimate.insert("total", units(max.saturating_mul(times)));
                estimate.insert("limit", units(RULE_LIMIT));
            }
            out.insert("estimate", estimate);
            out.insert("parts", tree::json(&self.expression, parts));
        }
        out.insert("refused", texts(&self.refused));
        out.insert("warnings", texts(&self.warnings));
        out.insert("notes", texts(&self.notes));
        json!(out)
    }
}
