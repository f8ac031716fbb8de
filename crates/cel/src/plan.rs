//! From a checked expression to a program: names become slots, calls become functions, constant parts become values.
//!
//! The nodes of a program, their numbers and what is computed beforehand are those of cel-go's planner, because the
//! cost of an evaluation depends on them.

mod build;
mod fold;

use std::sync::Arc;

use crate::ast::Name;
use crate::cost::runtime::Charge;
use crate::error::Error;
use crate::functions::Function;
use crate::value::Value;

pub(crate) use build::plan;

/// The index of a node of a [`Plan`].
pub(crate) type Ix = u32;

#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) nodes: Vec<Node>,
    pub(crate) root: Ix,
    /// The variables it reads.
    pub(crate) globals: Vec<Name>,
    /// How many variables of comprehensions it has.
    pub(crate) locals: usize,
    /// How deep its nodes are nested.
    pub(crate) height: usize,
    /// How many numbers its nodes have.
    pub(crate) ids: usize,
    pub(crate) presence_cost: u64,
    pub(crate) strings: u8,
}

#[derive(Debug)]
pub(crate) enum Node {
    Const {
        id: u32,
        value: Result<Value<'static>, Error>,
    },
    Attr(Attr),
    /// `has()`
    Test {
        id: u32,
        attr: Attr,
    },
    And {
        id: u32,
        terms: [Ix; 2],
    },
    Or {
        id: u32,
        terms: [Ix; 2],
    },
    Equal {
        id: u32,
        args: [Ix; 2],
        negated: bool,
        charge: Charge,
    },
    Call(Box<Call>),
    /// `x in [...]` where all elements are constants.
    InSet {
        id: u32,
        arg: Ix,
        set: Value<'static>,
    },
    /// `or` and `orValue` of optionals.
    OptionalOr {
        id: u32,
        args: [Ix; 2],
        unwrap: bool,
    },
    List {
        id: u32,
        elements: Box<[(Ix, bool)]>,
    },
    Map {
        id: u32,
        entries: Box<[(Ix, Ix, bool)]>,
    },
    Struct {
        id: u32,
        name: Name,
        fields: Box<[(Name, Ix, bool)]>,
    },
    Fold(Box<Fold>),
}

#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) id: u32,
    pub(crate) name: Name,
    /// The only overload that fits; empty if there are several.
    pub(crate) overload: Name,
    pub(crate) function: Function,
    pub(crate) args: Box<[Ix]>,
    /// The first argument that is an error ends the evaluation of the others.
    pub(crate) early: bool,
    /// It takes errors as arguments.
    pub(crate) non_strict: bool,
    pub(crate) charge: Charge,
    /// A regular expression that is a constant.
    pub(crate) regex: Option<Arc<crate::regexp::Regexp>>,
}

/// A variable or a value, and what is selected of it.
#[derive(Debug)]
pub(crate) struct Attr {
    pub(crate) id: u32,
    pub(crate) base: Base,
    pub(crate) quals: Vec<Qual>,
}

#[derive(Debug)]
pub(crate) enum Base {
    Global(u32),
    Local(u32),
    Value(Ix),
    Conditional {
        condition: Ix,
        yes: Box<Attr>,
        no: Box<Attr>,
    },
    /// Names that are only looked up at run time, in this order.
    Unresolved(Vec<Name>),
}

#[derive(Clone, Debug)]
pub(crate) struct Qual {
    pub(crate) id: u32,
    pub(crate) optional: bool,
    pub(crate) key: Key,
}

#[derive(Clone, Debug)]
pub(crate) enum Key {
    /// A field or a constant key.
    Const(Value<'static>),
    /// As [`Key::Const`], but only whether it is there.
    Test(Value<'static>),
    /// An index that is itself an attribute.
    Attr(Arc<Attr>),
    /// An index that is computed.
    Value(Ix),
}

#[derive(Debug)]
pub(crate) struct Fold {
    pub(crate) id: u32,
    pub(crate) range: Ix,
    pub(crate) accu: u32,
    pub(crate) init: Ix,
    pub(crate) var: u32,
    pub(crate) var2: Option<u32>,
    pub(crate) condition: Ix,
    pub(crate) step: Ix,
    pub(crate) result: Ix,
}

impl Attr {
    /// The node that pays for the attribute as a whole: the variable, or the last selection of a computed value.
    pub(crate) fn charged(&self) -> u32 {
        match self.base {
            Base::Global(_) | Base::Local(_) | Base::Unresolved(_) => self.id,
            Base::Value(_) | Base::Conditional { .. } => self.id(),
        }
    }

    pub(crate) fn id(&self) -> u32 {
        if let Some(last) = self.quals.last() {
            return last.id;
        }
        if let Base::Conditional { yes, no, .. } = &self.base {
            let (yes, no) = (yes.id(), no.id());
            if yes == no {
                return yes;
            }
        }
        self.id
    }
}

impl Node {
    pub(crate) fn id(&self) -> u32 {
        match self {
            Self::Const { id, .. }
            | Self::Test { id, .. }
            | Self::And { id, .. }
            | Self::Or { id, .. }
            | Self::Equal { id, .. }
            | Self::InSet { id, .. }
            | Self::OptionalOr { id, .. }
            | Self::List { id, .. }
            | Self::Map { id, .. }
            | Self::Struct { id, .. } => *id,
            Self::Attr(it) => it.id(),
            Self::Call(it) => it.id,
            Self::Fold(it) => it.id,
        }
    }
}
