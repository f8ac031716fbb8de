//! From trees to JSON values: what `sigs.k8s.io/yaml` makes of a text, and what go-yaml v3 makes of a node.

mod go_syntax;
mod map;
mod scalar;
mod shown;

use json::{Limits, Value};

use crate::read::{Composer, Dialect};
use crate::resolve::{Rules, format_float, tag_of};
use crate::{Anchors, Error, Kind, Node, Style};
use map::Map;

/// The first document as JSON, as `YAMLToJSON` reads it: booleans of YAML 1.1, keys sorted, the last of equal keys wins.
/// No document is null.
pub fn to_json(text: &[u8]) -> Result<Value, Error> {
    first_document(text, false)
}

/// The same, as `YAMLToJSONStrict`: a key that comes twice is an error.
pub fn to_json_strict(text: &[u8]) -> Result<Value, Error> {
    first_document(text, true)
}

/// Whether a text, written without quotes, is something other than a string to a reader of YAML 1.1 (kyaml's
/// `IsValueNonString`). What cannot be read counts as a string.
pub fn is_non_string(text: &str) -> bool {
    if text.is_empty() || text.contains('\n') {
        return false;
    }
    match to_json(text.as_bytes()) {
        Ok(value) => value.as_str().is_none(),
        // Read, but not JSON.
        Err(error) => matches!(
            error,
            Error::UnsupportedMapKey { .. } | Error::UnsupportedValue(_)
        ),
    }
}

/// What go-yaml v3 decodes from one scalar, as JSON. An empty tag stands for none; `quoted` is for any style but plain.
pub fn scalar_to_json(tag: &'static str, quoted: bool, text: &str) -> Result<Value, Error> {
    let mut node = Node::scalar(tag, text);
    if quoted {
        node.style = Style::DoubleQuoted;
    }
    Decoder::new(&node, Rules::V3, true).document(&node)
}

/// The tag that go-yaml v3 gives a plain scalar.
pub fn tag_of_plain(text: &str) -> &'static str {
    tag_of(text)
}

/// A float as go-yaml writes it.
pub fn float_text(value: f64) -> String {
    format_float(value)
}

fn first_document(text: &[u8], strict: bool) -> Result<Value, Error> {
    match Composer::new(text, Dialect::V2).next()? {
        Some(document) => Decoder::new(&document, Rules::V2, strict).document(&document),
        None => Ok(Value::Null),
    }
}

impl Node {
    /// What go-yaml v3 decodes from this node, as JSON: merges applied, aliases followed, timestamps in RFC 3339,
    /// duplicate keys refused.
    pub fn to_value(&self) -> Result<Value, Error> {
        Decoder::new(self, Rules::V3, true).document(self)
    }
}

/// Above this many decoded nodes, the share that may come from aliases shrinks.
const ALIAS_RANGE: std::ops::Range<f64> = 400_000.0..4_000_000.0;

/// Aliases share their text upstream; here each is a copy, so the bytes are bounded too.
const MAX_ALIASED_BYTES: usize = 32 << 20;

/// One key can be the duplicate of all before it; upstream lists every pair.
const MAX_PROBLEMS: usize = 1000;

struct Decoder<'a> {
    rules: Rules,
    /// Of v2; v3 always is.
    strict: bool,
    anchors: Anchors<'a>,
    /// The aliases being followed.
    following: Vec<*const Node>,
    depth: usize,
    max_depth: usize,
    decoded: u32,
    decoded_in_alias: u32,
    aliased_bytes: usize,
    /// Each with its line.
    problems: Vec<String>,
    /// Upstream finds these after decoding.
    not_json: Option<Error>,
    unsupported_value: Option<Error>,
}

impl<'a> Decoder<'a> {
    fn new(root: &'a Node, rules: Rules, strict: bool) -> Self {
        Self {
            rules,
            strict,
            anchors: Anchors::of(root),
            following: Vec::new(),
            depth: 0,
            max_depth: Limits::default().depth,
            decoded: 0,
            decoded_in_alias: 0,
            aliased_bytes: 0,
            problems: Vec::new(),
            not_json: None,
            unsupported_value: None,
        }
    }

    fn document(mut self, root: &'a Node) -> Result<Value, Error> {
        let root = match root.kind {
            Kind::Document => {
                self.count()?;
                root.content.first()
            }
            _ => Some(root),
        };
        let value = match root {
            // v3 decodes into a map with string keys, so any scalar may be a key here.
            Some(root) if self.rules == Rules::V3 && root.kind == Kind::Mapping => {
                self.count()?;
                self.mapping(root, true)?
            }
            Some(root) => self.node(root)?,
            None => Value::Null,
        };
        if !self.problems.is_empty() {
            return Err(Error::Unmarshal(self.problems));
        }
        match self.not_json.or(self.unsupported_value) {
            Some(error) => Err(error),
            None => Ok(value),
        }
    }

    /// Small text must not become a large tree.
    fn count(&mut self) -> Result<(), Error> {
        self.decoded = self.decoded.saturating_add(1);
        if !self.following.is_empty() {
            self.decoded_in_alias = self.decoded_in_alias.saturating_add(1);
        }
        let (all, aliased) = (f64::from(self.decoded), f64::from(self.decoded_in_alias));
        let into_range = (all - ALIAS_RANGE.start) / (ALIAS_RANGE.end - ALIAS_RANGE.start);
        let allowed = 0.99 - 0.89 * into_range.clamp(0.0, 1.0);
        if self.decoded_in_alias > 100 && self.decoded > 1000 && aliased / all > allowed {
            return Err(Error::ExcessiveAliasing);
        }
        Ok(())
    }

    fn node(&mut self, node: &'a Node) -> Result<Value, Error> {
        self.count()?;
        match node.kind {
            Kind::Scalar => {
                if !self.following.is_empty() {
                    self.aliased_bytes += node.value.len();
                    if self.aliased_bytes > MAX_ALIASED_BYTES {
                        return Err(Error::ExcessiveAliasing);
                    }
                }
                self.scalar(node)
            }
            Kind::Alias => self.follow(node, Self::node),
            Kind::Sequence => {
                self.deeper()?;
                let mut items = Vec::with_capacity(node.content.len());
                for child in node.content.iter() {
                    items.push(self.node(child)?);
                }
                self.depth -= 1;
                Ok(Value::Array(items))
            }
            Kind::Mapping | Kind::Document => self.mapping(node, false),
        }
    }

    fn deeper(&mut self) -> Result<(), Error> {
        self.depth += 1;
        if self.depth > self.max_depth {
            return Err(Error::TooDeep(self.max_depth));
        }
        Ok(())
    }

    fn follow<T>(
        &mut self,
        alias: &'a Node,
        then: impl FnOnce(&mut Self, &'a Node) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let itself: *const Node = alias;
        if self.following.contains(&itself) {
            return Err(Error::ContainsItself(alias.value.clone()));
        }
        let Some(target) = self.anchors.target(alias) else {
            return Err(Error::UnknownAnchor(alias.value.clone()));
        };
        self.deeper()?;
        self.following.push(itself);
        let result = then(self, target)?;
        self.following.pop();
        self.depth -= 1;
        Ok(result)
    }

    fn mapping(&mut self, node: &'a Node, any_key: bool) -> Result<Value, Error> {
        self.deeper()?;
        let mut map = Map::default();
        if self.rules == Rules::V2 {
            self.pairs_v2(node, &mut map)?;
        } else {
            let strings = any_key || node.has_string_keys(&self.anchors);
            if !strings {
                self.not_json.get_or_insert(Error::NotJson);
            }
            self.pairs_v3(node, &mut map, strings, None)?;
        }
        self.depth -= 1;
        Ok(Value::Object(map.into_object(&mut self.not_json)))
    }
}
