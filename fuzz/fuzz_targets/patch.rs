//! The three patches on random documents: no panic, bounded results, and what RFCs and upstream promise of each.

#![no_main]

use fuzz::Dice;
use json::Value;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut dice = Dice(bytes);
    match dice.below(4) {
        0 => text(&mut dice),
        1 => json_patch(&mut dice),
        2 => merge_patch(&mut dice),
        _ => strategic(&mut dice),
    }
});

/// Both documents as they come.
fn text(dice: &mut Dice<'_>) {
    let at = dice.below(1 << 16);
    let rest = dice.rest();
    let (live, patch) = rest.split_at(at.min(rest.len()));
    let (Ok(live), Ok(patch)) = (json::parse(live), json::parse(patch)) else {
        return;
    };
    let _ = merge::json_patch(live.clone(), patch.clone());
    let _ = merge::merge_patch(live.clone(), patch.clone());
    let pod = schema::builtin().kind("", "v1", "Pod").expect("a pod");
    let _ = merge::strategic_merge_patch(pod.place(), live, patch);
}

fn json_patch(dice: &mut Dice<'_>) {
    let live = dice.value(4);
    let paths: [&str; 10] = [
        "", "/", "/a", "/a/b", "/a/0", "/a/-", "/b/c", "/name", "/~1", "/a/b/c",
    ];
    let count = dice.below(6);
    let operations = (0..count).map(|_| {
        let mut operation = json::Object::new();
        let ops = [
            "add", "remove", "replace", "move", "copy", "test", "", "other",
        ];
        operation.insert("op", dice.one(&ops));
        operation.insert("path", dice.one(&paths));
        if dice.byte() & 1 == 0 {
            operation.insert("from", dice.one(&paths));
        }
        if dice.byte() & 7 != 0 {
            operation.insert("value", dice.value(2));
        }
        Value::Object(operation)
    });
    let operations: Value = operations.collect();
    let patched = merge::json_patch(live.clone(), operations.clone());
    assert_eq!(
        patched,
        merge::json_patch(live, operations),
        "one answer to one question"
    );
}

/// What was patched twice stays as it is. Not once: as upstream, a list that takes an object's place keeps its nulls.
fn merge_patch(dice: &mut Dice<'_>) {
    let (live, patch) = (dice.value(4), dice.value(4));
    let once = merge::merge_patch(live, patch.clone());
    let twice = once.and_then(|it| merge::merge_patch(it, patch.clone()));
    if let Ok(twice) = twice {
        let thrice = merge::merge_patch(twice.clone(), patch.clone());
        assert_eq!(thrice, Ok(twice), "{patch}");
    }
}

/// Of a kind's own type, and of one that has nothing to do with it.
fn strategic(dice: &mut Dice<'_>) {
    let (api_version, kind, schema) = dice.kind();
    let live = dice.object(&api_version, &kind, &schema);
    let patch = if dice.byte() & 1 == 0 {
        dice.shaped(schema.place(), 6)
    } else {
        directed(dice, &live)
    };
    let once = merge::strategic_merge_patch(schema.place(), live.clone(), patch.clone());
    let again = merge::strategic_merge_patch(schema.place(), live, patch);
    assert_eq!(once, again, "one answer to one question");
}

/// What is there, with directives among it.
fn directed(dice: &mut Dice<'_>, live: &Value) -> Value {
    match live {
        Value::Object(fields) => {
            let mut patch = json::Object::new();
            for (key, value) in fields.iter() {
                match dice.below(8) {
                    0 => continue,
                    1 => _ = patch.insert(key.clone(), Value::Null),
                    2 => _ = patch.insert(format!("$setElementOrder/{key}"), value.clone()),
                    3 => _ = patch.insert(format!("$deleteFromPrimitiveList/{key}"), value.clone()),
                    4 => _ = patch.insert("$patch", dice.one(&["delete", "replace", "merge", "x"])),
                    5 => {
                        let names = fields.keys().map(|it| Value::from(it.clone()));
                        patch.insert("$retainKeys", names.collect::<Value>());
                    }
                    _ => _ = patch.insert(key.clone(), directed(dice, value)),
                }
            }
            patch.into()
        }
        Value::Array(items) => {
            let kept = items.iter().map(|it| directed(dice, it));
            kept.collect()
        }
        other if dice.byte() < 0xe0 => other.clone(),
        _ => dice.value(1),
    }
}
