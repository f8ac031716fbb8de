use super::*;
use crate::kubernetes::{Mode, environment, schema_environment};
use crate::{Limits, Schema, Value};

const SCHEMA: &str = r#"{"type": "object", "properties": {
    "a": {"type": "integer"}, "b": {"type": "integer"}, "on": {"type": "boolean"},
    "name": {"type": "string", "maxLength": 40},
    "names": {"type": "array", "maxItems": 20, "items": {"type": "string", "maxLength": 63}},
    "labels": {"type": "object", "maxProperties": 10, "additionalProperties": {"type": "string", "maxLength": 63}},
    "spec": {"type": "object", "properties": {"replicas": {"type": "integer"}}}}}"#;

const OBJECT: &str = r#"{"a": 1, "b": 2, "on": true, "name": "web-1", "names": ["x", "yy", "x"],
    "labels": {"app": "web"}, "spec": {"replicas": 3}}"#;

const EXPRESSIONS: [&str; 34] = [
    "true",
    "self.a",
    "self.a <= self.b",
    "self.spec.replicas > 0 && self.a < 5 && self.b < 6 || self.on",
    "(self.a + self.b) * (3 - -self.a) == -1",
    "!(self.on || !!self.on)",
    "self.on ? self.names.size() : self.a + self.b",
    "(self.on ? self.spec : self.spec).replicas",
    "self.names.all(x, x.startsWith('x') && x.size() < 5)",
    "self.names.exists(x, self.names.exists_one(y, x == y))",
    "self.names.map(x, x + '!').filter(x, x != 'x!').size() == 1",
    "self.names.map(x, x != 'x', x + self.name)",
    "self.labels.all(k, k.matches('^[a-z]+$') && self.labels[k].size() > 0)",
    "self.labels.exists(k, v, v.contains(k))",
    "self.labels.transformMap(k, v, v + k)",
    "self.names.transformList(i, v, i > 0, v)",
    "self.names.sortBy(x, x.size())",
    "self.?name.optMap(x, x.size()).orValue(0)",
    "self.?spec.?replicas.orValue(1) in [1, 2, 3]",
    "self.names[?1].hasValue()",
    "has(self.spec.replicas) && has(self.name)",
    "self.names[0].size() + self.names[self.a].size()",
    "[self.a, 2, self.b].sum() > 1",
    "{'a': self.a}['a'] == 1",
    "self.name == self.names[0] + 'b'",
    "dyn(self.a) == 'x'",
    "self.names.isSorted() || duration('1s') < duration('2s')",
    "quantity('1Gi').isGreaterThan(quantity(self.name))",
    "self.name.find('[0-9]+') == '1'",
    "self.names[7] == 'x' || self.on",
    "self.name.split('-')[1] == '1'",
    "sets.contains(self.names, ['x'])",
    "optional.of(self.a).or(optional.none()).value()",
    "self.on ? (self.on ? self.a : self.a + self.b) : 1",
];

fn parts_of(text: &str) -> (Parts, u64) {
    let schema = Schema::from_json(&json::parse(SCHEMA.as_bytes()).unwrap(), false);
    let env = schema_environment(environment(37, Mode::Stored), &schema, false).unwrap();
    let expression = env
        .compile(text)
        .unwrap_or_else(|it| panic!("{text}: {it}"));
    let mut parts = expression.parts(&schema);
    assert_eq!(parts.estimate, expression.estimate(&schema), "{text}");
    let object = json::parse(OBJECT.as_bytes()).unwrap();
    let program = expression.program().unwrap();
    let variables = |name: &str| match name {
        "self" => Value::typed(&object, &schema).ok(),
        _ => None,
    };
    let (_, plain) = program.evaluate(&variables, Limits::default());
    let (_, cost, charges) = program.evaluate_parts(&variables, Limits::default());
    assert_eq!(plain, cost, "{text}");
    parts.charge(&charges);
    (parts, cost)
}

#[test]
fn parts_add_up_to_the_whole() {
    for text in EXPRESSIONS {
        let (parts, cost) = parts_of(text);
        let all: Vec<&Part> = parts.iter().collect();
        assert_eq!(all[0].max, parts.estimate.max, "{text}");
        assert_eq!(all[0].units.cast_unsigned(), cost, "{text}");
        let own: i64 = all.iter().map(|it| it.own_units).sum();
        assert_eq!(own.cast_unsigned(), cost, "{text}");
        let own: u64 = (all.iter().filter(|it| !it.is_alternative))
            .map(|it| it.own_max)
            .sum();
        assert_eq!(own, parts.estimate.max, "{text}");
        for (at, part) in all.iter().enumerate() {
            let within = all.iter().filter(|it| it.parent == Some(at));
            let units: i64 = within.map(|it| it.units).sum();
            assert_eq!(part.units, part.own_units + units, "{text}: {part:?}");
        }
    }
}

/// The texts of all parts, with their maximum and what they have cost.
fn shown(text: &str) -> Vec<String> {
    let (parts, _) = parts_of(text);
    let show = |it: &Part| {
        let mark = if it.is_alternative { "~" } else { "" };
        format!("{mark}{} {} {}", it.max, it.units, &text[it.range.clone()])
    };
    parts.iter().map(show).collect()
}

#[test]
fn parts_are_what_the_author_wrote() {
    assert_eq!(
        shown("self.spec.replicas > 0 && self.a < 5 && (self.on)"),
        [
            "9 9 self.spec.replicas > 0 && self.a < 5 && (self.on)",
            "4 4 self.spec.replicas > 0",
            "3 3 self.spec.replicas",
            "0 0 0",
            "3 3 self.a < 5",
            "2 2 self.a",
            "0 0 5",
            "2 2 self.on",
        ]
    );
    assert_eq!(
        shown("self.names.all(x, x.startsWith('x') && x != self.name)"),
        [
            "483 19 self.names.all(x, x.startsWith('x') && x != self.name)",
            "2 2 self.names",
            "420 8 x.startsWith('x') && x != self.name",
            "40 4 x.startsWith('x')",
            "20 2 x",
            "0 0 'x'",
            "380 4 x != self.name",
            "20 1 x",
            "40 2 self.name",
        ]
    );
    assert_eq!(
        shown("self.on ? self.a : (self.a + self.b) * 2"),
        [
            "8 3 self.on ? self.a : (self.a + self.b) * 2",
            "2 2 self.on",
            "~2 1 self.a",
            "6 0 (self.a + self.b) * 2",
            "5 0 self.a + self.b",
            "2 0 self.a",
            "2 0 self.b",
            "0 0 2",
        ]
    );
    assert_eq!(
        shown("!(self.?name.optMap(x, x.size()).orValue(0) == -1)")[1..],
        [
            "21 10 self.?name.optMap(x, x.size()).orValue(0) == -1",
            "20 9 self.?name.optMap(x, x.size()).orValue(0)",
            "19 9 self.?name.optMap(x, x.size())",
            "4 4 self.?name",
            "0 0 name",
            "2 2 x.size()",
            "1 1 x",
            "0 0 0",
            "0 0 -1",
        ]
    );
}

#[test]
fn spans_are_within_the_text() {
    for text in EXPRESSIONS {
        let (parts, _) = parts_of(text);
        let all: Vec<&Part> = parts.iter().collect();
        for part in &all {
            let shown = &text[part.range.clone()];
            assert!(!shown.is_empty(), "{text}: {part:?}");
            let count = |it: char| shown.matches(it).count();
            assert_eq!(count('('), count(')'), "{text}: {shown}");
            if let Some(parent) = part.parent {
                let around = &all[parent].range;
                assert!(around.start <= part.range.start && part.range.end <= around.end);
            }
        }
    }
}
