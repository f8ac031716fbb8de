//! Patterns in lists of paths, for those who allow them: `*`, `?` and `[a-z]` within a name, `**` for any directories.

use regex::Regex;

use crate::error::{Error, Result};
use crate::fs::{EntryKind, FileSystem, exists, is_dir};
use crate::kustomization::FILE_NAMES;
use crate::paths;

/// So many names are looked at for one pattern.
const MAX_LOOKED_AT: usize = 100_000;

/// Patterns are replaced by the paths they match, in the order of their names; what is no pattern stays.
pub(crate) fn expand(fs: &dyn FileSystem, root: &str, listed: &[String]) -> Result<Vec<String>> {
    let mut all = Vec::new();
    for path in listed {
        let literal = !path.contains(['*', '?', '[']) || path.contains("://");
        // A file may be called like a pattern, as kustomize has it.
        if literal || exists(fs, &paths::join(root, path)) {
            all.push(path.clone());
            continue;
        }
        if path.starts_with('/') {
            return Err(Error::new(format!("pattern '{path}' cannot be absolute")));
        }
        let mut search = Search {
            fs,
            root,
            left: MAX_LOOKED_AT,
        };
        let mut found = search.find(path)?;
        found.sort();
        found.dedup();
        if found.is_empty() {
            return Err(Error::new(format!("nothing in '{root}' matches '{path}'")));
        }
        all.extend(found);
    }
    Ok(all)
}

struct Search<'a> {
    fs: &'a dyn FileSystem,
    root: &'a str,
    left: usize,
}

impl Search<'_> {
    fn find(&mut self, pattern: &str) -> Result<Vec<String>> {
        let parts: Vec<&str> = pattern.split('/').filter(|it| !it.is_empty()).collect();
        let mut found = vec![String::new()];
        for (at, part) in parts.iter().enumerate() {
            let last = at + 1 == parts.len();
            let mut next = Vec::new();
            for dir in found {
                match *part {
                    "**" => self.below(dir, &mut next)?,
                    part if part.contains(['*', '?', '[']) => {
                        self.matching(&dir, part, last, &mut next)?;
                    }
                    part => next.push(paths::join(&dir, part)),
                }
            }
            found = next;
        }
        let there = |it: &String| exists(self.fs, &paths::join(self.root, it));
        found.retain(|it| !it.is_empty() && there(it));
        Ok(found)
    }

    /// Names in a directory, if it is one. Hidden ones match nothing, nor does a kustomization match itself.
    fn names(&mut self, dir: &str) -> Result<Vec<(String, EntryKind)>> {
        let dir = paths::join(self.root, dir);
        if !is_dir(self.fs, &dir) {
            return Ok(Vec::new());
        }
        let entries = self.fs.entries(&dir)?;
        let Some(left) = self.left.checked_sub(entries.len()) else {
            return Err(Error::new(format!(
                "a pattern in '{}' looks at more than {MAX_LOOKED_AT} names",
                self.root
            )));
        };
        self.left = left;
        let own = |name: &str| FILE_NAMES.contains(&name);
        let seen = |name: &str| !name.starts_with('.') && !own(name);
        let entries = entries.into_iter().filter(|it| seen(&it.name));
        Ok(entries.map(|it| (it.name, it.kind)).collect())
    }

    fn matching(
        &mut self,
        dir: &str,
        part: &str,
        last: bool,
        found: &mut Vec<String>,
    ) -> Result<()> {
        let pattern = translate(part)
            .ok_or_else(|| Error::new(format!("'{part}' is no pattern for names")))?;
        for (name, kind) in self.names(dir)? {
            if pattern.is_match(&name) && (last || kind != EntryKind::File) {
                found.push(paths::join(dir, &name));
            }
        }
        Ok(())
    }

    /// The directory and all below it, without following links.
    fn below(&mut self, dir: String, found: &mut Vec<String>) -> Result<()> {
        let mut left = vec![dir];
        while let Some(dir) = left.pop() {
            for (name, kind) in self.names(&dir)? {
                if kind == EntryKind::Directory {
                    left.push(paths::join(&dir, &name));
                }
            }
            found.push(dir);
        }
        Ok(())
    }
}

fn translate(part: &str) -> Option<Regex> {
    let mut regex = String::from("^");
    let mut rest = part;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '*' => regex.push_str(".*"),
            '?' => regex.push('.'),
            '[' => {
                let (inside, after) = rest.split_once(']')?;
                let negated = inside.starts_with(['!', '^']);
                let chars = if negated { &inside[1..] } else { inside };
                let chars = regex::escape(chars).replace("\\-", "-");
                regex.push_str(if negated { "[^" } else { "[" });
                regex.push_str(&chars);
                regex.push(']');
                rest = after;
            }
            c => regex.push_str(&regex::escape(c.encode_utf8(&mut [0; 4]))),
        }
    }
    regex.push('$');
    Regex::new(&regex).ok()
}
