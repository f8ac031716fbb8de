//! `pilothouse cel check`: the expressions of files, as a server would take them.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::io::Write as _;

use clap::Args;
use json::Value;
use meta::field::Error;
use meta::gvk::GroupVersionKind;
use resources::type_checking;
use schema::structural::{self, ExpressionCost};

use super::files::{Files, shown};
use super::locate::{Document, Locator, documents};
use super::{UNREADABLE, WRONG, expressions, grouped, maximum};

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Files and directories, in YAML or JSON; - for stdin; may be repeated
    #[arg(long, short, value_name = "FILE", required = true, num_args = 1..)]
    filename: Vec<String>,
    /// Look into the directories of directories, too
    #[arg(long, short = 'R')]
    recursive: bool,
    /// Also list every expression, with what it costs at most
    #[arg(long, short)]
    verbose: bool,
}

const EXAMPLES: &str = "\
Looks at CustomResourceDefinition, ValidatingAdmissionPolicy, MutatingAdmissionPolicy, ValidatingWebhookConfiguration and
MutatingWebhookConfiguration; other kinds are counted. Each error is what a server says to a new object, behind the file,
line and column that it is about. A warning is what a server writes to the status of a policy; built-in kinds only.

Exit code: 0 if all is good, 1 if there are errors, 2 if a file cannot be read.

Examples:
  pilothouse cel check -f crd.yaml -f policy.yaml
  pilothouse cel check -v -R -f config/
  kustomize build config/crd | pilothouse cel check -f -";

const DEFINITIONS: &str = "apiextensions.k8s.io";
const ADMISSION: &str = "admissionregistration.k8s.io";

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let mut check = Check {
        is_verbose: arguments.verbose,
        ..Check::default()
    };
    let mut files = Files::default();
    for path in &arguments.filename {
        match Files::expand(path, arguments.recursive) {
            Ok(found) => {
                for path in found {
                    check.file(&mut files, &path);
                }
            }
            Err(error) => check.unreadable(&crate::told(&error)),
        }
    }
    let summary = check.summary();
    crate::print(&(check.out + &summary))?;
    Ok(match (check.unreadable, check.errors) {
        (0, 0) => 0,
        (0, _) => WRONG,
        _ => UNREADABLE,
    })
}

#[derive(Default)]
struct Check {
    is_verbose: bool,
    out: String,
    files: usize,
    unreadable: usize,
    objects: usize,
    expressions: usize,
    errors: usize,
    warnings: usize,
    skipped: usize,
    /// `OpenAPI` documents of built-in kinds, by group and version.
    documents: HashMap<(String, String), Option<Value>>,
}

impl Check {
    fn unreadable(&mut self, why: &str) {
        self.unreadable += 1;
        let _ = writeln!(std::io::stderr(), "error: {why}");
    }

    fn file(&mut self, files: &mut Files, path: &str) {
        let read = files.text(path).and_then(|text| documents(path, &text));
        match read {
            Ok(all) if all.is_empty() => self.unreadable(&format!("{} is empty", shown(path))),
            Ok(all) => {
                self.files += 1;
                for document in all {
                    self.document(shown(path), &document);
                }
            }
            Err(error) => self.unreadable(&crate::told(&error)),
        }
    }

    fn document(&mut self, file: &str, document: &Document) {
        let object = document.value();
        let text = |key: &str| object.str_at(&[key]).unwrap_or_default();
        let (version, kind) = (text("apiVersion"), text("kind"));
        let (group, version) = version.split_once('/').unwrap_or(("", version));
        let is_known = match (group, kind) {
            (DEFINITIONS, "CustomResourceDefinition") => version == "v1",
            (
                ADMISSION,
                "ValidatingAdmissionPolicy"
                | "MutatingAdmissionPolicy"
                | "ValidatingWebhookConfiguration"
                | "MutatingWebhookConfiguration",
            ) => matches!(version, "v1" | "v1beta1" | "v1alpha1"),
            _ => false,
        };
        if !is_known {
            self.skipped += 1;
            return;
        }
        self.objects += 1;
        let document = &document.locator();
        let mut object = object.clone();
        resources::defaults::apply(group, version, kind, &mut object);
        let mut errors = resources::validate::create(group, version, kind, &object);
        if group == DEFINITIONS {
            let (more, costs) = structural::check_definition_costs(&object);
            errors.extend(more);
            self.rules(file, document, &costs);
        } else {
            self.policy(file, document, &object, &errors);
        }
        self.errors += errors.len();
        for error in errors {
            self.tell(file, document, &error.field, &error.to_string());
        }
    }

    /// One line, or what else a text has, behind the place of a field.
    fn tell(&mut self, file: &str, document: &Locator<'_>, field: &str, text: &str) {
        let (line, column) = document.position(field);
        let _ = writeln!(self.out, "{file}:{line}:{column}: {text}");
    }

    fn rules(&mut self, file: &str, document: &Locator<'_>, costs: &[ExpressionCost]) {
        self.expressions += costs.len();
        if !self.is_verbose {
            return;
        }
        for it in costs {
            // Expressions that do not compile are reported as errors.
            let Some(cost) = it.cost else { continue };
            let text = format!(
                "{}: at most {} of {} units ({})",
                it.path,
                maximum(cost),
                grouped(it.limit),
                percent(cost, it.limit)
            );
            self.tell(file, document, &it.path, &text);
        }
    }

    fn policy(&mut self, file: &str, document: &Locator<'_>, object: &Value, errors: &[Error]) {
        let found = expressions::paths(object);
        self.expressions += found.len();
        if self.is_verbose {
            for path in &found {
                let text = format!("{path}: no static limit; 1,000,000 units when it runs");
                self.tell(file, document, path, &text);
            }
        }
        if object.str_at(&["kind"]) != Some("ValidatingAdmissionPolicy") {
            return;
        }
        let table = resources::builtin();
        let kinds = type_checking::kinds(object, |group, version, plural| {
            let row = table.find(group, version, plural)?;
            Some(GroupVersionKind {
                group: row.group.to_string(),
                version: row.version.to_string(),
                kind: row.kind.to_string(),
            })
        });
        let param = type_checking::param_kind(object);
        for kind in kinds.iter().chain(&param) {
            let key = (kind.group.clone(), kind.version.clone());
            (self.documents.entry(key))
                .or_insert_with(|| apiserver::builtin_document(&kind.group, &kind.version));
        }
        let warnings = type_checking::check(object, &kinds, |kind| {
            let key = (kind.group.clone(), kind.version.clone());
            type_checking::schema_in(self.documents.get(&key)?.as_ref()?, kind)
        });
        let refused: HashSet<&str> = errors.iter().map(|it| &*it.field).collect();
        for it in warnings {
            let text = |key: &str| it.str_at(&[key]).unwrap_or_default();
            let (field, warning) = (text("fieldRef"), text("warning"));
            if refused.contains(field) {
                continue;
            }
            self.warnings += 1;
            let warning = format!("warning: {field}: {}", warning.trim_end());
            self.tell(file, document, field, &warning);
        }
    }

    fn summary(&self) -> String {
        let count = |number: usize, one: &str| {
            let s = if number == 1 { "" } else { "s" };
            format!("{number} {one}{s}")
        };
        let mut text = format!(
            "{} in {} of {}: {}",
            count(self.expressions, "expression"),
            count(self.objects, "object"),
            count(self.files, "file"),
            count(self.errors, "error"),
        );
        if self.warnings > 0 {
            let _ = write!(text, ", {}", count(self.warnings, "warning"));
        }
        if self.skipped > 0 {
            let _ = write!(
                text,
                "; skipped {} of other kinds",
                count(self.skipped, "object")
            );
        }
        if self.unreadable > 0 {
            let _ = write!(text, "; could not read {}", count(self.unreadable, "file"));
        }
        text + "\n"
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a part of a whole for people to read"
)]
fn percent(part: u64, of: u64) -> String {
    let percent = part as f64 * 100.0 / of as f64;
    if percent > 9999.0 {
        "more than 100x".to_owned()
    } else {
        format!("{percent:.1} %")
    }
}
