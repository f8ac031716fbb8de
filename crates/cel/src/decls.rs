//! Declarations of functions: which overloads a name has, and what they take and return.
//!
//! Libraries are written as text, one overload per line: `id name(arg, arg): result`, or
//! `id receiver.name(arg): result` for a method. A single capital letter is a type parameter.

pub(crate) mod libraries;

use std::collections::HashMap;
use std::sync::Arc;

use crate::ast::Name;
use crate::types::{OPTIONAL, Type};

/// All functions of an environment by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Functions {
    by_name: HashMap<Name, Function>,
}

#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) name: Name,
    pub(crate) overloads: Vec<Overload>,
}

#[derive(Clone, Debug)]
pub(crate) struct Overload {
    pub(crate) id: Name,
    pub(crate) is_member: bool,
    pub(crate) args: Vec<Type>,
    pub(crate) result: Type,
    /// The names of its type parameters.
    pub(crate) params: Vec<Name>,
}

impl Functions {
    pub(crate) fn get(&self, name: &str) -> Option<&Function> {
        self.by_name.get(name)
    }

    /// Adds what a library declares. Its text is ours, so it is well formed.
    pub(crate) fn add_library(&mut self, text: &str) {
        for line in text.lines().map(str::trim).filter(|it| !it.is_empty()) {
            let (name, overload) = parse(line).expect("declarations of libraries are well formed");
            self.add(&name, overload);
        }
    }

    pub(crate) fn add(&mut self, name: &str, overload: Overload) {
        let function = self
            .by_name
            .entry(Name::from(name))
            .or_insert_with(|| Function {
                name: Name::from(name),
                overloads: Vec::new(),
            });
        match function
            .overloads
            .iter_mut()
            .find(|it| it.id == overload.id)
        {
            Some(known) => *known = overload,
            None => function.overloads.push(overload),
        }
    }
}

impl Overload {
    pub(crate) fn new(id: &str, is_member: bool, args: Vec<Type>, result: Type) -> Self {
        let mut params = Vec::new();
        collect(&result, &mut params);
        for it in &args {
            collect(it, &mut params);
        }
        Self {
            id: Name::from(id),
            is_member,
            args,
            result,
            params,
        }
    }
}

fn collect(of: &Type, params: &mut Vec<Name>) {
    match of {
        Type::Param(name) if !params.contains(name) => params.push(name.clone()),
        Type::Map(it) => {
            collect(&it.0, params);
            collect(&it.1, params);
        }
        other => other.params().iter().for_each(|it| collect(it, params)),
    }
}

fn parse(line: &str) -> Option<(String, Overload)> {
    let (id, rest) = line.split_once(' ')?;
    let (call, result) = rest.rsplit_once("): ")?;
    let open = opening(call)?;
    let (head, args) = (&call[..open], &call[open + 1..]);
    let mut types = split(args)
        .into_iter()
        .map(type_of)
        .collect::<Option<Vec<_>>>()?;
    let (name, is_member) = match head.rsplit_once('.') {
        Some((receiver, name)) if is_type(receiver) => {
            types.insert(0, type_of(receiver)?);
            (name, true)
        }
        _ => (head, false),
    };
    let overload = Overload::new(id, is_member, types, type_of(result.trim())?);
    Some((name.to_owned(), overload))
}

/// The parenthesis that the end of the text is behind: receivers and arguments may have some of their own.
fn opening(text: &str) -> Option<usize> {
    let mut depth = 1;
    for (at, it) in text.char_indices().rev() {
        match it {
            ')' => depth += 1,
            '(' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// Whether a receiver is a type, and not the first part of a name such as `sets.contains`.
fn is_type(text: &str) -> bool {
    const NAMES: &[&str] = &[
        "bool",
        "int",
        "uint",
        "double",
        "string",
        "bytes",
        "dyn",
        "duration",
        "timestamp",
        "type",
    ];
    NAMES.contains(&text)
        || text.contains('(')
        || text.contains("kubernetes.")
        || text.contains("net.")
        || (text.len() == 1 && text.starts_with(|it: char| it.is_ascii_uppercase()))
}

/// At commas that are in no parentheses.
fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut begin) = (0, 0);
    for (at, it) in text.char_indices() {
        match it {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
    }
    if !text[begin..].trim().is_empty() {
        parts.push(text[begin..].trim());
    }
    parts
}

fn type_of(text: &str) -> Option<Type> {
    if let Some((head, inner)) = text.strip_suffix(')').and_then(|it| it.split_once('(')) {
        let inner = split(inner)
            .into_iter()
            .map(type_of)
            .collect::<Option<Vec<_>>>()?;
        return Some(match (head, &inner[..]) {
            ("list", [element]) => Type::list(element.clone()),
            ("map", [key, value]) => Type::map(key.clone(), value.clone()),
            ("type", [of]) => Type::of_type(of.clone()),
            (OPTIONAL, _) => Type::Opaque(Arc::from(OPTIONAL), Arc::from(inner)),
            _ => return None,
        });
    }
    Some(match text {
        "bool" => Type::Bool,
        "int" => Type::Int,
        "uint" => Type::Uint,
        "double" => Type::Double,
        "string" => Type::String,
        "bytes" => Type::Bytes,
        "dyn" => Type::Dyn,
        "duration" => Type::Duration,
        "timestamp" => Type::Timestamp,
        "type" => Type::Type(None),
        _ if text.starts_with("net.") => Type::Opaque(Arc::from(text), Arc::from([])),
        _ if text.contains('.') => Type::structure(text),
        _ if text.len() == 1 => Type::Param(Arc::from(text)),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overloads_are_read() {
        let mut functions = Functions::default();
        for library in libraries::ALL {
            functions.add_library(library);
        }
        let index = functions.get("indexOf").unwrap();
        assert!(
            index
                .overloads
                .iter()
                .all(|it| it.is_member && it.result == Type::Int)
        );
        let contains = &functions.get("sets.contains").unwrap().overloads[0];
        assert!(!contains.is_member);
        assert_eq!(contains.args.len(), 2);
        let value = &functions.get("value").unwrap().overloads[0];
        assert_eq!(value.args[0].to_string(), "optional_type(V)");
    }
}
