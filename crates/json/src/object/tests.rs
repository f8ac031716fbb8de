use proptest::prelude::*;

use super::*;
use crate::json;

#[derive(Clone, Debug)]
enum Step {
    Insert(u8, i64),
    GetMut(u8, i64),
    GetOrInsert(u8),
    Remove(u8),
    Retain(u8),
    Sort,
    Rank(u8),
    Extend(Vec<(u8, i64)>),
}

fn step() -> impl Strategy<Value = Step> {
    let key = 0..150_u8;
    prop_oneof![
        6 => (key.clone(), any::<i64>()).prop_map(|(key, value)| Step::Insert(key, value)),
        2 => (key.clone(), any::<i64>()).prop_map(|(key, value)| Step::GetMut(key, value)),
        2 => key.clone().prop_map(Step::GetOrInsert),
        4 => key.clone().prop_map(Step::Remove),
        1 => (1..9_u8).prop_map(Step::Retain),
        1 => Just(Step::Sort),
        1 => (1..9_u8).prop_map(Step::Rank),
        2 => prop::collection::vec((key, any::<i64>()), 0..90).prop_map(Step::Extend),
    ]
}

/// Plain pairs, searched from the front: slow, and easy to believe.
#[derive(Clone, Default)]
struct Model(Vec<(String, Value)>);

impl Model {
    fn insert(&mut self, key: String, value: Value) -> Option<Value> {
        if let Some((_, place)) = self.0.iter_mut().find(|(it, _)| *it == key) {
            return Some(std::mem::replace(place, value));
        }
        self.0.push((key, value));
        None
    }

    fn apply(&mut self, step: &Step) -> Option<Value> {
        match step {
            Step::Insert(key, value) => return self.insert(name(*key), (*value).into()),
            Step::GetMut(key, value) => {
                let found = self.0.iter_mut().find(|(it, _)| *it == name(*key));
                return found.map(|(_, place)| std::mem::replace(place, (*value).into()));
            }
            Step::GetOrInsert(key) => {
                if self.0.iter().all(|(it, _)| *it != name(*key)) {
                    self.insert(name(*key), Value::Null);
                }
            }
            Step::Remove(key) => {
                let at = self.0.iter().position(|(it, _)| *it == name(*key));
                return at.map(|at| self.0.remove(at).1);
            }
            Step::Retain(nth) => self
                .0
                .retain(|(key, _)| !rank(key).is_multiple_of(usize::from(*nth))),
            Step::Sort => self.0.sort_by(|(a, _), (b, _)| a.cmp(b)),
            Step::Rank(nth) => self.0.sort_by_key(|(key, _)| rank(key) % usize::from(*nth)),
            Step::Extend(pairs) => {
                for (key, value) in pairs {
                    self.insert(name(*key), (*value).into());
                }
            }
        }
        None
    }
}

fn apply(object: &mut Object, step: &Step) -> Option<Value> {
    match step {
        Step::Insert(key, value) => return object.insert(name(*key), *value),
        Step::GetMut(key, value) => {
            let found = object.get_mut(&name(*key));
            return found.map(|place| std::mem::replace(place, (*value).into()));
        }
        Step::GetOrInsert(key) => drop(object.get_or_insert(&name(*key)).clone()),
        Step::Remove(key) => return object.remove(&name(*key)),
        Step::Retain(nth) => object.retain(|key, _| !rank(key).is_multiple_of(usize::from(*nth))),
        Step::Sort => object.sort_keys(),
        Step::Rank(nth) => object.sort_by_rank(|key| rank(key) % usize::from(*nth)),
        Step::Extend(pairs) => object.extend(pairs.iter().map(|(key, it)| (name(*key), *it))),
    }
    None
}

fn name(key: u8) -> String {
    format!("key {key} {}", "x".repeat(usize::from(key % 20)))
}

fn rank(key: &str) -> usize {
    key.bytes().map(usize::from).sum()
}

fn assert_same(object: &Object, model: &Model) {
    assert_eq!(object.len(), model.0.len());
    assert_eq!(object.is_empty(), model.0.is_empty());
    assert_eq!(object.iter().len(), model.0.len());
    assert!(
        object
            .keys()
            .map(Text::as_str)
            .eq(model.0.iter().map(|(key, _)| key.as_str()))
    );
    assert!(
        object
            .values()
            .rev()
            .eq(model.0.iter().rev().map(|(_, value)| value))
    );
    for (key, value) in &model.0 {
        assert_eq!(object.get(key), Some(value));
    }
    assert_eq!(object.get("not there"), None);
    let taken: Vec<_> = object.clone().into_iter().collect();
    assert!(
        taken
            .iter()
            .map(|(key, it)| (&**key, it))
            .eq(model.0.iter().map(|(key, it)| (&**key, it)))
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Small and large, and on the way between; a clone never sees what happens to the other.
    #[test]
    fn behaves_like_plain_pairs(steps in prop::collection::vec(step(), 1..80), fork in 0..80_usize) {
        let (mut object, mut model) = (Object::new(), Model::default());
        let mut forked = None;
        for (at, step) in steps.iter().enumerate() {
            if at == fork {
                forked = Some((object.clone(), model.clone()));
            }
            assert_eq!(apply(&mut object, step), model.apply(step), "{step:?}");
            assert_same(&object, &model);
        }
        if let Some((object, model)) = forked {
            assert_same(&object, &model);
        }
        let again: Object = model.0.iter().rev().map(|(key, it)| (key, it.clone())).collect();
        assert_eq!(object, again);
        assert_eq!(again, object);
        if let Some((key, _)) = model.0.first() {
            let mut other = again.clone();
            other.insert(key, "different");
            assert_ne!(object, other);
            other.remove(key);
            assert_ne!(object, other);
            other.insert("another key", 1);
            assert_ne!(object, other);
        }
    }
}

#[test]
fn changes_reach_all_values() {
    for length in [3, 300] {
        let mut object: Object = (0..length).map(|at| (at.to_string(), at)).collect();
        let before = object.clone();
        object.remove("1");
        for value in object.values_mut() {
            *value = json!("changed");
        }
        assert!(
            object
                .iter_mut()
                .rev()
                .all(|(_, value)| *value == json!("changed"))
        );
        assert_eq!(before.get("2"), Some(&json!(2)));
        object.clear();
        assert_eq!(object, Object::default());
    }
}

/// Would take minutes were any step linear in the number of keys.
#[test]
fn many_keys() {
    let keys: Vec<_> = (0..100_000).map(|at| format!("key {at}")).collect();
    let mut object: Object = keys.iter().map(|key| (key, 1)).collect();
    let reversed: Object = keys.iter().rev().map(|key| (key, 1)).collect();
    assert!(object == reversed);
    for key in &keys {
        assert_eq!(object.remove(key), Some(json!(1)));
    }
    assert!(object.is_empty());
}

#[test]
#[cfg(target_pointer_width = "64")]
fn sizes() {
    assert_eq!(size_of::<Text>(), 16);
    assert_eq!(size_of::<Object>(), 16);
    assert_eq!(size_of::<Value>(), 24);
    assert_eq!(size_of::<Option<Pair>>(), 40);
}
