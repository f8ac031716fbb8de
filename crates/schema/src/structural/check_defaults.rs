//! Defaults must be what their own schemas take, rules in CEL included.

use json::{Object, Value, json};
use meta::field::{Error, ErrorList, Path, aggregate};

use super::validations::{Budget, Validator};
use super::{coerce, from_json_schema_props, validate, validate_embedded};
use crate::Place;
use crate::unknown::prune_part;

/// What is wrong with the defaults of a structural schema.
pub(super) fn check_defaults(path: &Path<'_>, schema: &Value, pruned: bool) -> Vec<Error> {
    let Ok(compiled) = from_json_schema_props(schema) else {
        return Vec::new();
    };
    let nodes = &compiled.arena.nodes;
    if nodes.iter().all(|it| it.default.is_none()) {
        return Vec::new();
    }
    let mut checker = Checker {
        pruned,
        budget: Budget::default(),
        errors: ErrorList::default(),
    };
    let validator = Validator::new(schema, true);
    let place = compiled.place();
    let node = Node {
        schema,
        place,
        root: place,
        validator: validator.as_ref(),
        around: &Around::Root,
        is_root: true,
        is_metadata: false,
    };
    checker.level(path, &node);
    checker.errors.into_vec()
}

struct Checker {
    pruned: bool,
    budget: Budget,
    errors: ErrorList,
}

/// A schema, and where it is.
struct Node<'a> {
    schema: &'a Value,
    place: Place<'a>,
    /// The object that it is a part of.
    root: Place<'a>,
    validator: Option<&'a Validator>,
    around: &'a Around<'a>,
    /// Of the whole, or of an object in it.
    is_root: bool,
    is_metadata: bool,
}

/// The way from an object to a part of it.
enum Around<'a> {
    Root,
    Child(&'a Around<'a>, &'a str),
    Item(&'a Around<'a>),
}

impl Around<'_> {
    /// An object that has nothing but a value at its place, and a type.
    fn object(&self, value: Value) -> Value {
        match self {
            Self::Root => {
                let mut object = value;
                if let Value::Object(fields) = &mut object {
                    for (key, value) in [("kind", "Validation"), ("apiVersion", "validation/v1")] {
                        if !fields.contains_key(key) {
                            fields.insert(key, value);
                        }
                    }
                }
                object
            }
            Self::Child(above, key) => {
                let fields: Object = [((*key).to_owned(), value)].into_iter().collect();
                above.object(fields.into())
            }
            Self::Item(above) => above.object(json!([value])),
        }
    }
}

impl Checker {
    fn level(&mut self, path: &Path<'_>, node: &Node<'_>) {
        if let Some(default) = &node.place.node().default
            && !self.errors.is_full()
        {
            self.default(&path.child("default"), node, default);
        }
        let Some(rules) = &node.place.node().rules else {
            return;
        };
        if let (Some(items), Some(id)) = (node.schema.get("items"), rules.items) {
            let validator = node.validator.and_then(Validator::items);
            let around = Around::Item(node.around);
            let below = node.below(items, node.place.at(id), validator, &around, false);
            self.level(&path.child("items"), &below);
        }
        let properties = path.child("properties");
        for (name, id) in &rules.properties {
            if self.budget.total < 0 {
                return;
            }
            let Some(property) = node.schema.at(&["properties", name]) else {
                continue;
            };
            let is_metadata = node.is_root && matches!(&**name, "metadata" | "apiVersion" | "kind");
            let validator = node.validator.and_then(|it| it.property(name));
            let around = Around::Child(node.around, name);
            let below = node.below(
                property,
                node.place.at(*id),
                validator,
                &around,
                is_metadata,
            );
            self.level(&properties.key(name), &below);
        }
    }

    fn default(&mut self, path: &Path<'_>, node: &Node<'_>, default: &Value) {
        let mut coerced = default.clone();
        if node.is_metadata {
            let mut object = node.around.object(default.clone());
            let (root, place) = (Path::root(), node.root);
            let wrong = match coerce(&root, place, &mut object, true, false) {
                Err(error) => error.to_string(),
                Ok(_) => aggregate(&validate_embedded(&root, place, &object, true)),
            };
            if !wrong.is_empty() {
                let text = format!("must result in valid metadata: {wrong}");
                let error = || Error::invalid(path, default.clone(), text);
                return self.errors.push_with(error);
            }
        } else {
            let mut pruned = default.clone();
            prune_part(node.place, &mut pruned, node.is_root);
            if self.pruned && pruned != *default {
                let text = "must not have unknown fields";
                (self.errors).push_with(|| Error::invalid(path, default.clone(), text));
            }
            if let Err(error) = coerce(path, node.place, &mut coerced, node.is_root, false) {
                return self.errors.push(error);
            }
            let wrong = validate_embedded(path, node.place, &coerced, node.is_root);
            if !wrong.is_empty() {
                return self.errors.extend(wrong);
            }
        }
        let wrong = validate(node.place, &coerced);
        if !wrong.is_empty() {
            let at = path.to_string();
            for error in wrong {
                self.errors.push_with(|| error.below(&at));
            }
            return;
        }
        self.rules(path, node, &coerced);
    }

    /// A default must keep the rules as a value that stays, and as one that is new.
    fn rules(&mut self, path: &Path<'_>, node: &Node<'_>, default: &Value) {
        let own;
        let validator = if node.is_metadata {
            // Its types are those that were declared, not those of all metadata.
            own = Validator::new(node.schema, false);
            own.as_ref()
        } else {
            node.validator
        };
        let Some(validator) = validator else { return };
        let stays = validator.validate(path, default, Some(default), self.budget);
        let mut remaining = stays.remaining;
        let is_kept = stays.errors.is_empty();
        self.errors.extend(stays.errors);
        if is_kept {
            let is_new = validator.validate(path, default, None, self.budget);
            remaining = remaining.min(is_new.remaining);
            self.errors.extend(is_new.errors);
        }
        self.budget.total = remaining;
    }
}

impl<'a> Node<'a> {
    fn below<'b>(
        &'b self,
        schema: &'b Value,
        place: Place<'b>,
        validator: Option<&'b Validator>,
        around: &'b Around<'b>,
        is_metadata: bool,
    ) -> Node<'b>
    where
        'a: 'b,
    {
        let is_root = place.node().embedded;
        Node {
            schema,
            place,
            root: if is_root { place } else { self.root },
            validator,
            around: if is_root { &Around::Root } else { around },
            is_root,
            is_metadata: !is_root && (self.is_metadata || is_metadata),
        }
    }
}
