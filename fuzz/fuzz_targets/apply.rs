//! Server-side apply: two managers and an updater over random objects of random kinds. To apply the same again changes
//! nothing, managed fields can always be read, and the object stays one of its kind.

#![no_main]

use fuzz::{Dice, admitted};
use json::Value;
use libfuzzer_sys::fuzz_target;
use merge::typed::Type;
use merge::{Context, Unconverted, Versions};
use schema::Schema;

const NOW: &str = "2030-01-01T00:00:00Z";
const LATER: &str = "2031-01-01T00:00:00Z";

struct One<'a>(&'a Schema, &'a str);

impl Versions for One<'_> {
    fn convert(&self, object: &Value, version: &str) -> Result<Value, Unconverted> {
        if version == self.1 {
            Ok(object.clone())
        } else {
            Err(Unconverted::MissingVersion)
        }
    }

    fn schema(&self, _: &str) -> Type<'_> {
        Type::of(self.0.place())
    }
}

fuzz_target!(|bytes: &[u8]| {
    let mut dice = Dice(bytes);
    let (api_version, kind, schema) = dice.stored();
    let versions = One(&schema, &api_version);
    let mut live: Option<Value> = None;
    for _ in 0..=dice.below(5) {
        let context = Context {
            schema: Type::of(schema.place()),
            api_version: &api_version,
            kind: &kind,
            subresource: dice.one(&["", "status"]),
            custom: false,
            versions: &versions,
            live: live.as_ref(),
        };
        let Some(object) = admitted(&schema, dice.object(&api_version, &kind, &schema)) else {
            return;
        };
        let manager = dice.one(&["one", "two", "kubectl"]);
        let force = dice.byte() & 1 == 0;
        let next = if dice.byte() & 3 == 0 {
            let mut object = object;
            if merge::update(&context, &mut object, "updater", NOW).is_err() {
                continue;
            }
            object
        } else {
            let Ok(applied) = merge::apply(&context, &object, manager, force, NOW) else {
                continue;
            };
            let applied = at_rest(&schema, applied);
            let twice = Context {
                live: Some(&applied),
                ..context
            };
            let twice = merge::apply(&twice, &object, manager, force, LATER);
            let twice = twice.unwrap_or_else(|error| panic!("{error}: {object} on {applied}"));
            assert_eq!(at_rest(&schema, twice), applied, "{object}");
            applied
        };
        check(&schema, &next);
        live = Some(next);
    }
});

/// As the server stores it.
fn at_rest(schema: &Schema, mut object: Value) -> Value {
    schema::canonical(schema.place(), &mut object);
    object
}

fn check(schema: &Schema, object: &Value) {
    let managed = object.at(&["metadata", "managedFields"]);
    let mut read =
        merge::managed::decode(managed).unwrap_or_else(|error| panic!("{error}: {object}"));
    assert_eq!(
        merge::managed::encode(&mut read).as_ref(),
        managed,
        "{object}"
    );
    if let Err(error) = schema::check_types(schema.place(), object) {
        panic!("{error}: {object}");
    }
    let unknown = schema::unknown(schema.place(), object);
    assert!(unknown.is_empty(), "{unknown:?}: {object}");
}
