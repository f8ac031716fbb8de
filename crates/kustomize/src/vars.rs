//! Variables: `$(NAME)` in the fields that may hold one.

use std::collections::BTreeMap;

use json::{Number, Value};

use crate::config::Config;
use crate::error::{Error, Result};
use crate::fieldspec::Specs;
use crate::host::Host;
use crate::id::{Gvk, ResId};
use crate::node::{Data, Kind, Node, Style, Tag};
use crate::resmap::ResMap;
use crate::types::Var;

/// By name.
#[derive(Clone, Debug, Default)]
pub(crate) struct VarSet(BTreeMap<String, Var>);

impl VarSet {
    pub(crate) fn merge(&mut self, incoming: impl IntoIterator<Item = Var>) -> Result<()> {
        for mut var in incoming {
            if self.0.contains_key(&var.name) {
                return Err(Error::new(format!(
                    "var '{}' already encountered",
                    var.name
                )));
            }
            if var.field.field_path.is_empty() {
                var.field.field_path = "metadata.name".into();
            }
            self.0.insert(var.name.clone(), var);
        }
        Ok(())
    }

    pub(crate) fn merge_set(&mut self, other: Self) -> Result<()> {
        self.merge(other.0.into_values())
    }
}

fn target(var: &Var) -> ResId {
    let object = &var.object;
    let (group, version) = match object.api_version.split('/').collect::<Vec<_>>()[..] {
        [""] => (object.group.as_str(), object.version.as_str()),
        [version] => (object.group.as_str(), version),
        [group, version] => (group, version),
        _ => (object.group.as_str(), object.version.as_str()),
    };
    ResId {
        gvk: Gvk {
            group: group.into(),
            version: version.into(),
            kind: object.kind.as_str().into(),
        },
        name: object.name.as_str().into(),
        namespace: object.namespace.as_str().into(),
    }
}

/// Marks the resources that variables are read from.
pub(crate) fn mark(map: &mut ResMap, vars: &[Var]) -> Result<()> {
    for var in vars {
        let id = target(var);
        let mut matched = Vec::new();
        for (at, resource) in map.iter().enumerate() {
            let same = |other: &ResId| {
                other.gvk == id.gvk
                    && other.name == id.name
                    && (id.namespace.is_empty() || other.equals(&id))
            };
            if resource.previous_ids().any(|it| same(&it)) || same(&resource.current_id()) {
                matched.push(at);
            }
        }
        match matched[..] {
            [] => {}
            [one] => map.raw_list_mut()[one].variables.push(var.name.clone()),
            _ => {
                return Err(Error::new(format!(
                    "found {} resId matches for var {} (unable to disambiguate)",
                    matched.len(),
                    show(var)
                )));
            }
        }
    }
    Ok(())
}

/// As Go's `%v`, with the kind as `apiVersion` makes it.
fn show(var: &Var) -> String {
    format!(
        "{{{} {} {{{}}}}}",
        var.name,
        target(var).gvk,
        var.field.field_path
    )
}

/// All of them, as they were written.
pub(crate) fn show_all(vars: &[Var]) -> String {
    let one = |var: &Var| {
        let gvk = Gvk {
            group: var.object.group.as_str().into(),
            version: var.object.version.as_str().into(),
            kind: var.object.kind.as_str().into(),
        };
        format!("{{{} {gvk} {{{}}}}}", var.name, var.field.field_path)
    };
    let all: Vec<String> = vars.iter().map(one).collect();
    format!("[{}]", all.join(" "))
}

/// Puts values where variables stand. Tells of those that stand nowhere, even if something is wrong elsewhere.
pub(crate) fn resolve(
    map: &mut ResMap,
    vars: &VarSet,
    config: &Config,
    host: &dyn Host,
) -> Result<()> {
    if vars.0.is_empty() {
        return Ok(());
    }
    let mut values = BTreeMap::new();
    for var in vars.0.values() {
        values.insert(var.name.clone(), (value_of(map, var)?, 0u32));
    }
    let mut specs: Specs = config.var_reference.iter().collect();
    let mut resources = map.list_mut().iter_mut();
    let done = resources.try_for_each(|resource| {
        specs.apply(&mut resource.node, None, &mut |node| {
            expand_node(node, &mut values)
        })
    });
    let unused = values.into_iter().filter(|(_, (_, count))| *count == 0);
    let unused: Vec<String> = unused.map(|(name, _)| name).collect();
    if !unused.is_empty() {
        host.log(&format!(
            "well-defined vars that were never replaced: {}",
            unused.join(",")
        ));
    }
    done?;
    map.settle();
    Ok(())
}

fn value_of(map: &ResMap, var: &Var) -> Result<Value> {
    for resource in map.iter() {
        if resource.variables.contains(&var.name) {
            return resource
                .node
                .field_value(&var.field.field_path)
                .map_err(|_| {
                    Error::new(format!(
                        "field specified in var '{}' not found in corresponding resource",
                        show(var)
                    ))
                });
        }
    }
    Err(Error::new(format!(
        "var '{}' cannot be mapped to a field in the set of known resources",
        show(var)
    )))
}

type Values = BTreeMap<String, (Value, u32)>;

fn expand_node(node: &mut Node, values: &mut Values) -> Result<()> {
    if node.is_null() {
        return Ok(());
    }
    match &mut node.data {
        Data::Scalar(_) => expand_string(node, values),
        Data::Map(pairs) => {
            for (key, value) in pairs {
                if !key.is_string() {
                    return Err(Error::new(format!(
                        "invalid map key: value='{}', tag='{}'",
                        key.raw(),
                        tag_name(key.tag)
                    )));
                }
                expand_string(value, values);
            }
        }
        Data::Seq(items) => {
            for item in items {
                if !item.is_string() {
                    return Err(Error::new("invalid value type expect a string"));
                }
                expand_string(item, values);
            }
        }
    }
    Ok(())
}

fn tag_name(tag: Tag) -> &'static str {
    match tag {
        Tag::Int => "!!int",
        Tag::Bool => "!!bool",
        Tag::Float => "!!float",
        Tag::Null => "!!null",
        _ => "",
    }
}

fn expand_string(node: &mut Node, values: &mut Values) {
    if !node.is_string() || node.kind() != Kind::Scalar {
        return;
    }
    let (tag, text) = match expand(node.raw(), values) {
        Value::Bool(it) => (Tag::Bool, it.to_string()),
        Value::Number(Number::Int(it)) => (Tag::Int, it.to_string()),
        Value::Number(number @ Number::Float(_)) => (Tag::Float, number_text(number)),
        Value::String(text) => (Tag::Str, text.to_string()),
        other => (Tag::Str, other.to_string()),
    };
    node.set_text(&text);
    node.tag = tag;
    node.style = Style::Plain;
}

/// Without an exponent, as Go's `'f'`.
fn number_text(number: Number) -> String {
    format!("{}", number.as_f64())
}

/// `$$` stands for `$`; what is not known stays.
fn expand(input: &str, values: &mut Values) -> Value {
    let bytes = input.as_bytes();
    let mut out = String::new();
    let mut checkpoint = 0;
    let mut cursor = 0;
    while cursor < bytes.len() {
        if bytes[cursor] == b'$' && cursor + 1 < bytes.len() {
            out.push_str(&input[checkpoint..cursor]);
            let rest = &input[cursor + 1..];
            let advance = match bytes[cursor + 1] {
                b'$' => {
                    out.push('$');
                    1
                }
                b'(' => {
                    if let Some(end) = rest.find(')') {
                        let name = &rest[1..end];
                        let value = replace(name, values);
                        if input.len() == name.len() + 3 {
                            return value;
                        }
                        match &value {
                            Value::String(text) => out.push_str(text),
                            Value::Number(number @ Number::Float(_)) => {
                                out.push_str(&yaml::float_text(number.as_f64()));
                            }
                            other => out.push_str(&other.to_string()),
                        }
                        end + 1
                    } else {
                        out.push_str("$(");
                        1
                    }
                }
                _ => {
                    let next = rest.chars().next().unwrap_or_default();
                    out.push('$');
                    out.push(next);
                    next.len_utf8()
                }
            };
            cursor += advance;
            checkpoint = cursor + 1;
        }
        cursor += 1;
    }
    out.push_str(input.get(checkpoint..).unwrap_or_default());
    Value::from(out)
}

fn replace(name: &str, values: &mut Values) -> Value {
    match values.get_mut(name) {
        Some((value @ (Value::String(_) | Value::Bool(_) | Value::Number(_)), count)) => {
            *count += 1;
            value.clone()
        }
        _ => format!("$({name})").into(),
    }
}
