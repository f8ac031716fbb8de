//! The cost of calls at run time, by function and overload, and the count of it.

use std::cell::Cell;

use super::is_unit_cost;
use crate::env::Options;
use crate::error::Error;
use crate::value::{Opaque, Value};

/// How a call is charged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Charge {
    One,
    Fixed(u64),
    /// A part of the size of an argument.
    Part(u8, f64),
    /// A part of the size of the result.
    ResultPart(f64),
    /// A part of the smaller of two arguments.
    Smaller,
    /// As [`Charge::Smaller`], but 1 for values of Kubernetes' libraries.
    Equality,
    Sum,
    /// As many as the second argument has elements.
    Elements,
    Match,
    Contains,
    /// All of the first argument, with what is in it.
    Traversal,
    Selector,
    ContainsIp(bool),
    ContainsCidr(bool),
    Validate,
    /// 11 and the size of the result.
    ListResult,
    Flatten,
    /// 11 and twice the square of the size of an argument.
    Square(u8),
    Sets(u64),
}

pub(crate) fn charge(function: &str, overload: &str, options: &Options) -> Charge {
    if options.list_costs {
        let charge = match overload {
            "list_slice" | "lists_range" | "list_reverse" => Some(Charge::ListResult),
            "list_flatten" | "list_flatten_int" => Some(Charge::Flatten),
            "list_distinct" => Some(Charge::Square(0)),
            _ if overload.ends_with("_sort") => Some(Charge::Square(0)),
            _ if overload.ends_with("_sortByAssociatedKeys") => Some(Charge::Square(1)),
            _ => None,
        };
        if let Some(charge) = charge {
            return charge;
        }
    }
    match overload {
        "list_sets_contains_list" | "list_sets_intersects_list" => return Charge::Sets(1),
        "list_sets_equivalent_list" => return Charge::Sets(2),
        _ => {}
    }
    if options.kubernetes_costs
        && let Some(charge) = kubernetes(function, overload)
    {
        return charge;
    }
    standard(overload)
}

fn standard(overload: &str) -> Charge {
    match overload {
        "starts_with_string" | "ends_with_string" => Charge::Part(1, 0.1),
        "string_to_bytes" | "bytes_to_string" | "strings_quote" | "string_format" => {
            Charge::Part(0, 0.1)
        }
        "in_list" => Charge::Elements,
        "less_string"
        | "greater_string"
        | "less_equals_string"
        | "greater_equals_string"
        | "less_bytes"
        | "greater_bytes"
        | "less_equals_bytes"
        | "greater_equals_bytes"
        | "equals"
        | "not_equals" => Charge::Smaller,
        "add_string" | "add_bytes" => Charge::Sum,
        "matches" | "matches_string" => Charge::Match,
        "contains_string" => Charge::Contains,
        _ => Charge::One,
    }
}

fn kubernetes(function: &str, overload: &str) -> Option<Charge> {
    Some(match function {
        "check" => Charge::Fixed(350_000),
        _ if is_unit_cost(function) => Charge::One,
        "fieldSelector" | "labelSelector" => Charge::Selector,
        "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" | "includes" => {
            Charge::Traversal
        }
        "ip" if overload == "cidr_ip" => Charge::One,
        "url"
        | "lowerAscii"
        | "upperAscii"
        | "substring"
        | "trim"
        | "jsonpatch.escapeKey"
        | "cidr"
        | "isIP"
        | "isCIDR"
        | "ip"
        | "quantity"
        | "isQuantity"
        | "semver"
        | "isSemver" => Charge::Part(0, 0.1),
        "replace" | "split" | "ip.isCanonical" => Charge::Part(0, 0.2),
        "join" => Charge::ResultPart(0.2),
        "find" | "findAll" => Charge::Match,
        "containsIP" => Charge::ContainsIp(overload == "cidr_contains_ip_string"),
        "containsCIDR" => Charge::ContainsCidr(overload == "cidr_contains_cidr_string"),
        "validate" => Charge::Validate,
        "_==_" => Charge::Equality,
        _ => return None,
    })
}

/// An argument or a result: a value, or none because of an error.
pub(crate) trait Argument<'a> {
    fn value(&self) -> Option<&Value<'a>>;
}

impl<'a> Argument<'a> for Value<'a> {
    fn value(&self) -> Option<&Value<'a>> {
        Some(self)
    }
}

impl<'a> Argument<'a> for Result<Value<'a>, Error> {
    fn value(&self) -> Option<&Value<'a>> {
        self.as_ref().ok()
    }
}

fn size<'a>(of: &impl Argument<'a>) -> u64 {
    of.value().map_or(1, Value::actual_size)
}

/// The size as Kubernetes' libraries see it: they do not look into optionals.
fn plain_size<'a>(of: &impl Argument<'a>) -> u64 {
    of.value().map_or(1, Value::size)
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "as cel-go computes it"
)]
pub(crate) fn part(size: u64, factor: f64) -> u64 {
    (size as f64 * factor).ceil() as u64
}

impl Charge {
    /// What a call costs whose arguments and result are known.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "as cel-go computes it"
    )]
    pub(crate) fn cost<'a, A: Argument<'a>>(
        self,
        args: &[A],
        result: &Result<Value<'a>, Error>,
    ) -> u64 {
        match self {
            Self::One => 1,
            Self::Fixed(it) => it,
            Self::Part(arg, factor) => args
                .get(usize::from(arg))
                .map_or(1, |it| part(size(it), factor)),
            Self::ResultPart(factor) => part(plain_size(result), factor),
            Self::Smaller | Self::Equality => {
                let [a, b] = args else { return 1 };
                if self == Self::Equality && matches!(a.value(), Some(Value::Opaque(_))) {
                    return 1;
                }
                part(size(a).min(size(b)), 0.1)
            }
            Self::Sum => args
                .first()
                .zip(args.get(1))
                .map_or(1, |(a, b)| part(size(a).saturating_add(size(b)), 0.1)),
            Self::Elements => args.get(1).map_or(1, size),
            Self::Match => match args {
                [text, pattern, ..] => {
                    part(size(text) + 1, 0.1).saturating_mul(part(size(pattern), 0.25))
                }
                _ => 1,
            },
            Self::Contains => match args {
                [a, b] => part(size(a), 0.1).saturating_mul(part(size(b), 0.1)),
                _ => 1,
            },
            Self::Traversal => args.first().map_or(0, |it| it.value().map_or(1, traversal)),
            Self::Selector => match args {
                [_, text] => {
                    let length = plain_size(text);
                    10 + part(length, 0.1) + part(part(length, 0.5), 50.0)
                }
                _ => 1,
            },
            Self::ContainsIp(parses) | Self::ContainsCidr(parses) => {
                let [cidr, other] = args else { return 1 };
                let cidr = plain_size(cidr);
                let mut cost = part(cidr + cidr, 0.1);
                if let Self::ContainsCidr(_) = self {
                    cost += part(cidr, 0.1) + 1;
                }
                if parses {
                    cost += part(plain_size(other), 0.1);
                }
                cost
            }
            Self::Validate => match args {
                [of, text] => match of.value() {
                    Some(Value::Opaque(Opaque::Format(format))) => part(plain_size(text) + 1, 0.1)
                        .saturating_mul(part(format.max_regex_size, 0.25)),
                    _ => 1,
                },
                _ => 1,
            },
            Self::ListResult => plain_size(result).saturating_add(11),
            Self::Flatten => {
                let depth = match args.get(1).and_then(A::value) {
                    Some(Value::Int(it)) if *it < 0 => 1.0,
                    Some(Value::Int(it)) => *it as f64,
                    _ => 1.0,
                };
                let size = args.first().map_or(1, plain_size);
                ((size as f64 * depth) as u64).saturating_add(11)
            }
            Self::Square(arg) => {
                let arg = args.get(usize::from(arg)).and_then(A::value);
                let Some(Value::List(list)) = arg else {
                    return 1;
                };
                let size = list.len() as u64;
                let factor = match list.get(0) {
                    Some(Ok(Value::String(_) | Value::Bytes(_))) => 2.1,
                    _ => 2.0,
                };
                let square = size.saturating_mul(size);
                ((square as f64 * factor) as u64).saturating_add(11)
            }
            Self::Sets(factor) => match args {
                [a, b] => plain_size(a)
                    .saturating_mul(plain_size(b))
                    .saturating_mul(factor)
                    .saturating_add(1),
                _ => 1,
            },
        }
    }
}

/// Everything in a value: a tenth of a byte of text, 1 for all else.
fn traversal(value: &Value) -> u64 {
    let tenth = |bytes: usize| (bytes as u64) / 10;
    match value {
        Value::String(it) => tenth(it.len()),
        Value::Bytes(it) => tenth(it.len()),
        Value::List(it) => it
            .iter()
            .map(|it| it.map_or(1, |it| traversal(&it)))
            .fold(0, u64::saturating_add),
        Value::Map(it) => it
            .pairs()
            .iter()
            .map(|(key, value)| traversal(key).saturating_add(value.as_ref().map_or(1, traversal)))
            .fold(0, u64::saturating_add),
        _ => 1,
    }
}

/// Notes which node of an expression was charged how much.
pub(crate) trait Ledger {
    fn charge(&mut self, id: u32, cost: i64);
}

/// Notes nothing, at no cost: the usual evaluation.
impl Ledger for () {
    fn charge(&mut self, _: u32, _: i64) {}
}

/// By the number of the node.
impl Ledger for Vec<i64> {
    fn charge(&mut self, id: u32, cost: i64) {
        if let Some(sum) = self.get_mut(id as usize) {
            *sum = sum.wrapping_add(cost);
        }
    }
}

/// Counts the cost of an evaluation.
///
/// cel-go charges a call when it has seen its result, and only if it still knows of all arguments: it keeps the
/// numbers of the nodes it has seen on a stack, and some nodes take others from it than they put there. The same stack
/// is kept here, without values; where a number was last put is known at once.
#[derive(Debug)]
pub(crate) struct Tracker<L> {
    pub(crate) cost: u64,
    pub(crate) ledger: L,
    limit: u64,
    /// The number of a node, and where it was put before.
    stack: Vec<(u32, u32)>,
    /// Where a number was put last, from 1.
    last: Vec<u32>,
}

/// A stack and places, as a [`Tracker`] has them.
type Kept = (Vec<(u32, u32)>, Vec<u32>);

/// More than this is not kept.
const MAX_KEPT: usize = 4096;

thread_local! {
    /// The stack and the places of an evaluation that has ended: empty, and all zero.
    static KEPT: Cell<Kept> = const { Cell::new((Vec::new(), Vec::new())) };
}

impl<L: Ledger> Tracker<L> {
    pub(crate) fn new(ids: usize, limit: u64, ledger: L) -> Self {
        let (stack, mut last) = KEPT.take();
        if last.len() < ids {
            last.resize(ids, 0);
        }
        Self {
            cost: 0,
            ledger,
            limit,
            stack,
            last,
        }
    }

    /// The ledger. What was allocated is kept for the next evaluation of this thread.
    pub(crate) fn finish(mut self) -> L {
        if self.last.len() <= MAX_KEPT && self.stack.capacity() <= MAX_KEPT {
            for (id, _) in self.stack.drain(..) {
                self.last[id as usize] = 0;
            }
            KEPT.set((self.stack, self.last));
        }
        self.ledger
    }

    /// Ends the evaluation if it has cost too much.
    #[inline]
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.cost > self.limit {
            return Err(Error::cost_limit());
        }
        Ok(())
    }

    pub(crate) fn left(&self) -> u64 {
        self.limit.saturating_sub(self.cost)
    }

    /// Charges a node.
    pub(crate) fn add(&mut self, id: u32, cost: u64) {
        self.cost = self.cost.wrapping_add(cost);
        self.ledger.charge(id, cost.cast_signed());
    }

    pub(crate) fn sub(&mut self, id: u32, cost: u64) {
        self.cost = self.cost.wrapping_sub(cost);
        self.ledger.charge(id, cost.cast_signed().wrapping_neg());
    }

    /// A node has a value. Ends the evaluation if that was one too many.
    pub(crate) fn push(&mut self, id: u32) -> Result<(), Error> {
        let last = &mut self.last[id as usize];
        let before = std::mem::replace(
            last,
            u32::try_from(self.stack.len() + 1).unwrap_or(u32::MAX),
        );
        self.stack.push((id, before));
        self.check()
    }

    /// Takes a number and all above it. Tells whether it was there.
    pub(crate) fn drop(&mut self, id: u32) -> bool {
        let at = self.last[id as usize];
        if at == 0 {
            return false;
        }
        while self.stack.len() >= at as usize {
            if let Some((id, before)) = self.stack.pop() {
                self.last[id as usize] = before;
            }
        }
        true
    }

    /// Takes the arguments of a call, the last one first. Tells whether all were there.
    pub(crate) fn drop_all(&mut self, ids: impl DoubleEndedIterator<Item = u32>) -> bool {
        ids.rev().all(|id| self.drop(id))
    }
}
