//! Planning, node by node.

use std::sync::Arc;

use super::{Attr, Base, Call, Fold, Ix, Key, Node, Plan, Qual, fold};
use crate::ast::{Ast, Expr, Id, Literal, Name, operator};
use crate::checker::{Checked, Reference};
use crate::cost::runtime;
use crate::env::Env;
use crate::error::Error;
use crate::functions;
use crate::value::{Blob, Str, Value};

/// Makes a program. Constants that cannot be computed are an error now.
pub(crate) fn plan(checked: &Checked, env: &Env, is_checked: bool) -> Result<Plan, Error> {
    let mut planner = Planner {
        ast: &checked.ast,
        checked: is_checked.then_some(checked),
        env,
        nodes: Vec::with_capacity(checked.ast.nodes.len()),
        globals: Vec::new(),
        scopes: Vec::new(),
        locals: 0,
        depth: 0,
        height: 0,
    };
    let root = planner.plan(checked.ast.root)?;
    Ok(Plan {
        nodes: planner.nodes,
        root,
        globals: planner.globals,
        locals: planner.locals,
        height: planner.height,
        ids: checked.ast.nodes.len(),
        presence_cost: env.options().presence_cost,
        strings: env.options().strings,
    })
}

struct Planner<'a> {
    ast: &'a Ast,
    checked: Option<&'a Checked>,
    env: &'a Env,
    nodes: Vec<Node>,
    globals: Vec<Name>,
    /// Variables of comprehensions and their slots.
    scopes: Vec<(Name, u32)>,
    locals: usize,
    depth: usize,
    height: usize,
}

type Planned<T = Ix> = Result<T, Error>;

impl Planner<'_> {
    fn add(&mut self, node: Node) -> Ix {
        self.nodes.push(node);
        Ix::try_from(self.nodes.len() - 1).unwrap_or(Ix::MAX)
    }

    fn constant(&mut self, id: Id, value: Value<'static>) -> Ix {
        self.add(Node::Const {
            id: id.0,
            value: Ok(value),
        })
    }

    pub(super) fn plan(&mut self, id: Id) -> Planned {
        self.depth += 1;
        self.height = self.height.max(self.depth);
        let planned = self.plan_node(id);
        self.depth -= 1;
        planned
    }

    fn plan_node(&mut self, id: Id) -> Planned {
        let ast = self.ast;
        match ast.expr(id) {
            Expr::Unspecified => Err(Error::new("unsupported expression")),
            Expr::Literal(literal) => {
                let value = match literal {
                    Literal::Null => Value::Null,
                    Literal::Bool(it) => Value::Bool(*it),
                    Literal::Int(it) => Value::Int(*it),
                    Literal::Uint(it) => Value::Uint(*it),
                    Literal::Double(it) => Value::Double(*it),
                    Literal::String(it) => Value::String(Str::Shared(it.clone())),
                    Literal::Bytes(it) => Value::Bytes(Blob::Shared(it.clone())),
                };
                Ok(self.constant(id, value))
            }
            Expr::Ident(name) => Ok(self.ident(id, name)),
            Expr::Select {
                operand,
                field,
                test_only,
            } => self.select(id, *operand, field, *test_only),
            Expr::Call {
                function,
                target,
                args,
            } => self.call(id, function, *target, args),
            Expr::List(elements) => {
                let elements = elements
                    .iter()
                    .map(|it| Ok((self.plan(it.value)?, it.optional)))
                    .collect::<Planned<Box<[_]>>>()?;
                let node = Node::List { id: id.0, elements };
                Ok(self.folded(node))
            }
            Expr::Map(entries) => {
                let entries = entries
                    .iter()
                    .map(|it| Ok((self.plan(it.key)?, self.plan(it.value)?, it.optional)))
                    .collect::<Planned<Box<[_]>>>()?;
                let node = Node::Map { id: id.0, entries };
                Ok(self.folded(node))
            }
            Expr::Struct { name, fields } => {
                let name = match self.checked.map(|it| it.reference(id)) {
                    Some(Reference::Variable { name, .. }) => name.clone(),
                    _ => match self.env.find_type(name) {
                        Some((name, _)) => name,
                        None => return Err(Error::new(format!("unknown type: {name}"))),
                    },
                };
                let fields = fields
                    .iter()
                    .map(|it| Ok((it.name.clone(), self.plan(it.value)?, it.optional)))
                    .collect::<Planned<Box<[_]>>>()?;
                Ok(self.add(Node::Struct {
                    id: id.0,
                    name,
                    fields,
                }))
            }
            Expr::Fold(it) => {
                let init = self.plan(it.init)?;
                let range = self.plan(it.range)?;
                let outer = self.scopes.len();
                let accu = self.local(&it.accu);
                let inner = self.scopes.len();
                let var = self.local(&it.var);
                let var2 = it.var2.as_ref().map(|it| self.local(it));
                let condition = self.plan(it.condition)?;
                let step = self.plan(it.step)?;
                self.scopes.truncate(inner);
                let result = self.plan(it.result)?;
                self.scopes.truncate(outer);
                Ok(self.add(Node::Fold(Box::new(Fold {
                    id: id.0,
                    range,
                    accu,
                    init,
                    var,
                    var2,
                    condition,
                    step,
                    result,
                }))))
            }
        }
    }

    /// A literal of constants is computed now.
    fn folded(&mut self, node: Node) -> Ix {
        let node = if self.env.options().fold_constants {
            fold::aggregate(&self.nodes, node)
        } else {
            node
        };
        self.add(node)
    }

    fn local(&mut self, name: &Name) -> u32 {
        let slot = u32::try_from(self.locals).unwrap_or(u32::MAX);
        self.locals += 1;
        self.scopes.push((name.clone(), slot));
        slot
    }

    fn global(&mut self, name: &Name) -> u32 {
        let at = self.globals.iter().position(|it| it == name);
        let at = at.unwrap_or_else(|| {
            self.globals.push(name.clone());
            self.globals.len() - 1
        });
        u32::try_from(at).unwrap_or(u32::MAX)
    }

    fn attr(&mut self, id: Id, base: Base) -> Ix {
        self.add(Node::Attr(Attr {
            id: id.0,
            base,
            quals: Vec::new(),
        }))
    }

    fn ident(&mut self, id: Id, name: &Name) -> Ix {
        let local = |planner: &Self, name: &str| {
            let found = planner.scopes.iter().rev().find(|it| &*it.0 == name);
            found.map(|it| it.1)
        };
        match self.checked.map(|it| it.reference(id)) {
            Some(Reference::Type(of)) => self.constant(id, Value::Type(Arc::new(of.clone()))),
            Some(Reference::Variable { name, global }) => {
                let base = match local(self, name) {
                    Some(slot) if !global => Base::Local(slot),
                    _ => Base::Global(self.global(name)),
                };
                self.attr(id, base)
            }
            _ => {
                let base = match local(self, name) {
                    Some(slot) => Base::Local(slot),
                    None => Base::Unresolved(
                        self.env
                            .candidates(name)
                            .iter()
                            .map(|it| Name::from(&**it))
                            .collect(),
                    ),
                };
                self.attr(id, base)
            }
        }
    }

    fn select(&mut self, id: Id, operand: Id, field: &Name, test_only: bool) -> Planned {
        if let Some(Reference::Variable { .. } | Reference::Type(_)) =
            self.checked.map(|it| it.reference(id))
        {
            return Ok(self.ident(id, field));
        }
        let key = Value::String(Str::Shared(field.clone()));
        let operand = self.plan(operand)?;
        let qual = Qual {
            id: id.0,
            optional: false,
            key: if test_only {
                Key::Test(key)
            } else {
                Key::Const(key)
            },
        };
        let ix = self.qualify(operand, qual);
        if test_only {
            let Node::Attr(attr) = self.take(ix) else {
                return Ok(ix);
            };
            return Ok(self.add(Node::Test { id: id.0, attr }));
        }
        Ok(ix)
    }

    /// Takes a node out of the program, to put it into another one.
    fn take(&mut self, ix: Ix) -> Node {
        let empty = Node::Const {
            id: 0,
            value: Ok(Value::Null),
        };
        std::mem::replace(&mut self.nodes[ix as usize], empty)
    }

    /// Adds a selection to an attribute, which any value can become.
    fn qualify(&mut self, operand: Ix, qual: Qual) -> Ix {
        if let Node::Attr(attr) = &mut self.nodes[operand as usize] {
            push(attr, qual);
            return operand;
        }
        // has() of something else is a value of which something is selected.
        let id = self.nodes[operand as usize].id();
        self.add(Node::Attr(Attr {
            id,
            base: Base::Value(operand),
            quals: vec![qual],
        }))
    }

    fn call(&mut self, id: Id, name: &Name, target: Option<Id>, args: &[Id]) -> Planned {
        let (name, target, overload) = self.resolve(id, name, target);
        let args = target
            .iter()
            .chain(args)
            .map(|it| self.plan(*it))
            .collect::<Planned<Vec<Ix>>>()?;
        match (&*name, &args[..]) {
            (operator::AND, [a, b]) => Ok(self.add(Node::And {
                id: id.0,
                terms: [*a, *b],
            })),
            (operator::OR, [a, b]) => Ok(self.add(Node::Or {
                id: id.0,
                terms: [*a, *b],
            })),
            (operator::CONDITIONAL, [condition, yes, no]) => {
                Ok(self.conditional(id, *condition, *yes, *no))
            }
            (operator::EQUALS | operator::NOT_EQUALS, [a, b]) => {
                let negated = &*name == operator::NOT_EQUALS;
                let overload = if negated { "not_equals" } else { "equals" };
                Ok(self.add(Node::Equal {
                    id: id.0,
                    args: [*a, *b],
                    negated,
                    charge: runtime::charge(&name, overload, self.env.options()),
                }))
            }
            (operator::INDEX, [operand, index]) => self.index(id, *operand, *index, false),
            (operator::OPT_INDEX | operator::OPT_SELECT, [operand, index]) => {
                self.index(id, *operand, *index, true)
            }
            ("or" | "orValue", [a, b]) if self.env.options().optional_syntax => {
                Ok(self.add(Node::OptionalOr {
                    id: id.0,
                    args: [*a, *b],
                    unwrap: &*name == "orValue",
                }))
            }
            _ => self.function(id, name, &overload, args),
        }
    }

    /// The name of a function, its target, and its overload if there is only one that fits.
    fn resolve(&self, id: Id, name: &Name, target: Option<Id>) -> (Name, Option<Id>, String) {
        let Some(checked) = self.checked else {
            if let Some(target) = target
                && let Some(prefix) = self.qualified(target)
                && let Some(function) = self.env.find_function(&format!("{prefix}.{name}"))
            {
                return (function.name.clone(), None, String::new());
            }
            let name = self.env.find_function(name).map_or(name, |it| &it.name);
            return (name.clone(), target, String::new());
        };
        match checked.reference(id) {
            Reference::Function(overloads) if overloads.len() == 1 => {
                (name.clone(), target, overloads[0].to_string())
            }
            _ => (name.clone(), target, String::new()),
        }
    }

    fn qualified(&self, id: Id) -> Option<String> {
        match self.ast.expr(id) {
            Expr::Ident(name) => Some(name.to_string()),
            Expr::Select {
                operand,
                field,
                test_only: false,
            } => Some(format!("{}.{field}", self.qualified(*operand)?)),
            _ => None,
        }
    }

    fn conditional(&mut self, id: Id, condition: Ix, yes: Ix, no: Ix) -> Ix {
        let mut branch = |ix: Ix| {
            let id = self.nodes[ix as usize].id();
            if let Node::Attr(_) = &self.nodes[ix as usize]
                && let Node::Attr(attr) = self.take(ix)
            {
                return Box::new(attr);
            }
            Box::new(Attr {
                id,
                base: Base::Value(ix),
                quals: Vec::new(),
            })
        };
        let (yes, no) = (branch(yes), branch(no));
        self.attr(id, Base::Conditional { condition, yes, no })
    }

    fn index(&mut self, id: Id, operand: Ix, index: Ix, optional: bool) -> Planned {
        let key = match &self.nodes[index as usize] {
            Node::Const { value, .. } => {
                let value = value.clone()?;
                if !functions::is_key(&value) {
                    return Err(functions::invalid_key(&value));
                }
                Key::Const(value)
            }
            Node::Attr(_) => match self.take(index) {
                Node::Attr(attr) => Key::Attr(Arc::new(attr)),
                _ => Key::Value(index),
            },
            _ => Key::Value(index),
        };
        let qual = Qual {
            id: id.0,
            optional,
            key,
        };
        Ok(self.qualify(operand, qual))
    }

    fn function(&mut self, id: Id, name: Name, overload: &str, args: Vec<Ix>) -> Planned {
        let function = functions::find(&name);
        let is_known = self
            .env
            .find_function(&name)
            .is_some_and(|it| it.overloads.iter().any(|it| it.args.len() == args.len()));
        if self.checked.is_none()
            && let Some(known) = self.env.find_function(&name)
            && !known.overloads.iter().any(|it| {
                // Overloads with no argument or with more than two share one implementation.
                let count = |count: usize| if count > 2 { 0 } else { count };
                count(it.args.len()) == count(args.len())
            })
        {
            let args = match args.len() {
                0 => "",
                1 => "arg",
                2 => "lhs, rhs",
                _ => "...",
            };
            return Err(Error::new(format!("no such overload: {name}({args})")));
        }
        let (Some(function), true) = (function, is_known || self.checked.is_none()) else {
            return self.unknown(id, name, args);
        };
        let bound = self
            .env
            .find_function(&name)
            .map_or(0, |it| it.overloads.len());
        let early =
            args.len() > 2 || (overload.is_empty() && bound > 1 && !functions::is_singleton(&name));
        let mut call = Call {
            id: id.0,
            charge: runtime::charge(&name, overload, self.env.options()),
            non_strict: &*name == operator::NOT_STRICTLY_FALSE,
            name,
            overload: Name::from(overload),
            function,
            args: args.into(),
            early,
            regex: None,
        };
        if self.env.options().fold_constants {
            if overload == "in_list"
                && let Some(node) = fold::membership(&self.nodes, &call)
            {
                return Ok(self.add(node));
            }
            if functions::is_conversion(&call.name)
                && let Some(value) = fold::conversion(&self.nodes, &call, self.env.options())
            {
                return Ok(self.add(Node::Const {
                    id: id.0,
                    value: Ok(value?),
                }));
            }
        }
        if matches!(&*call.name, "matches" | "find" | "findAll")
            && let Some(pattern) = call.args.get(1)
            && let Node::Const {
                value: Ok(Value::String(pattern)),
                ..
            } = &self.nodes[*pattern as usize]
        {
            let regex = crate::regexp::Regexp::new(pattern).map_err(Error::new)?;
            call.regex = Some(Arc::new(regex));
            call.early = true;
        }
        Ok(self.add(Node::Call(Box::new(call))))
    }

    /// A function without an implementation is an error, at the latest when it is called.
    fn unknown(&mut self, id: Id, name: Name, args: Vec<Ix>) -> Planned {
        if args.is_empty() {
            return Err(Error::no_such_overload_of(format_args!("{name}()")));
        }
        Ok(self.add(Node::Call(Box::new(Call {
            id: id.0,
            name,
            overload: Name::from(""),
            function: functions::UNKNOWN,
            args: args.into(),
            early: false,
            non_strict: false,
            charge: runtime::Charge::One,
            regex: None,
        }))))
    }
}

/// A selection of a conditional is one of both of its branches.
fn push(attr: &mut Attr, qual: Qual) {
    if let Base::Conditional { yes, no, .. } = &mut attr.base {
        push(yes, qual.clone());
        push(no, qual);
    } else {
        attr.quals.push(qual);
    }
}
