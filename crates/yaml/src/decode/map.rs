//! Mappings: keys, duplicates and merges, which v2 and v3 treat differently.

use std::collections::{HashMap, HashSet, VecDeque};

use encoding::go::quote;
use json::{Object, Text, Value};

use super::go_syntax::syntax;
use super::{Decoder, MAX_PROBLEMS};
use crate::resolve::{Rules, Scalar, format_float, format_float32, short_tag, tag_of};
use crate::{Anchors, Error, Kind, Node};

/// A key as Go's `map[interface{}]` tells them apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    /// By its bits.
    Float(u64),
    String(String),
}

impl Key {
    fn of(scalar: &Scalar, text: String) -> Self {
        match *scalar {
            Scalar::Null => Self::Null,
            Scalar::Bool(it) => Self::Bool(it),
            Scalar::Int(it) => Self::Int(it),
            Scalar::Uint(it) => Self::Uint(it),
            // Zeros are equal.
            Scalar::Float(it) => Self::Float((it + 0.0).to_bits()),
            Scalar::Timestamp(_) | Scalar::String => Self::String(text),
        }
    }

    /// As `%#v` shows it.
    fn syntax(&self) -> String {
        match self {
            Self::Null => "<nil>".into(),
            Self::Bool(it) => it.to_string(),
            Self::Int(it) => it.to_string(),
            Self::Uint(it) => format!("{it:#x}"),
            Self::Float(it) => format_float(f64::from_bits(*it)),
            Self::String(it) => quote(it),
        }
    }
}

#[derive(Default)]
pub(super) struct Map {
    pairs: Vec<(Key, Value)>,
    /// Made when searching the pairs one by one gets slow.
    index: HashMap<Key, usize>,
}

const FEW: usize = 16;

impl Map {
    fn find(&self, key: &Key) -> Option<usize> {
        // NaN is no key's equal.
        if matches!(key, Key::Float(bits) if f64::from_bits(*bits).is_nan()) {
            None
        } else if self.pairs.len() <= FEW {
            self.pairs.iter().position(|(it, _)| it == key)
        } else {
            self.index.get(key).copied()
        }
    }

    fn set(&mut self, key: Key, value: Value) {
        if let Some(found) = self.find(&key) {
            self.pairs[found].1 = value;
            return;
        }
        if self.pairs.len() == FEW {
            let pairs = self.pairs.iter().enumerate();
            self.index = pairs.map(|(i, (key, _))| (key.clone(), i)).collect();
        }
        if self.pairs.len() >= FEW {
            self.index.insert(key.clone(), self.pairs.len());
        }
        self.pairs.push((key, value));
    }

    /// Keys become strings, sorted.
    pub(super) fn into_object(self, problem: &mut Option<Error>) -> Object {
        let mut pairs: Vec<(Text, Value)> = Vec::with_capacity(self.pairs.len());
        for (key, value) in self.pairs {
            let text = match key {
                Key::String(it) => it,
                Key::Bool(it) => it.to_string(),
                Key::Int(it) => it.to_string(),
                Key::Float(it) => format_float32(f64::from_bits(it)),
                Key::Null | Key::Uint(_) => {
                    let kind = if key == Key::Null {
                        "%!s(<nil>)"
                    } else {
                        "uint64"
                    };
                    problem.get_or_insert_with(|| Error::UnsupportedMapKey {
                        kind,
                        key: key.syntax(),
                        value: syntax(&value, Rules::V2),
                    });
                    continue;
                }
            };
            pairs.push((text.into(), value));
        }
        pairs.sort_by(|(a, _), (b, _)| a.cmp(b));
        // Keys of different types can have one text; the last stays.
        pairs.reverse();
        pairs.dedup_by(|(a, _), (b, _)| a == b);
        pairs.reverse();
        Object::from_distinct(pairs)
    }
}

impl<'a> Decoder<'a> {
    fn key(&mut self, node: &'a Node) -> Result<Key, Error> {
        self.count()?;
        match node.kind {
            Kind::Alias => self.follow(node, Self::key),
            Kind::Scalar => {
                let (scalar, text) = self.resolved(node)?;
                Ok(Key::of(&scalar, text))
            }
            _ => {
                let value = self.node(node)?;
                Err(Error::InvalidMapKey(syntax(&value, self.rules)))
            }
        }
    }

    /// A merge counts where it stands: what comes later wins.
    pub(super) fn pairs_v2(&mut self, node: &'a Node, map: &mut Map) -> Result<(), Error> {
        for (key, value) in node.pairs() {
            if self.is_merge(key) {
                // Earlier maps take precedence.
                for source in self.merge_sources(value)?.into_iter().rev() {
                    self.count()?;
                    self.deeper()?;
                    if source.kind == Kind::Alias {
                        self.follow(source, |this, target| {
                            this.count()?;
                            this.pairs_v2(target, map)
                        })?;
                    } else {
                        self.pairs_v2(source, map)?;
                    }
                    self.depth -= 1;
                }
                continue;
            }
            let key = self.key(key)?;
            let decoded = self.node(value)?;
            if self.strict && map.find(&key).is_some() {
                let line = value.line;
                if self.problems.len() < MAX_PROBLEMS {
                    let key = key.syntax();
                    self.problems
                        .push(format!("line {line}: key {key} already set in map"));
                }
            } else {
                map.set(key, decoded);
            }
        }
        Ok(())
    }

    /// A merge fills in what the mapping does not say itself. `merged` has the keys already there.
    pub(super) fn pairs_v3(
        &mut self,
        node: &'a Node,
        map: &mut Map,
        strings: bool,
        mut merged: Option<&mut HashSet<Key>>,
    ) -> Result<(), Error> {
        if self.has_duplicates(node) {
            return Ok(());
        }
        let mut merge = None;
        for (key_node, value) in node.pairs() {
            if self.is_merge(key_node) {
                merge = Some(value);
                continue;
            }
            if strings && self.is_collection(key_node) {
                continue;
            }
            // All are strings, whatever they look like; null cannot be one and is left out.
            let key = match self.key(key_node)? {
                Key::Null => continue,
                Key::String(it) => Key::String(it),
                _ => Key::String(self.anchors.behind(key_node).value.clone()),
            };
            if let Some(merged) = &mut merged
                && !merged.insert(key.clone())
            {
                continue;
            }
            let value = self.node(value)?;
            map.set(key, value);
        }
        let Some(merge) = merge else {
            return Ok(());
        };
        let mut own = HashSet::new();
        let merged = if let Some(merged) = merged {
            merged
        } else {
            for (key, _) in node.pairs() {
                let key = self.key(key)?;
                own.insert(key);
            }
            &mut own
        };
        for source in self.merge_sources(merge)? {
            self.count()?;
            self.deeper()?;
            if source.kind == Kind::Alias {
                self.follow(source, |this, target| {
                    this.count()?;
                    this.pairs_v3(target, map, strings, Some(merged))
                })?;
            } else {
                self.pairs_v3(source, map, strings, Some(merged))?;
            }
            self.depth -= 1;
        }
        Ok(())
    }

    /// Whether a key cannot be a string; says so.
    fn is_collection(&mut self, key: &'a Node) -> bool {
        let target = self.anchors.behind(key);
        if matches!(target.kind, Kind::Scalar | Kind::Alias) {
            return false;
        }
        let (line, tag) = (target.line, &target.tag);
        self.problems
            .push(format!("line {line}: cannot unmarshal {tag} into string"));
        true
    }

    fn is_merge(&self, key: &Node) -> bool {
        if key.kind != Kind::Scalar || key.value != "<<" {
            return false;
        }
        let tag = short_tag(&key.tag);
        match self.rules {
            Rules::V2 => tag == "!!merge" || tag == "!" || tag.is_empty() && key.is_plain(),
            Rules::V3 => matches!(&*tag, "" | "!" | "!!merge"),
        }
    }

    /// One mapping or several, maybe behind aliases.
    fn merge_sources(&self, value: &'a Node) -> Result<Vec<&'a Node>, Error> {
        let is_map = |node: &Node| match node.kind {
            Kind::Mapping => true,
            Kind::Alias => {
                (self.anchors.target(node)).is_some_and(|target| target.kind == Kind::Mapping)
            }
            _ => false,
        };
        let sources: Vec<&Node> = match value.kind {
            Kind::Sequence => value.content.iter().collect(),
            _ => vec![value],
        };
        if sources.iter().all(|node| is_map(node)) {
            Ok(sources)
        } else {
            Err(Error::MergeValue)
        }
    }

    /// v3 compares the texts of keys, whatever they mean.
    fn has_duplicates(&mut self, node: &Node) -> bool {
        let mut lines: HashMap<(Kind, &str), VecDeque<u32>> = HashMap::new();
        let mut twice = false;
        for (key, _) in node.pairs() {
            let same = lines.entry((key.kind, &key.value));
            let same = same.or_default();
            same.push_back(key.line);
            twice |= same.len() > 1;
        }
        if !twice {
            return false;
        }
        for (key, _) in node.pairs() {
            // Each key names the later ones.
            let same = lines.get_mut(&(key.kind, &*key.value));
            let Some(same) = same.filter(|same| !same.is_empty()) else {
                continue;
            };
            let first = same.pop_front().unwrap_or_default();
            for line in same {
                if self.problems.len() >= MAX_PROBLEMS {
                    return true;
                }
                let key = quote(&key.value);
                self.problems.push(format!(
                    "line {line}: mapping key {key} already defined at line {first}"
                ));
            }
        }
        true
    }
}

impl Node {
    /// Whether v3 makes a map with string keys of it, which is what JSON can hold.
    pub(super) fn has_string_keys<'a>(&'a self, anchors: &Anchors<'a>) -> bool {
        self.pairs().all(|(key, _)| {
            let key = anchors.behind(key);
            let quoted = !key.is_plain() && key.kind == Kind::Scalar;
            match &*short_tag(&key.tag) {
                "!!str" | "!!merge" => true,
                "" | "!" => quoted || key.kind == Kind::Scalar && tag_of(&key.value) == "!!str",
                _ => false,
            }
        })
    }
}
