//! Reads type declarations from Go source. It is formatted by gofmt, so lines are enough.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Packages of a source tree, read when asked for.
pub(super) struct Source {
    root: PathBuf,
    packages: BTreeMap<String, Package>,
}

#[derive(Default)]
pub(super) struct Package {
    pub(super) declared: BTreeMap<String, Declared>,
    /// The values of constants of a named type, in order of appearance.
    constants: BTreeMap<String, Vec<String>>,
}

pub(super) struct Declared {
    pub(super) what: What,
    /// `+enum`
    pub(super) listed: bool,
    /// `+protobuf.nullable=true`: on the wire, a message with a repeated field.
    pub(super) wrapped: bool,
}

pub(super) enum What {
    Struct(Vec<Member>),
    /// `type A = B`
    Alias(Type),
    Defined(Type),
}

pub(super) struct Member {
    pub(super) ty: Type,
    /// Its JSON name; none if the struct's fields stand among the outer ones.
    pub(super) json: Option<String>,
    pub(super) omit_empty: bool,
    pub(super) omit_zero: bool,
    /// Of its protobuf field.
    pub(super) number: Option<u32>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Type {
    Basic(String),
    Pointer(Box<Type>),
    List(Box<Type>),
    /// Keys are always strings.
    Map(Box<Type>),
    Named {
        package: String,
        name: String,
    },
}

impl Source {
    pub(super) fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            packages: BTreeMap::new(),
        }
    }

    pub(super) fn package(&mut self, path: &str) -> Result<&Package, String> {
        if !self.packages.contains_key(path) {
            let directory = self.root.join("staging/src").join(path);
            self.packages.insert(path.into(), load(&directory, path)?);
        }
        Ok(&self.packages[path])
    }

    pub(super) fn declared(&mut self, package: &str, name: &str) -> Result<&Declared, String> {
        let found = self.package(package)?.declared.get(name);
        found.ok_or_else(|| format!("no type {name} in {package}"))
    }
}

impl Package {
    pub(super) fn values(&self, of: &str) -> Vec<String> {
        let mut values = self.constants.get(of).cloned().unwrap_or_default();
        values.sort();
        values.dedup();
        values
    }
}

fn load(directory: &Path, path: &str) -> Result<Package, String> {
    let list = fs::read_dir(directory)
        .map_err(|error| format!("list {}: {error}", directory.display()))?;
    let mut files: Vec<PathBuf> = list.flatten().map(|item| item.path()).collect();
    files.sort();
    let mut package = Package::default();
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let is_source = name.ends_with(".go") && !name.ends_with("_test.go");
        if is_source && !name.contains("generated") {
            read(&super::read(&file)?, path, &mut package);
        }
    }
    Ok(package)
}

fn read(text: &str, path: &str, package: &mut Package) {
    let mut imports = BTreeMap::new();
    let mut markers: Vec<&str> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some((name, from)) = import(line) {
            imports.insert(name, from);
        } else if let Some(marker) = line.strip_prefix("// +") {
            markers.push(marker);
        } else if let Some(declaration) = line.strip_prefix("type ") {
            let Some((name, rest)) = declaration.split_once(' ') else {
                continue;
            };
            let scope = Scope {
                path,
                imports: &imports,
            };
            let what = match rest {
                "struct {" => {
                    let body = lines.by_ref().take_while(|line| *line != "}");
                    What::Struct(body.filter_map(|line| scope.member(line)).collect())
                }
                "struct{}" | "struct {}" => What::Struct(Vec::new()),
                _ => match rest.strip_prefix("= ") {
                    Some(rest) => What::Alias(scope.ty(rest)),
                    None => What::Defined(scope.ty(rest)),
                },
            };
            let declared = Declared {
                what,
                listed: markers.contains(&"enum"),
                wrapped: markers.contains(&"protobuf.nullable=true"),
            };
            package.declared.entry(name.into()).or_insert(declared);
            markers.clear();
        } else if let Some((ty, value)) = constant(line) {
            package.constants.entry(ty).or_default().push(value);
        } else if !line.starts_with("//") && !line.is_empty() {
            markers.clear();
        }
    }
}

/// `alias "path"` or `"path"`, in a list of imports.
fn import(line: &str) -> Option<(String, String)> {
    let line = line.strip_prefix("import ").or(line.strip_prefix('\t'))?;
    let (alias, rest) = line.split_once('"')?;
    let path = rest.strip_suffix('"')?;
    let alias = alias.trim();
    let last = path.rsplit('/').next()?;
    if alias.contains(' ') {
        return None;
    }
    Some((
        if alias.is_empty() { last } else { alias }.into(),
        path.into(),
    ))
}

/// `Name Type = "value"`, in a list of constants.
fn constant(line: &str) -> Option<(String, String)> {
    let line = line.strip_prefix("const ").or(line.strip_prefix('\t'))?;
    let (declared, value) = line.split_once(" = \"")?;
    let mut words = declared.split_whitespace();
    let (_, ty, None) = (words.next()?, words.next()?, words.next()) else {
        return None;
    };
    let (value, _) = value.split_once('"')?;
    Some((ty.into(), value.into()))
}

struct Scope<'a> {
    path: &'a str,
    imports: &'a BTreeMap<String, String>,
}

impl Scope<'_> {
    fn member(&self, line: &str) -> Option<Member> {
        let line = line.trim();
        if line.starts_with("//") {
            return None;
        }
        let (declared, tags) = line.split_once('`').unwrap_or((line, ""));
        let words: Vec<&str> = declared.split_whitespace().collect();
        let (embedded, ty) = match words[..] {
            [ty] => (true, ty),
            [_, ty] => (false, ty),
            _ => return None,
        };
        let json = tag(tags, "json:\"")?;
        let (name, options) = json.split_once(',').unwrap_or((json, ""));
        if name == "-" || name.is_empty() && !embedded {
            return None;
        }
        let options: Vec<&str> = options.split(',').collect();
        let number = tag(tags, "protobuf:\"").and_then(|it| it.split(',').nth(1)?.parse().ok());
        Some(Member {
            ty: self.ty(ty),
            json: (!name.is_empty()).then(|| name.into()),
            omit_empty: options.contains(&"omitempty"),
            omit_zero: options.contains(&"omitzero"),
            number,
        })
    }

    fn ty(&self, text: &str) -> Type {
        let text = text.split(" //").next().unwrap_or(text).trim();
        if let Some(rest) = text.strip_prefix('*') {
            Type::Pointer(Box::new(self.ty(rest)))
        } else if text == "[]byte" {
            Type::Basic("bytes".into())
        } else if let Some(rest) = text.strip_prefix("[]") {
            Type::List(Box::new(self.ty(rest)))
        } else if let Some(rest) = text.strip_prefix("map[") {
            let value = rest.split_once(']').map_or("", |(_, value)| value);
            Type::Map(Box::new(self.ty(value)))
        } else if let Some((package, name)) = text.split_once('.') {
            Type::Named {
                package: self.imports.get(package).cloned().unwrap_or_default(),
                name: name.into(),
            }
        } else if text == "interface{}" || text == "any" {
            Type::Basic("any".into())
        } else if text.starts_with(|it: char| it.is_ascii_lowercase()) {
            Type::Basic(text.into())
        } else {
            Type::Named {
                package: self.path.into(),
                name: text.into(),
            }
        }
    }
}

fn tag<'a>(tags: &'a str, key: &str) -> Option<&'a str> {
    let (_, rest) = tags.split_once(key)?;
    rest.split_once('"').map(|(value, _)| value)
}
