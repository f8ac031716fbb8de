//! What is in one object of a document.

use json::{Object, Value};

use crate::{Document, Error};

/// The fields of an object: those that nobody knows are noted, a value of the wrong type is an error at once, null is
/// the same as nothing.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    document: &'a Document,
    object: Option<&'a Object>,
    /// From the document's root, as in `egressSelections[0].connection`.
    path: String,
    /// The Go struct, as errors call it.
    of: String,
    inlined: String,
}

impl<'a> Fields<'a> {
    pub(crate) fn root(document: &'a Document, known: &[&str]) -> Self {
        let (value, kind) = (&document.value, document.kind.clone());
        Self::new(document, value, String::new(), kind, known)
    }

    /// Of a document whose fields are those of another struct, inlined: Go names both in errors.
    #[must_use]
    pub fn inlined(mut self, name: &str) -> Self {
        self.inlined = format!("{name}.");
        self
    }

    fn new(
        document: &'a Document,
        value: &'a Value,
        path: String,
        of: String,
        known: &[&str],
    ) -> Self {
        let fields = Self {
            document,
            object: value.as_object(),
            path,
            of,
            inlined: String::new(),
        };
        let root = fields.path.is_empty();
        for key in fields.object.iter().flat_map(|it| it.keys()) {
            let type_meta = root && matches!(&**key, "apiVersion" | "kind");
            if !type_meta && !known.contains(&&**key) {
                let path = meta::go::quote(&fields.below(key));
                let mut problems = document.problems.borrow_mut();
                problems.push(format!("unknown field {path}"));
            }
        }
        fields
    }

    /// The path of a field.
    pub fn below(&self, name: &str) -> String {
        if self.path.is_empty() {
            return name.to_owned();
        }
        format!("{}.{name}", self.path)
    }

    /// A field of any type.
    pub fn value(&self, name: &str) -> Option<&'a Value> {
        let found = self.object.and_then(|it| it.get(name));
        found.filter(|it| !it.is_null())
    }

    fn wrong(&self, name: &str, found: &Value, wanted: impl Into<String>) -> Error {
        let wanted = wanted.into();
        let found = match found {
            Value::Number(_) if wanted == "int32" => format!("number {}", json::to_string(found)),
            Value::Number(_) => "number".into(),
            Value::Bool(_) => "bool".into(),
            other => other.type_name().to_owned(),
        };
        // Go tells the names on the way, and not which item of a list it was.
        let mut path = String::new();
        let mut within = false;
        for it in self.below(name).chars() {
            within |= it == '[';
            if !within {
                path.push(it);
            }
            within &= it != ']';
        }
        Error::Type {
            found,
            field: format!("{}.{}{path}", self.of, self.inlined),
            wanted,
        }
    }

    /// A type of the document's version, as Go has it.
    fn go_type(&self, of: &str) -> String {
        let version = self.document.version.rsplit('/').next();
        format!("{}.{of}", version.unwrap_or_default())
    }

    pub fn text(&self, name: &str) -> Result<Option<&'a str>, Error> {
        let Some(value) = self.value(name) else {
            return Ok(None);
        };
        let text = value.as_str();
        text.map(Some)
            .ok_or_else(|| self.wrong(name, value, "string"))
    }

    pub fn integer(&self, name: &str) -> Result<Option<i32>, Error> {
        let Some(value) = self.value(name) else {
            return Ok(None);
        };
        let number = value.as_i64().and_then(|it| i32::try_from(it).ok());
        number
            .map(Some)
            .ok_or_else(|| self.wrong(name, value, "int32"))
    }

    /// An object below, with the fields that it may have.
    pub fn object(&self, name: &str, of: &str, known: &[&str]) -> Result<Option<Self>, Error> {
        let Some(value) = self.value(name) else {
            return Ok(None);
        };
        if value.as_object().is_none() {
            return Err(self.wrong(name, value, self.go_type(of)));
        }
        let path = self.below(name);
        Ok(Some(Self::new(
            self.document,
            value,
            path,
            of.to_owned(),
            known,
        )))
    }

    /// A list of objects.
    pub fn objects(&self, name: &str, of: &str, known: &[&str]) -> Result<Vec<Self>, Error> {
        let Some(value) = self.value(name) else {
            return Ok(Vec::new());
        };
        let Some(items) = value.as_array() else {
            let wanted = format!("[]{}", self.go_type(of));
            return Err(self.wrong(name, value, wanted));
        };
        let items = items.iter().enumerate().map(|(index, item)| {
            if item.as_object().is_none() && !item.is_null() {
                return Err(self.wrong(name, item, self.go_type(of)));
            }
            let path = format!("{}[{index}]", self.below(name));
            Ok(Self::new(self.document, item, path, of.to_owned(), known))
        });
        items.collect()
    }

    /// A map from text to text.
    pub fn texts(&self, name: &str) -> Result<Vec<(&'a str, &'a str)>, Error> {
        let Some(value) = self.value(name) else {
            return Ok(Vec::new());
        };
        let Some(map) = value.as_object() else {
            return Err(self.wrong(name, value, "map[string]string"));
        };
        let pairs = map.iter().map(|(key, value)| {
            let text = value.as_str();
            let text = text.ok_or_else(|| self.wrong(name, value, "string"));
            text.map(|text| (&**key, text))
        });
        pairs.collect()
    }
}
