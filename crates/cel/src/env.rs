//! Environments: which names, types and functions an expression can use.

use std::collections::HashMap;
use std::sync::Arc;

use crate::ast::Name;
use crate::checker::{self, Checked};
use crate::decls::{Function, Functions, Overload, libraries};
use crate::messages;
use crate::parser::{self, Macros};
use crate::schema::Schema;
use crate::schema::escape::is_reserved;
use crate::source::Issues;
use crate::types::Type;
use crate::validators;

/// An environment. Cheap to clone and to extend: functions are shared.
#[derive(Clone, Debug)]
pub struct Env {
    functions: Arc<Functions>,
    variables: Arc<HashMap<Name, Type>>,
    structs: Arc<HashMap<Name, Arc<StructType>>>,
    /// Object types that a schema describes, by the name of their root. They are looked up when an expression uses them:
    /// a large schema costs nothing for each expression.
    described: Option<(Name, Arc<Schema>)>,
    container: Name,
    options: Options,
}

/// An object type: its fields and their types.
#[derive(Clone, Debug, Default)]
pub struct StructType {
    pub fields: HashMap<Arc<str>, Type>,
}

/// What differs between environments beyond declarations.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of cel-go's"
)]
pub(crate) struct Options {
    pub(crate) macros: Macros,
    pub(crate) optional_syntax: bool,
    /// The elements of a literal must have one type.
    pub(crate) homogeneous_literals: bool,
    /// `1 < 2.5`
    pub(crate) cross_type_comparisons: bool,
    /// Literals of durations, timestamps and regular expressions are looked at when an expression is compiled.
    pub(crate) validate_literals: bool,
    /// Fields that are called like a keyword can be written as they are.
    pub(crate) keyword_fields: bool,
    /// `Object` and `JSONPatch`, the types of mutations.
    pub(crate) mutation_types: bool,
    /// Which version of the extension for strings.
    pub(crate) strings: u8,
    /// Whether the extension for lists brings its own costs.
    pub(crate) list_costs: bool,
    /// Calls cost what Kubernetes' libraries say.
    pub(crate) kubernetes_costs: bool,
    /// Constant parts are computed when the program is made.
    pub(crate) fold_constants: bool,
    /// What `has()` costs.
    pub(crate) presence_cost: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            macros: Macros {
                standard: true,
                ..Macros::default()
            },
            optional_syntax: false,
            homogeneous_literals: false,
            cross_type_comparisons: false,
            validate_literals: false,
            keyword_fields: true,
            mutation_types: false,
            strings: 0,
            list_costs: false,
            kubernetes_costs: false,
            fold_constants: true,
            presence_cost: 1,
        }
    }
}

/// Libraries beyond the language itself, for environments other than Kubernetes'.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Library {
    /// `a.?b`, `optional.of()` and the like.
    Optionals,
    /// The extension for strings, by version (0 to 4).
    Strings(u8),
    Sets,
    Lists,
    Math,
    /// `base64.encode` and `base64.decode`
    Encoders,
    /// `cel.bind`
    Bindings,
    /// `regex.extract`, `regex.extractAll`, `regex.replace`
    Regex,
    /// `ip()` and `cidr()`
    Network,
    /// Macros with a key and a value, such as `all(k, v, ...)`.
    TwoVariables,
    /// All that Kubernetes adds: URLs, quantities, formats, semantic versions, ...
    Kubernetes,
    /// Comparisons such as `1 < 2.5`.
    CrossTypeComparisons,
}

impl Default for Env {
    fn default() -> Self {
        Self::standard()
    }
}

impl Env {
    /// The language as its specification has it, without extensions.
    pub fn standard() -> Self {
        let mut functions = Functions::default();
        functions.add_library(libraries::STANDARD);
        Self {
            functions: Arc::new(functions),
            variables: Arc::default(),
            structs: Arc::default(),
            described: None,
            container: Name::from(""),
            options: Options::default(),
        }
    }

    /// Adds a library.
    #[must_use]
    pub fn library(mut self, library: Library) -> Self {
        let functions = Arc::make_mut(&mut self.functions);
        let mut add = |texts: &[&str]| texts.iter().for_each(|it| functions.add_library(it));
        let options = &mut self.options;
        match library {
            Library::Optionals => {
                add(&[libraries::OPTIONALS]);
                options.macros.optionals = true;
                options.optional_syntax = true;
            }
            Library::Strings(version) => {
                let all = [
                    libraries::STRINGS,
                    libraries::STRINGS_1,
                    libraries::STRINGS_2,
                    libraries::STRINGS_3,
                ];
                add(&all[..=usize::from(version).min(3)]);
                options.strings = version;
            }
            Library::Sets => add(&[libraries::SETS]),
            Library::Lists => {
                add(&[libraries::LISTS]);
                options.macros.sort_by = true;
                options.list_costs = true;
            }
            Library::Math => {
                add(&[libraries::MATH]);
                options.macros.math = true;
            }
            Library::Encoders => add(&[libraries::ENCODERS]),
            Library::Bindings => options.macros.bindings = true,
            Library::Regex => add(&[libraries::REGEX_EXTENSION]),
            Library::Network => add(&[libraries::IP, libraries::CIDR, libraries::NETWORK]),
            Library::TwoVariables => {
                add(&[libraries::TWO_VARIABLES]);
                options.macros.two_variables = true;
            }
            Library::Kubernetes => {
                add(&[
                    libraries::URLS,
                    libraries::REGEX,
                    libraries::KUBERNETES_LISTS,
                    libraries::KUBERNETES_LISTS_1,
                    libraries::AUTHZ,
                    libraries::AUTHZ_SELECTORS,
                    libraries::QUANTITY,
                    libraries::IP,
                    libraries::CIDR,
                    libraries::FORMAT,
                    libraries::SEMVER,
                    libraries::JSON_PATCH,
                ]);
                options.kubernetes_costs = true;
            }
            Library::CrossTypeComparisons => options.cross_type_comparisons = true,
        }
        self
    }

    pub(crate) fn with_declarations(mut self, text: &str) -> Self {
        Arc::make_mut(&mut self.functions).add_library(text);
        self
    }

    pub(crate) fn with_options(mut self, change: impl FnOnce(&mut Options)) -> Self {
        change(&mut self.options);
        self
    }

    /// Declares a variable.
    #[must_use]
    pub fn variable(mut self, name: &str, of: Type) -> Self {
        Arc::make_mut(&mut self.variables).insert(Name::from(name), of);
        self
    }

    /// Declares an overload of a function. A function that the crate does not know cannot be evaluated.
    #[must_use]
    pub fn function(
        mut self,
        name: &str,
        overload: &str,
        is_member: bool,
        args: Vec<Type>,
        result: Type,
    ) -> Self {
        let overload = Overload::new(overload, is_member, args, result);
        Arc::make_mut(&mut self.functions).add(name, overload);
        self
    }

    /// Declares an object type.
    #[must_use]
    pub fn structure(mut self, name: &str, of: StructType) -> Self {
        Arc::make_mut(&mut self.structs).insert(Name::from(name), Arc::new(of));
        self
    }

    /// Declares many object types.
    #[must_use]
    pub fn structures(mut self, all: impl IntoIterator<Item = (Arc<str>, StructType)>) -> Self {
        let all = all.into_iter().map(|(name, of)| (name, Arc::new(of)));
        Arc::make_mut(&mut self.structs).extend(all);
        self
    }

    /// Declares the object types of a schema, named by their path below `root`. Gives the type of its values, if
    /// expressions see them.
    pub(crate) fn described(mut self, root: &str, schema: Arc<Schema>) -> Option<(Self, Type)> {
        let of = schema.type_named(root)?;
        self.described = Some((Name::from(root), schema));
        Some((self, of))
    }

    fn described_object(&self, name: &str) -> Option<&Schema> {
        let (root, schema) = self.described.as_ref()?;
        let path = name.strip_prefix(&**root)?;
        (path.is_empty() || path.starts_with('.'))
            .then(|| schema.object_at(path))
            .flatten()
    }

    /// Declares one more field of an object type. In place, as long as no expression shares the environment.
    pub(crate) fn add_field(&mut self, structure: &str, field: &str, of: Type) {
        let structs = Arc::make_mut(&mut self.structs);
        let structure = structs.entry(Name::from(structure)).or_default();
        let fields = &mut Arc::make_mut(structure).fields;
        fields.insert(Arc::from(field), of);
    }

    /// Names are looked for in this namespace, and in those it is in.
    #[must_use]
    pub fn in_container(mut self, name: &str) -> Self {
        self.container = Name::from(name);
        self
    }

    /// Without macros, `has(a.b)` is a call like any other.
    #[must_use]
    pub fn without_macros(mut self) -> Self {
        self.options.macros = Macros::default();
        self
    }

    /// Parses and checks an expression.
    pub(crate) fn check(&self, text: &str) -> Result<Checked, Issues> {
        let ast = self.parse(text)?;
        let checked = checker::check(ast, self)?;
        validators::validate(&checked, &self.options)?;
        Ok(checked)
    }

    pub(crate) fn parse(&self, text: &str) -> Result<crate::ast::Ast, Issues> {
        parser::parse(
            text,
            parser::Options {
                macros: self.options.macros,
                optional_syntax: self.options.optional_syntax,
            },
        )
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    pub(crate) fn container(&self) -> &str {
        &self.container
    }

    pub(crate) fn is_disabled(&self, overload: &str) -> bool {
        !self.options.cross_type_comparisons && is_cross_type(overload)
    }

    /// The names that a name can mean, from the innermost namespace outwards.
    pub(crate) fn candidates(&self, name: &str) -> Vec<String> {
        if let Some(absolute) = name.strip_prefix('.') {
            return vec![absolute.to_owned()];
        }
        let mut all = Vec::new();
        let mut container = &*self.container;
        while !container.is_empty() {
            all.push(format!("{container}.{name}"));
            container = container.rsplit_once('.').map_or("", |it| it.0);
        }
        all.push(name.to_owned());
        all
    }

    pub(crate) fn find_function(&self, name: &str) -> Option<&Function> {
        if self.container.is_empty() {
            return self.functions.get(name.strip_prefix('.').unwrap_or(name));
        }
        let candidates = self.candidates(name);
        candidates.iter().find_map(|it| self.functions.get(it))
    }

    /// A variable or a type: its full name, the type of the expression, and whether it names a type.
    pub(crate) fn find_ident(&self, name: &str) -> Option<(Name, Type, bool)> {
        self.candidates(name).iter().find_map(|it| {
            if let Some((name, of)) = self.variables.get_key_value(&**it) {
                return Some((name.clone(), of.clone(), false));
            }
            let of = self.named_type(it)?;
            Some((Name::from(&**it), Type::of_type(of), true))
        })
    }

    pub(crate) fn find_type(&self, name: &str) -> Option<(Name, Type)> {
        self.candidates(name)
            .iter()
            .find_map(|it| Some((Name::from(&**it), self.named_type(it)?)))
    }

    fn named_type(&self, name: &str) -> Option<Type> {
        Some(match name {
            "bool" => Type::Bool,
            "bytes" => Type::Bytes,
            "double" => Type::Double,
            "int" => Type::Int,
            "uint" => Type::Uint,
            "string" => Type::String,
            "null_type" => Type::Null,
            "type" => Type::Type(None),
            "list" => Type::list(Type::Param(Name::from("A"))),
            "map" => Type::map(Type::Param(Name::from("A")), Type::Param(Name::from("B"))),
            "optional_type" if self.options.optional_syntax => Type::optional(Type::Dyn),
            "net.IP" | "net.CIDR" if self.functions.get("ip").is_some() => {
                Type::Opaque(Name::from(name), Arc::from([]))
            }
            _ if self.structs.contains_key(name) => Type::structure(name),
            _ if name.starts_with("google.protobuf.") => return messages::type_of(name),
            _ if self.described_object(name).is_some() => Type::structure(name),
            _ if self.options.mutation_types && is_mutation_type(name) => Type::structure(name),
            _ => return None,
        })
    }

    /// The type of a field: nothing if the type is not known, `Some(None)` if it has no such field.
    #[expect(
        clippy::option_option,
        reason = "no such type is not the same as no such field"
    )]
    pub(crate) fn find_field(&self, structure: &str, field: &str) -> Option<Option<Type>> {
        if let Some(of) = self.structs.get(structure) {
            return Some(of.fields.get(field).cloned());
        }
        if let Some(of) = self.described_object(structure) {
            let is_hidden = !self.options.keyword_fields && is_reserved(field);
            return Some(of.field_named(structure, field).filter(|_| !is_hidden));
        }
        if self.options.mutation_types && is_mutation_type(structure) {
            return Some(mutation_field(structure, field));
        }
        messages::type_of(structure).map(|_| messages::field(structure, field))
    }
}

fn is_mutation_type(name: &str) -> bool {
    name == "Object" || name == "JSONPatch" || name.starts_with("Object.")
}

fn mutation_field(structure: &str, field: &str) -> Option<Type> {
    match (structure, field) {
        ("JSONPatch", "op" | "path" | "from") => Some(Type::String),
        ("JSONPatch", "value") => Some(Type::Dyn),
        ("JSONPatch", _) => None,
        _ => Some(Type::Dyn),
    }
}

/// Comparisons of numbers of different types are overloads such as `less_int64_double`.
fn is_cross_type(overload: &str) -> bool {
    let Some(rest) = overload
        .strip_prefix("less_equals_")
        .or_else(|| overload.strip_prefix("less_"))
        .or_else(|| overload.strip_prefix("greater_equals_"))
        .or_else(|| overload.strip_prefix("greater_"))
    else {
        return false;
    };
    rest.split_once('_').is_some_and(|(a, b)| {
        let number = |it| matches!(it, "int64" | "uint64" | "double");
        number(a) && number(b)
    })
}
