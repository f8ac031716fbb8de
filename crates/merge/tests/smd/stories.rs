//! Sequences of updates and applies.

use std::borrow::Cow;

use json::{Object, Value};
use merge::fieldpath::{Filter, Set};
use merge::typed::{Emptied, Type};
use merge::updater::{Managers, Owned, UpdateError, Updater};
use merge::{Unconverted, Versions};

use crate::schema_table::{Root, Schemas};

#[test]
fn stories_end_as_upstream() {
    let schemas = Schemas::load(crate::lines(include_str!("../data/schemas.jsonl")));
    let (mut wrong, mut skipped, mut done) = (Vec::new(), 0, 0);
    for row in crate::lines(include_str!("../data/stories.jsonl")) {
        let name = row[0].as_str().expect("a name");
        match run(&schemas, &row) {
            None => skipped += 1,
            Some(Ok(())) => done += 1,
            Some(Err(why)) => wrong.push(format!("{name}: {why}")),
        }
    }
    let all = wrong.len();
    assert!(
        wrong.is_empty(),
        "{all} wrong, {done} right:\n{}",
        wrong.join("\n\n")
    );
    assert!(skipped == 0 && done > 100, "{skipped} skipped, {done} done");
}

struct World<'a> {
    schemas: &'a Schemas,
    renames: bool,
    roots: Vec<(String, Root)>,
    ignored: Vec<(String, Filter)>,
}

impl Versions for World<'_> {
    fn convert(&self, object: &Value, version: &str) -> Result<Value, Unconverted> {
        Ok(rename(object, version))
    }

    fn schema(&self, version: &str) -> Type<'_> {
        let found = self.roots.iter().find(|(it, _)| it == version);
        found.map_or(Type::None, |(_, root)| root.ty())
    }

    fn is_at(&self, _: &Value, _: &str) -> bool {
        !self.renames
    }

    fn reset_fields(&self, version: &str) -> Option<&Filter> {
        let found = self.ignored.iter().find(|(it, _)| it == version);
        found.map(|(_, filter)| filter)
    }
}

/// In these tables a field's name ends in its version.
fn rename(value: &Value, version: &str) -> Value {
    match value {
        Value::Object(object) => {
            let mut out = Object::new();
            for (key, value) in object.iter() {
                let bare = ["v1", "v2", "v3"]
                    .iter()
                    .find_map(|it| key.strip_suffix(it));
                let key = bare.map_or(key.to_string(), |bare| format!("{bare}{version}"));
                out.insert(key, rename(value, version));
            }
            out.into()
        }
        Value::Array(items) => items.iter().map(|it| rename(it, version)).collect(),
        other => other.clone(),
    }
}

impl World<'_> {
    fn set_type(&mut self, version: &str, reference: &Value) -> Option<()> {
        self.roots.retain(|(it, _)| it != version);
        let root = self.schemas.root(reference)?;
        self.roots.push((version.to_owned(), root));
        if self.renames {
            for other in ["v1", "v2", "v3"] {
                if !self.roots.iter().any(|(it, _)| it == other) {
                    let schema = reference.as_array()?[0].clone();
                    let reference = [schema, format!("@{other}").into()].into_iter().collect();
                    let root = self.schemas.root(&reference)?;
                    self.roots.push((other.to_owned(), root));
                }
            }
        }
        Some(())
    }
}

fn run(schemas: &Schemas, row: &[Value]) -> Option<Result<(), String>> {
    let mut world = World {
        schemas,
        renames: row[1].as_str() == Some("renaming"),
        roots: Vec::new(),
        ignored: Vec::new(),
    };
    for (version, set) in row[5].as_object().into_iter().flat_map(Object::iter) {
        let set = Set::from_json(set).expect("a set").into_owned();
        world
            .ignored
            .push((version.to_string(), Filter::Exclude(set)));
    }
    let mut live = Value::Null;
    let mut managers: Managers<'static, String> = Vec::new();
    for step in row[2].as_array()? {
        let step = step.as_array()?;
        let version = step[2].as_str()?;
        world.set_type(version, &step[5])?;
        if let Err(why) = write(&world, step, &mut live, &mut managers) {
            return Some(Err(format!("{}: {why}", Value::from(step.clone()))));
        }
    }
    Some(check(row, &live, &managers))
}

fn write(
    world: &World,
    step: &[Value],
    live: &mut Value,
    managers: &mut Managers<'static, String>,
) -> Result<(), String> {
    let text = |at: usize| step[at].as_str().unwrap_or("");
    let (operation, manager, version) = (text(0), text(1).to_owned(), text(2));
    let ty = world.schema(version);
    if world.renames {
        *live = rename(live, version);
    }
    let before = live.clone();
    let mut entries: Managers<String> = managers.clone();
    let object = &step[3];
    let updater = Updater {
        versions: world,
        schema: ty,
        version,
    };
    let new = if operation == "update" {
        updater.update(&before, object, &mut entries, &manager)?;
        object.clone()
    } else {
        let (live, emptied) = (before.clone(), Emptied::Null);
        updater.merge(live, object, &mut entries, &manager, emptied)?
    };
    let mut found = Value::Null;
    {
        let mut entries: Managers<String> = entries;
        if operation != "update" {
            let force = operation == "force";
            match updater.take_over(&before, &new, &mut entries, &manager, force) {
                Ok(_) => {}
                Err(UpdateError::Failed(why)) => return Err(why),
                Err(UpdateError::Conflicts(conflicts)) => {
                    let conflicts = conflicts.iter();
                    let conflicts = conflicts.map(|(it, set)| (it.clone(), set.to_json()));
                    found = conflicts.collect::<Object>().into();
                }
            }
        }
        if found.is_null() {
            *managers = entries.into_iter().map(own).collect();
        }
    }
    if found.is_null() {
        *live = new;
    }
    if found == step[4] {
        Ok(())
    } else {
        Err(format!("conflicts {found}"))
    }
}

fn own(owned: Owned<String>) -> Owned<'static, String> {
    Owned {
        manager: owned.manager,
        version: Cow::Owned(owned.version.into_owned()),
        applied: owned.applied,
        fields: owned.fields.into_owned(),
        time: None,
    }
}

fn check(row: &[Value], live: &Value, managers: &Managers<String>) -> Result<(), String> {
    if *live != row[3] {
        return Err(format!("live\n{live}\nnot\n{}", row[3]));
    }
    let found = managers.iter().map(|it| {
        let row = [
            Value::from(&*it.version),
            it.applied.into(),
            it.fields.to_json(),
        ];
        (it.manager.clone(), row.into_iter().collect::<Value>())
    });
    let found = Value::from(found.collect::<Object>());
    if found == row[4] {
        Ok(())
    } else {
        Err(format!("managers\n{found}\nnot\n{}", row[4]))
    }
}
