//! Resources with a field that matches.

use std::cmp::Ordering;

use meta::quantity::Quantity;
use regex::Regex;
use yaml::Node;

use super::annotations as notes;
use super::read::Reader;
use super::{Input, path};
use crate::error::{Error, Result};
use crate::fs::FileSystem;
use crate::regexp;

#[derive(Clone, Copy, Debug)]
pub struct GrepOptions {
    /// Say in annotations where resources come from.
    pub annotate: bool,
    pub invert_match: bool,
    /// Packages below too.
    pub recurse: bool,
}

/// `query` is a path, possibly with an operator and a value: `=` and a pattern, or `<`, `<=`, `>`, `>=` and a quantity.
pub fn grep(
    fs: &dyn FileSystem,
    input: Input<'_>,
    query: &str,
    options: GrepOptions,
) -> std::result::Result<String, Error> {
    let query = Query::parse(query)?;
    let one = |resources: Vec<Node>| {
        let test = query.compile()?;
        let mut found = Vec::new();
        for resource in resources {
            if query.selects(&resource, &test, options.invert_match)? {
                found.push(resource);
            }
        }
        if found.is_empty() {
            return Ok(String::new());
        }
        super::clear(&mut found, options.annotate, &[])?;
        super::to_text(&found)
    };
    match input {
        Input::Text(text) => one(Reader::default().text(text)?),
        Input::Path(root) => {
            let mut out = String::new();
            super::each_package(fs, root, options.recurse, &mut out, |package, out| {
                let done = super::package_resources(fs, package).and_then(one);
                super::separated(out, done, options.recurse, |error| format!("{error}\n"))
            })?;
            Ok(super::without_last_separator(out))
        }
    }
}

struct Query {
    path: Vec<String>,
    operator: &'static str,
    value: String,
}

enum Test {
    Pattern(Regex),
    Compare,
}

impl Query {
    fn parse(text: &str) -> Result<Self> {
        let mut path = path::parse(text)?;
        let last = path.pop().unwrap_or_default();
        let operators = [">=", "<=", ">", "<"];
        let operator = operators.into_iter().find(|it| last.contains(it));
        let operator = operator.unwrap_or("=");
        let parts: Vec<&str> = last.split(operator).collect();
        if parts.len() > 2 {
            return Err(Error::new(format!(
                "ambiguous match -- multiple of ['<', '>', '<=', '>=', '=' in final path element: {last}"
            )));
        }
        path.push(parts[0].to_owned());
        Ok(Self {
            path,
            operator,
            value: parts.get(1).copied().unwrap_or_default().to_owned(),
        })
    }

    fn compile(&self) -> Result<Test> {
        if self.operator == "=" {
            return Ok(Test::Pattern(regexp::compile(&self.value)?));
        }
        Ok(Test::Compare)
    }

    fn selects(&self, resource: &Node, test: &Test, invert: bool) -> Result<bool> {
        let mut found = false;
        let Some(nodes) = path::find(notes::root(resource), &self.path)? else {
            return Ok(invert);
        };
        for (_, node) in &nodes {
            found |= match test {
                Test::Pattern(pattern) => {
                    let text = super::flow_text(node)?.replace('"', "");
                    pattern.is_match(text.trim())
                }
                Test::Compare if node.value.is_empty() => false,
                Test::Compare => self.fits(compare(&node.value, &self.value)?),
            };
        }
        Ok(found != invert)
    }

    fn fits(&self, order: Ordering) -> bool {
        match self.operator {
            ">" => order.is_gt(),
            ">=" => order.is_ge(),
            "<" => order.is_lt(),
            _ => order.is_le(),
        }
    }
}

fn compare(a: &str, b: &str) -> Result<Ordering> {
    let first = Quantity::parse(a).map_err(|error| Error::new(format!("{a}: {error}")))?;
    let second = Quantity::parse(b).map_err(|error| Error::new(error.to_string()))?;
    Ok(first.cmp(&second))
}
