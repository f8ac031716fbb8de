//! Each list and each map of each built-in kind, through all that happens to an object between its body and the store.

use json::Value;
use merge::typed::Type;
use merge::{Context, Unconverted, Versions};
use meta::Status;
use meta::gvk::{GroupKind, GroupVersionKind};
use meta::time::Time;
use resources::{Resource, columns, convert, defaults, prepare, validate};
use schema::Schema;

use super::admission;
use super::measure::{Report, TIMES};
use super::shapes::{Known, targets};
use crate::handler::decode::{self, Expected, Validation};
use crate::request::negotiate::Format;

/// Items of the small object, as long as the large one is not much larger than so many bytes.
const ITEMS: usize = 120;
const FEWEST: usize = 40;
const LARGEST: usize = 150 << 10;
pub(super) const NOW: &str = "2026-01-02T03:04:05Z";

/// Kinds are shared out, so that two run at once.
fn every(part: usize) {
    let (mut known, mut report, mut index) = (Known::new(), Report::default(), 0);
    for resource in &resources::builtin().resources {
        let Some(schema) = resource.builtin_schema() else {
            continue;
        };
        for target in targets(schema.place(), &mut known) {
            index += 1;
            if index % 2 == part {
                let place = schema.place();
                let items = items(&target.object(place, 4));
                let case = Case {
                    name: &target.to_string(),
                    items,
                    object: &|count| target.object(place, count),
                    other: &|object| target.reversed(object),
                };
                one(&mut report, resource, &schema, &case);
            }
        }
    }
    report.judge(3_000);
}

#[test]
fn lists_and_maps_of_kinds() {
    every(0);
}

#[test]
fn other_lists_and_maps_of_kinds() {
    every(1);
}

/// One version is enough: others are looked at by conversion.
pub(super) struct One<'a>(pub(super) &'a Schema);

impl Versions for One<'_> {
    fn convert(&self, object: &Value, _: &str) -> Result<Value, Unconverted> {
        Ok(object.clone())
    }

    fn schema(&self, _: &str) -> Type<'_> {
        Type::of(self.0.place())
    }
}

/// Items of some types are large.
fn items(four: &Value) -> usize {
    let each = json::to_vec(four).len() / 4;
    (LARGEST / TIMES as usize / each.max(1)).clamp(FEWEST, ITEMS)
}

/// Objects of one shape.
pub(super) struct Case<'a> {
    pub(super) name: &'a str,
    /// Of the small object.
    pub(super) items: usize,
    pub(super) object: &'a dyn Fn(usize) -> Value,
    /// Makes another object of one, with the same parts.
    pub(super) other: &'a dyn Fn(Value) -> Value,
}

struct Input {
    text: Vec<u8>,
    decoded: Value,
    defaulted: Value,
    reversed: Value,
    /// As it is stored, with who owns what.
    applied: Value,
}

pub(super) fn one(report: &mut Report, resource: &Resource, schema: &Schema, case: &Case<'_>) {
    let target = case.name;
    let (group, version, kind) = (&*resource.group, &*resource.version, &*resource.kind);
    let gvk = GroupVersionKind::new(group, version, kind);
    let expected = Expected {
        kind: &gvk,
        schema: Some(schema),
        custom: None,
    };
    let place = schema.place();
    let decode = |text: &Vec<u8>| decode::object(text, Format::Json, Validation::Warn, &expected);
    let default = |object: &Value| {
        let mut object = object.clone();
        defaults::apply(group, version, kind, &mut object);
        schema::canonical(place, &mut object);
        object
    };
    let api_version = resource.api_version();
    let versions = One(schema);
    let context = Context {
        schema: Type::of(place),
        api_version: &api_version,
        kind,
        subresource: "",
        custom: false,
        versions: &versions,
        live: None,
    };
    let input = |count: usize| {
        let mut object = (case.object)(count);
        if let Some(fields) = object.as_object_mut() {
            fields.insert("apiVersion", &*api_version);
            fields.insert("kind", kind);
        }
        let text = json::to_vec(&object);
        let decoded = match decode(&text) {
            Ok(decoded) => decoded.object,
            Err(status) => panic!("{kind}{target}: {}", status.message),
        };
        let defaulted = default(&decoded);
        let mut live = defaulted.clone();
        let _ = merge::update(&context, &mut live, "one", NOW);
        Input {
            text,
            decoded,
            reversed: (case.other)(defaulted.clone()),
            defaulted,
            applied: live,
        }
    };
    let inputs = (input(case.items), input(case.items * TIMES as usize));
    let size = inputs.1.text.len();
    let stored = json::to_vec(&inputs.1.applied).len();
    let inputs = (&inputs.0, &inputs.1);
    let mut step = |name: &str, run: &dyn Fn(&Input)| {
        report.step(&format!("{kind}{target} {name}"), inputs, size, run);
    };
    step("decode", &|it| drop(decode(&it.text)));
    step("default", &|it| drop(default(&it.decoded)));
    step("prepare", &|it| {
        let context = prepare::Context {
            user: None,
            now: NOW,
            uid: "uid",
        };
        let mut new = it.defaulted.clone();
        prepare::create(group, version, kind, &mut new, &context);
        prepare::update(group, version, kind, "", &mut new, &it.reversed, &context);
    });
    step("warn", &|it| {
        drop(prepare::warnings::before_create(group, kind, &it.defaulted));
        drop(prepare::warnings::on_create(group, kind, &it.defaulted));
        let (new, old) = (&it.reversed, &it.defaulted);
        drop(prepare::warnings::on_update(group, kind, new, old));
    });
    let told = |errors: Vec<meta::field::Error>| {
        let status = Status::invalid(&GroupKind::new(group, kind), "a", &errors);
        drop(json::to_vec(&status.to_value()));
    };
    step("validate", &|it| {
        told(validate::create(group, version, kind, &it.defaulted));
    });
    step("validate an update", &|it| {
        let (new, old) = (&it.reversed, &it.defaulted);
        told(validate::update(group, version, kind, new, old));
    });
    step("validate a status", &|it| {
        let (new, old) = (&it.reversed, &it.defaulted);
        told(validate::update_status(group, version, kind, new, old));
        for sub in &resource.subresources {
            let sub = &sub.name;
            told(validate::update_subresource(
                group, version, kind, sub, new, old,
            ));
        }
    });
    step("admit", &|it| {
        admission::all(&gvk, resource, it.defaulted.clone())
    });
    step("table", &|it| {
        let one = std::slice::from_ref(&it.defaulted);
        let now = Time::parse(NOW).expect("a constant");
        drop(columns::rows(group, version, kind, one, now));
        drop(columns::row_conditions(group, kind, &it.defaulted));
    });
    step("convert", &|it| {
        let (to_group, to_version) = (&*resource.stored.0, &*resource.stored.1);
        let mut object = it.defaulted.clone();
        let _ = convert::to(group, version, kind, &mut object, (to_group, to_version));
        let back = (group, version);
        let _ = convert::to(to_group, to_version, kind, &mut object, back);
    });
    step("protobuf", &|it| {
        if let Ok(bytes) = schema::protobuf::encode_object(place, &it.defaulted) {
            drop(schema::protobuf::decode_object(&bytes));
        }
    });
    step("strategic merge", &|it| {
        let (live, patch) = (it.defaulted.clone(), it.reversed.clone());
        drop(merge::strategic_merge_patch(place, live, patch));
    });
    step("merge patch", &|it| {
        drop(merge::merge_patch(
            it.defaulted.clone(),
            it.reversed.clone(),
        ));
    });
    // These have the stored object as well, with its owners.
    let mut step = |name: &str, run: &dyn Fn(&Input)| {
        report.step(
            &format!("{kind}{target} {name}"),
            inputs,
            size + stored,
            run,
        );
    };
    step("track", &|it| {
        let mut new = it.reversed.clone();
        let live = Some(&it.applied);
        let _ = merge::update(&Context { live, ..context }, &mut new, "two", NOW);
    });
    step("apply", &|it| {
        let live = Some(&it.applied);
        let context = Context { live, ..context };
        drop(merge::apply(&context, &it.decoded, "two", false, NOW));
        drop(merge::apply(&context, &it.decoded, "two", true, NOW));
    });
}
