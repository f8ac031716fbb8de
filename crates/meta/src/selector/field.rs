//! Field selectors: `metadata.name=a,status.phase!=Running`.

use std::fmt;

/// Why a text is no field selector, in upstream's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldError {
    #[error("invalid field selector: invalid escape sequence: {0}")]
    Escape(String),
    #[error("invalid field selector: unescaped character in value: {}", u32::from(*.0))]
    Unescaped(char),
    #[error("invalid selector: '{selector}'; can't understand '{term}'")]
    Term { selector: String, term: String },
}

/// Terms that all hold. None is everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSelector {
    terms: Vec<Term>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    pub field: String,
    pub value: String,
    /// `!=`
    pub negated: bool,
}

impl FieldSelector {
    pub fn everything() -> Self {
        Self::default()
    }

    pub fn new(terms: Vec<Term>) -> Self {
        Self { terms }
    }

    pub fn equal(field: impl Into<String>, value: impl Into<String>) -> Self {
        Self::new(vec![Term {
            field: field.into(),
            value: value.into(),
            negated: false,
        }])
    }

    pub fn parse(text: &str) -> Result<Self, FieldError> {
        let mut parts = split_terms(text);
        parts.sort_unstable();
        let parts = parts.into_iter().filter(|it| !it.is_empty());
        let mut terms = Vec::new();
        for part in parts {
            terms.extend(Some(parse_term(text, part)?).filter(Term::says_something));
        }
        Ok(Self { terms })
    }

    pub fn is_everything(&self) -> bool {
        self.terms.is_empty()
    }

    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// A field that is not there is empty.
    pub fn matches_with<'a>(&self, get: impl Fn(&str) -> &'a str) -> bool {
        self.terms.iter().all(|it| it.matches(get(&it.field)))
    }

    /// The one value that a field must have, if the selector says so.
    pub fn exact_match(&self, field: &str) -> Option<&str> {
        let mut terms = self.terms.iter();
        let found = terms.find(|it| !it.negated && it.field == field)?;
        Some(&found.value)
    }

    /// Renames fields or values, as a kind's own names want it; a term of two empty texts goes away.
    pub fn transform<E>(
        self,
        mut change: impl FnMut(String, String) -> Result<(String, String), E>,
    ) -> Result<Self, E> {
        let mut terms = Vec::with_capacity(self.terms.len());
        for term in self.terms {
            let (field, value) = change(term.field, term.value)?;
            let term = Term {
                field,
                value,
                negated: term.negated,
            };
            terms.extend(Some(term).filter(Term::says_something));
        }
        Ok(Self { terms })
    }
}

impl Term {
    /// Whether a field with this value is meant.
    pub fn matches(&self, value: &str) -> bool {
        (value == self.value) != self.negated
    }

    fn says_something(&self) -> bool {
        !self.field.is_empty() || !self.value.is_empty()
    }
}

fn split_terms(text: &str) -> Vec<&str> {
    let mut terms = Vec::new();
    let (mut start, mut escaped) = (0, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b',' => {
                terms.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    terms.push(&text[start..]);
    terms
}

fn parse_term(selector: &str, term: &str) -> Result<Term, FieldError> {
    let not_a_term = || FieldError::Term {
        selector: selector.into(),
        term: term.into(),
    };
    let equals = term.find('=').ok_or_else(not_a_term)?;
    let (field, value) = (&term[..equals], &term[equals + 1..]);
    let (field, negated) = match field.strip_suffix('!') {
        Some(field) => (field, true),
        None => (field, false),
    };
    let value = match value.strip_prefix('=') {
        Some(value) if !negated => value,
        _ => value,
    };
    Ok(Term {
        field: field.into(),
        value: unescape_value(value)?,
        negated,
    })
}

pub fn escape_value(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for it in value.chars() {
        if let '\\' | ',' | '=' = it {
            out.push('\\');
        }
        out.push(it);
    }
    out
}

pub fn unescape_value(value: &str) -> Result<String, FieldError> {
    let mut out = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(it) = chars.next() {
        match it {
            '\\' => match chars.next() {
                Some(it @ ('\\' | ',' | '=')) => out.push(it),
                Some(it) => return Err(FieldError::Escape(format!("\\{it}"))),
                None => return Err(FieldError::Escape("\\".into())),
            },
            ',' | '=' => return Err(FieldError::Unescaped(it)),
            it => out.push(it),
        }
    }
    Ok(out)
}

impl fmt::Display for FieldSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, term) in self.terms.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            let operator = if term.negated { "!=" } else { "=" };
            let value = escape_value(&term.value);
            write!(f, "{comma}{}{operator}{value}", term.field)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_and_prints() {
        let good = [
            ("x=a,y=b,z=c", "x=a,y=b,z=c"),
            ("", ""),
            ("x!=a,y=b", "x!=a,y=b"),
            (r"x=a||y\=b", r"x=a||y\=b"),
            (r"x=a\=\=b", r"x=a\=\=b"),
            ("x==a", "x=a"),
            ("b=1,,a=2,", "a=2,b=1"),
            (r"k=\,,k2=v2", r"k2=v2,k=\,"),
            (r"k=\\,k2=v2", r"k2=v2,k=\\"),
            ("함=수,목=록", "목=록,함=수"),
            ("a=", "a="),
            ("=a", "=a"),
            ("=,!=", ""),
        ];
        for (text, want) in good {
            let selector = FieldSelector::parse(text);
            assert_eq!(selector.map(|it| it.to_string()).as_deref(), Ok(want));
        }
        let bad = [
            (
                "x=a||y=b",
                "invalid field selector: unescaped character in value: 61",
            ),
            (
                "x==a==b",
                "invalid field selector: unescaped character in value: 61",
            ),
            (
                "x!==a",
                "invalid field selector: unescaped character in value: 61",
            ),
            ("x=a,b", "invalid selector: 'x=a,b'; can't understand 'b'"),
            (
                "x in (a)",
                "invalid selector: 'x in (a)'; can't understand 'x in (a)'",
            ),
            ("x", "invalid selector: 'x'; can't understand 'x'"),
            (
                r"k=\a",
                r"invalid field selector: invalid escape sequence: \a",
            ),
            (
                r"k=\\\",
                r"invalid field selector: invalid escape sequence: \",
            ),
        ];
        for (text, want) in bad {
            let error = FieldSelector::parse(text).map_err(|it| it.to_string());
            assert_eq!(error, Err(want.into()), "{text}");
        }
    }

    #[test]
    fn escapes() {
        for value in ["", "a", "=", ",", "\\", r"\=\,\"] {
            assert_eq!(unescape_value(&escape_value(value)).as_deref(), Ok(value));
        }
        assert_eq!(escape_value(r"\=\,\"), r"\\\=\\\,\\");
    }

    #[test]
    fn matches() {
        let fields = [("foo", "bar"), ("baz", "blah"), ("complex", r"=value\,\")];
        let get = |key: &str| fields.iter().find(|it| it.0 == key).map_or("", |it| it.1);
        let table = [
            ("", true),
            ("foo=bar", true),
            ("foo=bar,baz=blah", true),
            (r"foo=bar,baz=blah,complex=\=value\\\,\\", true),
            ("none=", true),
            ("none!=x", true),
            ("foo=blah", false),
            ("foo!=bar", false),
            ("foo=bar,foobar=bar,baz=blah", false),
        ];
        for (text, want) in table {
            let selector = FieldSelector::parse(text).unwrap_or_default();
            assert_eq!(selector.matches_with(get), want, "{text}");
        }
    }

    #[test]
    fn exact_matches_and_transforms() {
        let selector = FieldSelector::parse("a=b,c!=d,e=f").unwrap_or_default();
        assert_eq!(selector.exact_match("a"), Some("b"));
        assert_eq!(selector.exact_match("c"), None);
        let changed = selector.transform(|field, value| match &*field {
            "a" => Ok((String::new(), String::new())),
            "e" => Ok(("g".into(), value)),
            _ => Ok::<_, ()>((field, value)),
        });
        assert_eq!(changed.map(|it| it.to_string()).as_deref(), Ok("c!=d,g=f"));
    }
}
