//! Where a fault can be planted, and which. Found by the form of the text, which rustfmt has made regular; what is no Rust after
//! that does not compile and is taken out.

use std::fs;
use std::path::Path;

use super::scan::{closing, mask, outside, test_parts};

/// Longer parts are not written twice.
const LONGEST: usize = 700;

/// Operators, and what stands in their place in a faulty program.
const OPERATORS: [(&str, &str); 8] = [
    (" == ", " != "),
    (" != ", " == "),
    (" < ", " <= "),
    (" <= ", " < "),
    (" > ", " >= "),
    (" >= ", " > "),
    (" && ", " || "),
    (" || ", " && "),
];

/// Values that a function of a type can return at once instead of doing its work.
const VALUES: [(&str, &[&str]); 11] = [
    ("bool", &["true", "false"]),
    ("usize", &["0", "1"]),
    ("u64", &["0", "1"]),
    ("u32", &["0", "1"]),
    ("i64", &["0", "1"]),
    ("String", &["String::new()"]),
    ("Option<", &["None"]),
    ("Vec<", &["Vec::new()"]),
    ("Result<(), ", &["Ok(())"]),
    ("Result<bool, ", &["Ok(true)", "Ok(false)"]),
    ("Result<Option<", &["Ok(None)"]),
];

/// Words with which a statement begins that is not just left out.
const KEYWORDS: [&str; 22] = [
    "else",
    "let",
    "return",
    "break",
    "continue",
    "use",
    "const",
    "static",
    "type",
    "struct",
    "pub",
    "mod",
    "impl",
    "fn",
    "enum",
    "if",
    "match",
    "for",
    "while",
    "loop",
    "assert",
    "debug_assert",
];

/// A fault: the bytes from `start` to `end` of a file are replaced.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Site {
    /// From the root of the repository.
    pub(super) file: String,
    pub(super) line: usize,
    pub(super) start: usize,
    pub(super) end: usize,
    /// `@` is the condition that is true when the fault is active.
    replacement: String,
    /// What was there, and what is there instead.
    fault: String,
}

impl Site {
    /// The same for the same source: a name in records and reports.
    pub(super) fn describe(&self) -> String {
        format!("{}:{}: {}", self.file, self.line, self.fault)
    }

    pub(super) fn replacement(&self, number: usize) -> String {
        let active = format!("crate::planted_fault({number})");
        self.replacement.replace('@', &active)
    }

    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.file == other.file && self.start < other.end && other.start < self.end
    }
}

/// All of a crate, in the order of files and places.
pub(super) fn of_crate(root: &Path, name: &str) -> Result<Vec<Site>, String> {
    let mut files = Vec::new();
    collect(root, &format!("crates/{name}/src"), &mut files)?;
    files.sort();
    let mut texts = Vec::new();
    for file in files {
        let text = fs::read_to_string(root.join(&file));
        texts.push((
            file.clone(),
            text.map_err(|error| format!("{file}: {error}"))?,
        ));
    }
    let tests: Vec<String> = texts
        .iter()
        .flat_map(|(file, text)| test_modules(file, text))
        .collect();
    let is_test = |file: &str| {
        let below = |module: &String| file.strip_prefix(module.as_str());
        let mut rests = tests.iter().filter_map(below);
        rests.any(|rest| rest == ".rs" || rest.starts_with('/'))
    };
    texts.retain(|(file, _)| !is_test(file));
    let sites = texts.iter().flat_map(|(file, text)| of_text(file, text));
    Ok(sites.collect())
}

/// Modules in files of their own that only tests have: their paths, without `.rs`.
fn test_modules(file: &str, text: &str) -> Vec<String> {
    let code = mask(text);
    let directory = file.trim_end_matches(".rs").trim_end_matches("/lib");
    let modules = test_parts(&code).into_iter().filter_map(|(start, end)| {
        let name = text[start..end].strip_suffix(';')?;
        let name = name.rsplit_once("mod ")?.1;
        Some(format!("{directory}/{name}"))
    });
    modules.collect()
}

fn collect(root: &Path, below: &str, files: &mut Vec<String>) -> Result<(), String> {
    let failed = |error| format!("{below}: {error}");
    for entry in fs::read_dir(root.join(below)).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{below}/{name}");
        if entry.path().is_dir() {
            if name != "tests" {
                collect(root, &path, files)?;
            }
        } else if name != "tests.rs" && Path::new(&name).extension().is_some_and(|it| it == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

pub(super) fn of_text(file: &str, text: &str) -> Vec<Site> {
    let code = mask(text);
    let source = Source {
        file,
        text,
        code: &code,
    };
    let functions = functions(&code);
    let mut excluded = test_parts(&code);
    excluded.extend(macros(&code));
    let mut sites = Vec::new();
    for function in &functions {
        sites.extend(source.early_returns(function));
    }
    let regions = source.regions(&functions);
    sites.extend(source.negated(&regions));
    sites.extend(source.operators(&regions));
    sites.extend(source.left_out(&regions));
    sites.retain(|site| {
        let within = |(start, end): &(usize, usize)| *start <= site.start && site.end <= *end;
        !excluded.iter().any(within) && !site.replacement.contains("@@")
    });
    sites.sort_by(|a, b| (a.start, a.end, &a.fault).cmp(&(b.start, b.end, &b.fault)));
    sites.dedup();
    sites
}

struct Function {
    /// Its return type as it is written.
    returns: String,
    /// From behind the opening bracket up to the closing one.
    body: (usize, usize),
}

/// Functions with a body that run at run time.
fn functions(code: &[u8]) -> Vec<Function> {
    let mut found = Vec::new();
    for at in places(code, b"fn ") {
        let line = code[..at]
            .iter()
            .rposition(|it| *it == b'\n')
            .map_or(0, |it| it + 1);
        let before = &code[line..at];
        let is_const = before.windows(6).any(|it| it == b"const ");
        let fresh = before.last().is_none_or(|it| *it == b' ' || *it == b'(');
        let Some(open) = outside(code, at, b"{;") else {
            continue;
        };
        if is_const || !fresh || code[open] == b';' {
            continue;
        }
        let Some(close) = closing(code, open) else {
            continue;
        };
        let head = String::from_utf8_lossy(&code[at..open]).into_owned();
        // The last arrow outside of brackets is the function's own; those of closures are within them.
        let returns = head.rsplit_once(") -> ").map_or("", |(_, it)| it);
        let returns = returns.split(" where ").next().unwrap_or_default();
        let returns = returns.split("\nwhere").next().unwrap_or_default();
        found.push(Function {
            returns: returns.trim().to_owned(),
            body: (open + 1, close),
        });
    }
    found
}

/// The bodies of `macro_rules!`.
fn macros(code: &[u8]) -> Vec<(usize, usize)> {
    let bodies = places(code, b"macro_rules!").filter_map(|at| {
        let open = outside(code, at, b"{")?;
        Some((at, closing(code, open)?))
    });
    bodies.collect()
}

fn places<'a>(code: &'a [u8], word: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    let windows = code.windows(word.len()).enumerate();
    windows.filter(move |(_, it)| *it == word).map(|(at, _)| at)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Condition,
    /// The value of a `let`, of a block or of an arm.
    Value,
    /// Ends with a semicolon, which is part of it.
    Statement,
}

#[derive(Clone, Copy, Debug)]
struct Region {
    kind: Kind,
    start: usize,
    end: usize,
}

struct Source<'a> {
    file: &'a str,
    text: &'a str,
    code: &'a [u8],
}

impl Source<'_> {
    fn site(&self, start: usize, end: usize, replacement: String, fault: &str, at: usize) -> Site {
        let line = self.text[..=at].lines().count();
        Site {
            file: self.file.to_owned(),
            line,
            start,
            end,
            replacement,
            fault: fault.split_whitespace().collect::<Vec<_>>().join(" "),
        }
    }

    fn early_returns(&self, function: &Function) -> Vec<Site> {
        let (start, end) = function.body;
        let body = self.text[start..end].trim();
        let fits = |name: &str| {
            let is_start = name.ends_with(['<', ' ']);
            function.returns == name || is_start && function.returns.starts_with(name)
        };
        let values = VALUES.iter().find(|(name, _)| fits(name));
        let values = values.map_or(&[][..], |(_, values)| values);
        let mut sites = Vec::new();
        for value in values.iter().filter(|it| **it != body) {
            let insert = format!("if @ {{ return {value}; }}");
            let fault = format!("the function returns {value} at once");
            sites.push(self.site(start, start, insert, &fault, start));
        }
        sites
    }

    /// Conditions, values and statements in functions.
    fn regions(&self, functions: &[Function]) -> Vec<Region> {
        let mut regions = Vec::new();
        for function in functions {
            let (start, end) = function.body;
            for at in start..end {
                let rest = &self.code[at..end];
                if rest.starts_with(b" if ") || rest.starts_with(b" while ") {
                    let skip = if rest[1] == b'i' { 4 } else { 7 };
                    regions.extend(self.condition(at + skip));
                }
                if rest.starts_with(b" => ") {
                    regions.extend(self.until(Kind::Value, at + 4, b",}"));
                }
                if at == start || matches!(self.code[at - 1], b'{' | b'}' | b';') {
                    regions.extend(self.statement(at, end));
                }
            }
        }
        regions.retain(|it| it.end > it.start && it.end - it.start <= LONGEST);
        // A function within a function is seen twice.
        regions.sort_by_key(|it| (it.end - it.start, it.start));
        regions.dedup_by_key(|it| (it.start, it.end));
        regions
    }

    fn is_within(&self, start: usize, end: usize, word: &[u8]) -> bool {
        self.code[start..end]
            .windows(word.len())
            .any(|it| it == word)
    }

    /// Of `if`, `while` and guards, unless something is matched in it.
    fn condition(&self, start: usize) -> Option<Region> {
        let mut at = start;
        let end = loop {
            at = outside(self.code, at, b"{=")?;
            match (self.code[at], self.code.get(at + 1), self.code[at - 1]) {
                (b'{', ..) | (_, Some(b'>'), b' ') => break at,
                _ => at += 1 + usize::from(self.code.get(at + 1) == Some(&b'=')),
            }
        };
        let end = start + self.text[start..end].trim_end().len();
        let matched = self.is_within(start, end, b"let ");
        (!matched).then_some(Region {
            kind: Kind::Condition,
            start,
            end,
        })
    }

    /// From `start` to one of these ends, or to the bracket that closes around it.
    fn until(&self, kind: Kind, start: usize, ends: &[u8]) -> Option<Region> {
        let mut at = start;
        let end = loop {
            match self.code.get(at)? {
                byte if ends.contains(byte) => break at,
                b'(' | b'[' | b'{' => at = closing(self.code, at)? + 1,
                b')' | b']' | b'}' => break at,
                _ => at += 1,
            }
        };
        let end = start + self.text[start..end].trim_end().len();
        Some(Region { kind, start, end })
    }

    /// A statement, the value of a `let`, or the value of a block.
    fn statement(&self, after: usize, limit: usize) -> Option<Region> {
        let blank = self.code[after..limit]
            .iter()
            .position(|it| !it.is_ascii_whitespace())?;
        // On a line of its own, or the whole of a block.
        let start = after + blank;
        let rest = &self.text[start..limit];
        let first = rest
            .split(|it: char| !(it.is_alphanumeric() || it == '_'))
            .next()
            .unwrap_or_default();
        if first == "let" {
            let equals = self.equals(start)?;
            let region = self.until(Kind::Value, equals, b";")?;
            let else_branch = self.is_within(region.start, region.end, b" else {");
            return (!else_branch).then_some(region);
        }
        if KEYWORDS.contains(&first)
            || !rest.starts_with(|it: char| it.is_alphabetic() || "*(!_".contains(it))
        {
            return None;
        }
        // A block or a macro with braces, which has no semicolon: what follows is another statement.
        let block = outside(self.code, start, b"{;").is_some_and(|it| self.code[it] == b'{');
        if block {
            return None;
        }
        let region = self.until(Kind::Statement, start, b";")?;
        match self.code.get(region.end) {
            Some(b';') => Some(Region {
                end: region.end + 1,
                ..region
            }),
            _ => Some(Region {
                kind: Kind::Value,
                ..region
            }),
        }
    }

    /// Behind the equals sign of a `let`.
    fn equals(&self, start: usize) -> Option<usize> {
        let end = outside(self.code, start, b"=;")?;
        let is_equals = self.code.get(end..end + 2) == Some(b"= ")
            || self.code.get(end..end + 2) == Some(b"=\n");
        is_equals.then(|| {
            let rest = &self.text[end + 1..];
            end + 1 + (rest.len() - rest.trim_start().len())
        })
    }

    fn negated(&self, regions: &[Region]) -> Vec<Site> {
        let conditions = regions.iter().filter(|it| it.kind == Kind::Condition);
        let negated = conditions.map(|it| {
            let text = &self.text[it.start..it.end];
            let fault = format!("if {text} -> if !({text})");
            self.site(it.start, it.end, format!("({text}) != @"), &fault, it.start)
        });
        negated.collect()
    }

    /// An operator is replaced in the smallest part that can be written twice.
    fn operators(&self, regions: &[Region]) -> Vec<Site> {
        let mut sites = Vec::new();
        for (old, new) in OPERATORS {
            for at in places(self.code, old.as_bytes()) {
                let end = at + old.len();
                // Sorted by size.
                let Some(region) = regions.iter().find(|it| it.start <= at && end <= it.end) else {
                    continue;
                };
                let whole = &self.text[region.start..region.end];
                let before = &self.text[region.start..at];
                let faulty = format!("{before}{new}{}", &self.text[end..region.end]);
                let replacement = match region.kind {
                    Kind::Statement => format!("if @ {{ {faulty} }} else {{ {whole} }}"),
                    _ => format!("(if @ {{ {faulty} }} else {{ {whole} }})"),
                };
                let line = self.line_at(at);
                let fault = format!("{} -> {} in {line}", old.trim(), new.trim());
                sites.push(self.site(region.start, region.end, replacement, &fault, at));
            }
        }
        sites
    }

    fn left_out(&self, regions: &[Region]) -> Vec<Site> {
        let statements = regions.iter().filter(|it| it.kind == Kind::Statement);
        let left_out = statements.map(|it| {
            let text = &self.text[it.start..it.end];
            let fault = format!("left out: {text}");
            self.site(
                it.start,
                it.end,
                format!("if !@ {{ {text} }}"),
                &fault,
                it.start,
            )
        });
        left_out.collect()
    }

    fn line_at(&self, at: usize) -> &str {
        let start = self.text[..at].rfind('\n').map_or(0, |it| it + 1);
        let end = self.text[at..]
            .find('\n')
            .map_or(self.text.len(), |it| at + it);
        self.text[start..end].trim()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a text becomes by each fault.
    fn faults(text: &str) -> Vec<String> {
        let sites = of_text("x.rs", text);
        let planted = sites.iter().map(|it| {
            let code = it.replacement.replace('@', "on");
            format!("{}{code}{}", &text[..it.start], &text[it.end..])
        });
        planted.collect()
    }

    #[track_caller]
    fn has(text: &str, fault: &str) {
        let all = faults(text);
        assert!(
            all.iter().any(|it| it == fault),
            "{fault} is not in {all:#?}"
        );
    }

    #[test]
    fn conditions_are_negated_and_their_operators_replaced() {
        let text = "fn f() { if a < b { c(); } }";
        has(text, "fn f() { if (a < b) != on { c(); } }");
        has(
            text,
            "fn f() { if (if on { a <= b } else { a < b }) { c(); } }",
        );
        has(text, "fn f() { if a < b { if !on { c(); } } }");
        has(
            "fn f() { match a { b if c == d => e, _ => g } }",
            "fn f() { match a { b if (c == d) != on => e, _ => g } }",
        );
        assert!(faults("fn f() { if let Some(a) = b { } }").is_empty());
    }

    #[test]
    fn values_are_written_twice() {
        has(
            "fn f() { let a = b == c; }",
            "fn f() { let a = (if on { b != c } else { b == c }); }",
        );
        has(
            "fn f() -> X { a.filter(|it| it.b > 3) }",
            "fn f() -> X { (if on { a.filter(|it| it.b >= 3) } else { a.filter(|it| it.b > 3) }) }",
        );
        has(
            "fn f() { match a { b => c && d, e => f } }",
            "fn f() { match a { b => (if on { c || d } else { c && d }), e => f } }",
        );
    }

    #[test]
    fn files_of_tests_are_known() {
        let text = "mod a;\n#[cfg(test)]\nmod cost;\n";
        assert_eq!(test_modules("src/lib.rs", text), ["src/cost"]);
        assert_eq!(test_modules("src/x.rs", text), ["src/x/cost"]);
    }

    #[test]
    fn functions_return_at_once() {
        has(
            "fn f(a: fn() -> u8) -> bool { a == 1 }",
            "fn f(a: fn() -> u8) -> bool {if on { return true; } a == 1 }",
        );
        has(
            "pub(crate) async fn f() -> Result<(), Status> { g()?; Ok(()) }",
            "pub(crate) async fn f() -> Result<(), Status> {if on { return Ok(()); } g()?; Ok(()) }",
        );
        let all = faults("fn f() -> Option<bool> { None }");
        assert!(all.is_empty(), "it would be the same: {all:?}");
    }

    #[test]
    fn tests_constants_and_macros_are_left_alone() {
        for text in [
            "#[cfg(test)] mod tests { fn f() { g(); } }",
            "const fn f() -> bool { g(1) }",
            "const A: bool = b < c;",
            "macro_rules! m { () => { fn f() { g(); } } }",
            "// fn f() { g(); }",
            "fn f() { thread_local! { x } }",
        ] {
            let all = faults(text);
            assert!(all.is_empty(), "{text}: {all:?}");
        }
    }
}
