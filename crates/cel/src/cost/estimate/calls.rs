//! What calls cost.

use std::sync::Arc;

use super::{Coster, Entries, Path};
use crate::ast::{Expr, Id, Literal};
use crate::cost::is_unit_cost;
use crate::cost::size::Range;
use crate::types::Type;

/// An argument: its path if it has one, and its size if that is known.
#[derive(Clone, Debug)]
pub(super) struct Arg {
    pub(super) id: Id,
    pub(super) path: Option<Path>,
    pub(super) size: Option<Range>,
}

impl Arg {
    fn known(&self) -> Range {
        self.size.unwrap_or(Range::UNKNOWN)
    }
}

const TENTH: f64 = 0.1;

type Estimate = (Range, Option<Range>);

#[expect(clippy::unnecessary_wraps, reason = "the shape of all estimates")]
fn only(cost: Range) -> Option<Estimate> {
    Some((cost, None))
}

impl Coster<'_> {
    /// The cost of an overload with that of its arguments, and the size of its result.
    pub(super) fn overload(
        &mut self,
        id: Id,
        function: &str,
        overload: &str,
        target: Option<&Arg>,
        args: &[Arg],
        costs: &[Range],
    ) -> Estimate {
        let sum = costs.iter().fold(Range::ZERO, |sum, it| sum.plus(*it));
        if let Some((cost, size)) = self
            .extension(overload, target, args)
            .or_else(|| self.kubernetes(function, overload, target, args))
        {
            return (cost.plus(sum), size);
        }
        self.standard(id, overload, target, args, costs, sum)
    }

    fn type_of(&self, arg: &Arg) -> &Type {
        self.checked.type_of(arg.id)
    }

    /// The size of a value of a library: computed, by its path, or unknown.
    fn size_of(&self, arg: &Arg) -> Range {
        arg.size
            .or_else(|| self.hint(arg.path.as_ref()))
            .unwrap_or(Range::UNKNOWN)
    }

    fn hint(&self, path: Option<&Path>) -> Option<Range> {
        let max = self.hints.max_size(path?)?;
        Some(Range { min: 0, max })
    }

    /// The type and the size of the elements of a list.
    fn element(&self, list: &Arg) -> Option<(Type, Range)> {
        let of = match self.type_of(list) {
            Type::List(it) => (**it).clone(),
            Type::Map(it) => it.0.clone(),
            other => other.params().first()?.clone(),
        };
        let path: Option<Path> = list
            .path
            .as_ref()
            .map(|it| it.iter().cloned().chain([Arc::from("@items")]).collect());
        Some((of, self.hint(path.as_ref()).unwrap_or(Range::UNKNOWN)))
    }

    fn literal_int(&self, arg: &Arg) -> Option<u64> {
        match self.checked.ast.expr(arg.id) {
            Expr::Literal(Literal::Int(it)) => Some(u64::try_from(*it).unwrap_or(0)),
            _ => None,
        }
    }

    /// The extensions for lists and sets bring their own costs.
    fn extension(&self, overload: &str, target: Option<&Arg>, args: &[Arg]) -> Option<Estimate> {
        if let Some(factor) = match overload {
            "list_sets_contains_list" | "list_sets_intersects_list" => Some(1.0),
            "list_sets_equivalent_list" => Some(2.0),
            _ => None,
        } {
            let [a, b] = args else { return None };
            let product = self.size_of(a).times(self.size_of(b));
            return only(product.scaled(factor).plus(Range::fixed(1)));
        }
        if !self.options.list_costs {
            return None;
        }
        let allocates = |factor: f64, size: Range| {
            Some((size.scaled(factor).plus(Range::fixed(11)), Some(size)))
        };
        match (overload, target, args) {
            ("list_slice", Some(target), [start, end]) => {
                let start = self.literal_int(start).unwrap_or(0);
                let end = self
                    .literal_int(end)
                    .unwrap_or_else(|| self.size_of(target).max);
                allocates(1.0, Range::fixed(end.wrapping_sub(start)))
            }
            ("lists_range", None, [count]) => allocates(
                1.0,
                Range::fixed(self.literal_int(count).unwrap_or(u64::MAX)),
            ),
            ("list_reverse" | "list_flatten", Some(target), []) => {
                allocates(1.0, self.size_of(target))
            }
            #[expect(clippy::cast_precision_loss, reason = "as cel-go computes it")]
            ("list_flatten_int", Some(target), [depth]) => {
                let depth = self.literal_int(depth).unwrap_or(u64::MAX);
                allocates(depth as f64, self.size_of(target))
            }
            ("list_distinct", Some(target), []) => {
                let size = self.size_of(target);
                allocates(2.0, size.times(size))
            }
            (_, Some(target), _)
                if overload.ends_with("_sort") || overload.ends_with("_sortByAssociatedKeys") =>
            {
                let size = self.size_of(args.first().unwrap_or(target));
                let is_text =
                    overload.starts_with("list_string_") || overload.starts_with("list_bytes_");
                allocates(if is_text { 2.1 } else { 2.0 }, size.times(size))
            }
            _ => None,
        }
    }

    #[expect(clippy::too_many_lines, reason = "one arm per function")]
    fn kubernetes(
        &self,
        function: &str,
        overload: &str,
        target: Option<&Arg>,
        args: &[Arg],
    ) -> Option<Estimate> {
        if !self.options.kubernetes_costs {
            return None;
        }
        let one = Range::fixed(1);
        match (function, target, args) {
            ("check", ..) => only(Range::fixed(350_000)),
            _ if is_unit_cost(function) => only(one),
            ("fieldSelector" | "labelSelector", _, [text]) => {
                let length = self.size_of(text);
                let requirements = length.scaled(0.5).scaled(50.0);
                only(
                    Range::fixed(10)
                        .plus(length.scaled(TENTH))
                        .plus(requirements),
                )
            }
            (
                "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" | "includes",
                Some(target),
                _,
            ) => {
                let size = self.size_of(target);
                match self.element(target) {
                    Some((of, element)) => {
                        let text = matches!(of, Type::String | Type::Bytes);
                        let each = if text {
                            one.plus(element.scaled(TENTH))
                        } else {
                            one
                        };
                        only(size.times(each))
                    }
                    None if function == "includes" => only(size.times(one)),
                    None => only(size.scaled(TENTH)),
                }
            }
            ("url" | "jsonpatch.escapeKey", _, [text]) => {
                let size = self.size_of(text);
                Some((size.scaled(TENTH), Some(size)))
            }
            ("lowerAscii" | "upperAscii" | "substring" | "trim", Some(target), _) => {
                let size = self.size_of(target);
                Some((size.scaled(TENTH), Some(size)))
            }
            ("replace", Some(target), [old, new, ..]) => {
                let size = self.size_of(target);
                let result = replaced(size, self.size_of(old), self.size_of(new));
                Some((size.scaled(2.0 * TENTH), Some(result)))
            }
            ("split", Some(target), _) => {
                let size = self.size_of(target);
                let max = match args.get(1).map(|it| self.checked.ast.expr(it.id)) {
                    Some(Expr::Literal(Literal::Int(it))) => it.cast_unsigned(),
                    _ => size.max,
                };
                Some((size.scaled(2.0 * TENTH), Some(Range { min: 0, max })))
            }
            ("join", Some(target), _) => {
                let list = self.size_of(target);
                let mut size = match self.element(target) {
                    Some((_, element)) => list.times(element),
                    None => Range::ZERO,
                };
                if let Some(separator) = args.first() {
                    let gaps = Range {
                        min: list.min.saturating_sub(1),
                        max: list.max.saturating_sub(1),
                    };
                    size = size.plus(self.size_of(separator).times(gaps));
                }
                Some((size.scaled(TENTH), Some(size)))
            }
            ("find" | "findAll", Some(target), [pattern, ..]) => {
                let size = self.size_of(target);
                let text = size.plus(one).scaled(TENTH);
                let pattern = self.size_of(pattern).scaled(0.25);
                let result = Range {
                    min: 0,
                    max: size.max,
                };
                Some((text.times(pattern), Some(result)))
            }
            ("ip", ..) if overload == "cidr_ip" => only(one),
            (
                "cidr" | "isIP" | "isCIDR" | "ip" | "quantity" | "isQuantity" | "semver"
                | "isSemver",
                _,
                [text, ..],
            ) => only(self.size_of(text).scaled(TENTH)),
            ("ip.isCanonical", _, [text, ..]) => only(self.size_of(text).scaled(2.0 * TENTH)),
            ("containsIP" | "containsCIDR", _, [other, ..]) => {
                let bytes = Range { min: 4, max: 16 };
                let mut cost = bytes.plus(bytes).scaled(TENTH);
                if function == "containsCIDR" {
                    cost = cost.plus(bytes.scaled(TENTH)).plus(one);
                }
                if matches!(
                    overload,
                    "cidr_contains_ip_string" | "cidr_contains_cidr_string"
                ) {
                    cost = cost.plus(self.size_of(other).scaled(TENTH));
                }
                only(cost)
            }
            ("validate", _, [text, ..]) => {
                only(self.size_of(text).scaled(TENTH).scaled(128.0 * 0.25))
            }
            ("_==_", _, [a, b]) => self.equality(a, b),
            _ => None,
        }
    }

    /// Values of libraries are compared at once; URLs and formats by their texts.
    fn equality(&self, a: &Arg, b: &Arg) -> Option<Estimate> {
        let (left, right) = (self.type_of(a), self.type_of(b));
        if left.name() != right.name() {
            return None;
        }
        let max = match left.name() {
            "net.IP"
            | "net.CIDR"
            | "kubernetes.Quantity"
            | "kubernetes.Semver"
            | "kubernetes.authorization.Authorizer"
            | "kubernetes.authorization.PathCheck"
            | "kubernetes.authorization.GroupCheck"
            | "kubernetes.authorization.ResourceCheck"
            | "kubernetes.authorization.Decision" => return only(Range::fixed(1)),
            "kubernetes.NamedFormat" => 64,
            "kubernetes.URL" => b.size.map_or(1, |it| it.max),
            _ => return None,
        };
        only(Range { min: 1, max }.scaled(TENTH))
    }

    fn standard(
        &mut self,
        id: Id,
        overload: &str,
        target: Option<&Arg>,
        args: &[Arg],
        costs: &[Range],
        sum: Range,
    ) -> Estimate {
        let with = |cost: Range| (cost.plus(sum), None);
        match (overload, target, args) {
            ("string_format", Some(target), _) => with(target.known().scaled(TENTH)),
            ("string_to_bytes", _, [it]) => {
                let size = it.known();
                let result = Range {
                    min: size.min,
                    max: size.max.wrapping_mul(4),
                };
                (size.scaled(TENTH).plus(sum), Some(result))
            }
            ("bytes_to_string", _, [it]) => {
                let size = it.known();
                let result = Range {
                    min: size.min / 4,
                    max: size.max,
                };
                (size.scaled(TENTH).plus(sum), Some(result))
            }
            ("strings_quote", _, [it]) => {
                let size = it.known();
                let result = Range {
                    min: size.min.wrapping_add(2),
                    max: size.max.wrapping_mul(2).wrapping_add(2),
                };
                (size.scaled(TENTH).plus(sum), Some(result))
            }
            ("starts_with_string" | "ends_with_string", _, [it]) => with(it.known().scaled(TENTH)),
            ("in_list", _, [_, list]) => with(list.known()),
            ("matches_string", Some(text), [pattern]) | ("matches", None, [text, pattern]) => {
                let text = text.known().plus(Range::fixed(1)).scaled(TENTH);
                with(text.times(pattern.known().scaled(0.25)))
            }
            ("contains_string", Some(text), [part]) => {
                with(text.known().scaled(TENTH).times(part.known().scaled(TENTH)))
            }
            ("logical_or" | "logical_and", _, _) => {
                let (left, right) = (costs[0], costs[1]);
                let cost = Range {
                    min: left.min,
                    max: left.plus(right).max,
                };
                (cost, None)
            }
            ("conditional", _, [_, yes, no]) => {
                let size = yes.known().union(no.known());
                if let Some(entries) = Entries::union(self.entries(yes.id), self.entries(no.id)) {
                    self.entries[id.index()] = Some(entries);
                }
                (costs[0].plus(costs[1].union(costs[2])), Some(size))
            }
            ("add_string" | "add_bytes" | "add_list", _, [a, b]) => {
                let size = a.known().plus(b.known());
                if let Some(entries) = Entries::union(self.entries(a.id), self.entries(b.id)) {
                    self.entries[id.index()] = Some(entries);
                }
                let cost = if overload == "add_list" {
                    Range::fixed(1)
                } else {
                    size.scaled(TENTH)
                };
                (cost.plus(sum), Some(size))
            }
            (
                "less_string"
                | "greater_string"
                | "less_equals_string"
                | "greater_equals_string"
                | "less_bytes"
                | "greater_bytes"
                | "less_equals_bytes"
                | "greater_equals_bytes"
                | "equals"
                | "not_equals",
                _,
                [a, b],
            ) => {
                let max = a.known().max.min(b.known().max);
                let range = Range {
                    min: u64::from(max > 0),
                    max,
                };
                with(range.scaled(TENTH))
            }
            _ => with(Range::fixed(1)),
        }
    }
}

/// The size of a text in which something is replaced.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "as Kubernetes computes it"
)]
fn replaced(text: Range, old: Range, new: Range) -> Range {
    let (mut count, mut kept) = (Range::ZERO, Range::ZERO);
    let times = |size: u64, by: u64| (size as f64 / by as f64).ceil() as u64;
    if old.min == 0 {
        count.max = text.max.saturating_add(1);
        kept.max = text.max;
    } else if new.max <= old.min {
        kept.max = text.max;
    } else {
        count.max = times(text.max, old.min);
    }
    if old.max == 0 {
        count.min = text.min.saturating_add(1);
        kept.min = text.min;
    } else if old.max <= new.min {
        kept.min = text.min;
    } else {
        count.min = times(text.min, old.max);
    }
    count.times(new).plus(kept)
}
