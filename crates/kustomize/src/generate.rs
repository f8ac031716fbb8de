//! `ConfigMap`s and Secrets from literals and files.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::error::{Error, Result, Wrap as _, quote};
use crate::loader::Loader;
use crate::node::{Node, Style, Tag};
use crate::paths;
use crate::resource::{Behavior, Resource};
use crate::types::{GeneratorArgs, GeneratorOptions};

pub(crate) fn config_map(args: &GeneratorArgs, loader: &Loader<'_>) -> Result<Resource> {
    let mut node = base("ConfigMap", args)?;
    for (key, value) in data(args, loader)? {
        let (field, text) = match String::from_utf8(value) {
            Ok(text) => ("data", text),
            Err(error) => ("binaryData", base64_lines(error.as_bytes())),
        };
        let map = node.field_or_create(field, Node::map)?;
        map.set_field(&key, text_node(text))?;
    }
    finish(node, args)
}

pub(crate) fn secret(args: &GeneratorArgs, kind: &str, loader: &Loader<'_>) -> Result<Resource> {
    let mut node = base("Secret", args)?;
    let kind = if kind.is_empty() { "Opaque" } else { kind };
    node.set_field("type", Node::string(kind))?;
    let pairs = data(args, loader)?;
    let map = node.field_or_create("data", Node::map)?;
    for (key, value) in pairs {
        map.set_field(&key, text_node(base64_lines(&value)))?;
    }
    finish(node, args)
}

fn text_node(text: String) -> Node {
    let mut node = Node::tagged(Tag::Str, text);
    if node.raw().contains('\n') {
        node.style = Style::Literal;
    }
    node
}

fn base(kind: &str, args: &GeneratorArgs) -> Result<Node> {
    let mut node = Node::map();
    node.push("apiVersion", Node::string("v1"), Style::Plain);
    node.push("kind", Node::string(kind), Style::Plain);
    if args.name.is_empty() {
        return Err(Error::new("a configmap must have a name"));
    }
    let mut meta = Node::map();
    meta.set_field("name", Node::string(args.name.as_str()))?;
    if !args.namespace.is_empty() {
        meta.set_field("namespace", Node::string(args.namespace.as_str()))?;
    }
    node.push("metadata", meta, Style::Plain);
    Ok(node)
}

fn finish(mut node: Node, args: &GeneratorArgs) -> Result<Resource> {
    let options = args.options.as_ref();
    if let Some(options) = options {
        for (key, value) in options.labels.iter() {
            node.set_label(key, value.as_str().into())?;
        }
        for (key, value) in options.annotations.iter() {
            node.set_annotation(key, value.as_str().into())?;
        }
        if options.immutable {
            node.set_field("immutable", Node::tagged(Tag::Bool, "true"))?;
        }
    }
    let mut resource = Resource::new(node);
    if options.is_none_or(|it| !it.disable_name_suffix_hash) {
        resource.enable_hash()?;
    }
    resource.set_behavior(Behavior::of(&args.behavior))?;
    Ok(resource)
}

/// What a generator does not say itself is taken from the options for all.
pub(crate) fn merge_options(
    own: Option<&GeneratorOptions>,
    global: Option<&GeneratorOptions>,
) -> Option<GeneratorOptions> {
    let Some(global) = global else {
        return own.cloned();
    };
    let mut own = own.cloned().unwrap_or_default();
    for (key, value) in global.labels.iter() {
        own.labels
            .pairs
            .entry(key.clone())
            .or_insert_with(|| value.clone());
    }
    for (key, value) in global.annotations.iter() {
        own.annotations
            .pairs
            .entry(key.clone())
            .or_insert_with(|| value.clone());
    }
    own.disable_name_suffix_hash |= global.disable_name_suffix_hash;
    own.immutable |= global.immutable;
    Some(own)
}

/// In lines of 70, if that is more than one.
fn base64_lines(bytes: &[u8]) -> String {
    const LINE: usize = 70;
    let encoded = STANDARD.encode(bytes);
    if encoded.len() < LINE {
        return encoded;
    }
    let mut out = String::with_capacity(encoded.len() + encoded.len() / LINE + 1);
    let mut rest = encoded.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at(LINE.min(rest.len()));
        out.push_str(line);
        out.push('\n');
        rest = after;
    }
    out
}

fn data(args: &GeneratorArgs, loader: &Loader<'_>) -> Result<BTreeMap<String, Vec<u8>>> {
    let list = |items: &[String]| format!("[{}]", items.join(" "));
    let mut pairs = Vec::new();
    for path in &args.envs {
        let more = loader.load(path).and_then(|content| env_lines(&content));
        pairs.extend(
            more.wrap_with(|| format!("env source files: {}", list(&args.envs)))
                .wrap("loading KV pairs")?,
        );
    }
    for source in &args.literals {
        let pair = literal(source);
        pairs.push(
            pair.wrap_with(|| format!("literal sources {}", list(&args.literals)))
                .wrap("loading KV pairs")?,
        );
    }
    for source in &args.files {
        let pair = file_source(source).and_then(|(key, path)| Ok((key, loader.load(&path)?)));
        pairs.push(
            pair.wrap_with(|| format!("file sources: {}", list(&args.files)))
                .wrap("loading KV pairs")?,
        );
    }
    let mut all = BTreeMap::new();
    for (key, value) in pairs {
        if all.contains_key(&key) {
            return Err(Error::new(format!(
                "configmap {} illegally repeats the key `{key}`",
                args.name
            )));
        }
        all.insert(key, value);
    }
    Ok(all)
}

type Pair = (String, Vec<u8>);

fn literal(source: &str) -> Result<Pair> {
    let wrong = || {
        Error::new(format!(
            "invalid literal source {source}, expected key=value"
        ))
    };
    let (key, value) = source.split_once('=').ok_or_else(wrong)?;
    if key.is_empty() {
        return Err(wrong());
    }
    let quoted = ['"', '\''].into_iter().find_map(|quote| {
        let inner = value.strip_prefix(quote)?;
        inner.strip_suffix(quote)
    });
    Ok((key.to_owned(), quoted.unwrap_or(value).as_bytes().to_vec()))
}

pub(crate) fn file_source(source: &str) -> Result<(String, String)> {
    let mut parts = source.split('=');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(path), None, _) => Ok((paths::base(path).to_owned(), path.to_owned())),
        (Some(""), Some(path), None) => Err(Error::new(format!(
            "missing key name for file path {} in source {}",
            quote(path),
            quote(source)
        ))),
        (Some(key), Some(""), None) => Err(Error::new(format!(
            "missing file path for key name {} in source {}",
            quote(key),
            quote(source)
        ))),
        (Some(key), Some(path), None) => Ok((key.to_owned(), path.to_owned())),
        _ => Err(Error::new(format!(
            "source {} key name or file path contains '='",
            quote(source)
        ))),
    }
}

fn env_lines(content: &[u8]) -> Result<Vec<Pair>> {
    /// Go's scanner stops at a longer one, and upstream does not ask why.
    const MAX_LINE: usize = 64 << 10;
    const BOM: &[u8] = b"\xEF\xBB\xBF";
    let mut pairs = Vec::new();
    let lines = content.split(|it| *it == b'\n');
    for (at, line) in lines.enumerate() {
        if line.len() >= MAX_LINE {
            break;
        }
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let text = std::str::from_utf8(line).map_err(|_| {
            Error::new(format!(
                "line {line:?} has invalid utf8 bytes : {}",
                String::from_utf8_lossy(line)
            ))
        })?;
        let bom = std::str::from_utf8(BOM).unwrap_or_default();
        let text = if at == 0 {
            text.strip_prefix(bom).unwrap_or(text)
        } else {
            text
        };
        let text = text.trim_start();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let (key, value) = text.split_once('=').unwrap_or((text, ""));
        if key.is_empty() {
            continue;
        }
        pairs.push((key.to_owned(), value.as_bytes().to_vec()));
    }
    Ok(pairs)
}
