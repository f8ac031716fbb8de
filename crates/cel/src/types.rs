//! Types of expressions, as the checker sees them.

use std::fmt;
use std::sync::Arc;

/// The type of an expression. Cheap to clone.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Type {
    Dyn,
    Any,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    Duration,
    Timestamp,
    List(Arc<Type>),
    Map(Arc<(Type, Type)>),
    /// An object with fields, which the environment knows by this name.
    Struct(Arc<str>),
    /// A type with a name and parameters, such as `optional_type(int)`.
    Opaque(Arc<str>, Arc<[Type]>),
    /// The type of a type.
    Type(Option<Arc<Type>>),
    /// A parameter of a declaration, such as `A` in `list(A)`.
    Param(Arc<str>),
    /// A null or a value of a primitive type.
    Wrapper(Arc<Type>),
    /// A type that is not known yet while an expression is checked.
    #[doc(hidden)]
    Var(u32),
    /// The type of what was already reported.
    Error,
}

pub(crate) const OPTIONAL: &str = "optional_type";

impl Type {
    pub fn list(element: Type) -> Self {
        Self::List(Arc::new(element))
    }

    pub fn map(key: Type, value: Type) -> Self {
        Self::Map(Arc::new((key, value)))
    }

    pub fn structure(name: &str) -> Self {
        Self::Struct(Arc::from(name))
    }

    pub fn optional(inner: Type) -> Self {
        Self::Opaque(Arc::from(OPTIONAL), Arc::from([inner]))
    }

    pub(crate) fn of_type(inner: Type) -> Self {
        Self::Type(Some(Arc::new(inner)))
    }

    pub(crate) fn is_dyn(&self) -> bool {
        matches!(self, Self::Dyn | Self::Any)
    }

    pub(crate) fn is_dyn_or_error(&self) -> bool {
        matches!(self, Self::Dyn | Self::Any | Self::Error)
    }

    /// The type within an optional one.
    pub(crate) fn unwrap_optional(&self) -> Option<&Type> {
        match self {
            Self::Opaque(name, params) if &**name == OPTIONAL => params.first(),
            _ => None,
        }
    }

    pub(crate) fn params(&self) -> &[Type] {
        match self {
            Self::List(it) | Self::Type(Some(it)) => std::slice::from_ref(it),
            Self::Opaque(_, params) => params,
            _ => &[],
        }
    }

    /// The name of the type without its parameters, as values tell it.
    pub fn name(&self) -> &str {
        match self {
            Self::Dyn => "dyn",
            Self::Any => "google.protobuf.Any",
            Self::Null => "null_type",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Double => "double",
            Self::String => "string",
            Self::Bytes => "bytes",
            Self::Duration => "google.protobuf.Duration",
            Self::Timestamp => "google.protobuf.Timestamp",
            Self::List(_) => "list",
            Self::Map(_) => "map",
            Self::Struct(name) | Self::Opaque(name, _) | Self::Param(name) => name,
            Self::Type(_) => "type",
            Self::Wrapper(it) => it.name(),
            Self::Var(_) => "_var",
            Self::Error => "error",
        }
    }

    /// Whether it has fewer parts than so many. Stops counting there.
    pub(crate) fn is_smaller_than(&self, count: usize) -> bool {
        fn left(of: &Type, count: usize) -> Option<usize> {
            let mut count = count.checked_sub(1).filter(|it| *it > 0)?;
            if let Type::Map(it) = of {
                count = left(&it.0, count)?;
                return left(&it.1, count);
            }
            for it in of.params() {
                count = left(it, count)?;
            }
            Some(count)
        }
        left(self, count).is_some()
    }

    /// How errors of the checker write it.
    pub(crate) fn shown(&self) -> Shown<'_> {
        Shown(self)
    }
}

/// As `cel-go` writes the output type of an expression.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::List(it) => write!(f, "list({it})"),
            Self::Map(it) => write!(f, "map({}, {})", it.0, it.1),
            Self::Opaque(name, params) if !params.is_empty() => {
                write!(f, "{name}(")?;
                for (index, param) in params.iter().enumerate() {
                    let comma = if index > 0 { ", " } else { "" };
                    write!(f, "{comma}{param}")?;
                }
                f.write_str(")")
            }
            Self::Type(Some(it)) => write!(f, "type({it})"),
            Self::Wrapper(it) => write!(f, "wrapper({it})"),
            _ => f.write_str(self.name()),
        }
    }
}

pub(crate) struct Shown<'a>(&'a Type);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Type::Any => f.write_str("any"),
            Type::Duration => f.write_str("duration"),
            Type::Timestamp => f.write_str("timestamp"),
            Type::Null => f.write_str("null"),
            Type::Error => f.write_str("!error!"),
            Type::Var(id) => write!(f, "_var{id}"),
            Type::List(it) => write!(f, "list({})", Shown(it)),
            Type::Map(it) => write!(f, "map({}, {})", Shown(&it.0), Shown(&it.1)),
            Type::Type(Some(it)) => write!(f, "type({})", Shown(it)),
            Type::Wrapper(it) => write!(f, "wrapper({})", Shown(it)),
            Type::Opaque(name, params) if !params.is_empty() => {
                write!(f, "{name}(")?;
                for (index, param) in params.iter().enumerate() {
                    let comma = if index > 0 { ", " } else { "" };
                    write!(f, "{comma}{}", Shown(param))?;
                }
                f.write_str(")")
            }
            other => f.write_str(other.name()),
        }
    }
}

/// Arguments of a call as errors write them: `string.(int, dyn)` or `(int, dyn)`.
pub(crate) fn signature(types: &[Type], is_member: bool) -> String {
    let mut text = String::new();
    let mut rest = types;
    if let Some((receiver, args)) = types.split_first().filter(|_| is_member) {
        text = format!("{}.", receiver.shown());
        rest = args;
    }
    let args: Vec<String> = rest.iter().map(|it| it.shown().to_string()).collect();
    text + "(" + &args.join(", ") + ")"
}
