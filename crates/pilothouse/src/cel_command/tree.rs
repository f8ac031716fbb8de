//! The parts of an expression as a tree, with what each of them costs.

use cel::{Part, Parts};
use json::{Value, json};

use super::{grouped, maximum};

/// No longer text of a part is shown.
const WIDTH: usize = 100;

/// A table: costs, and the tree beside them. Parts that cost nothing are left out.
pub(super) fn text(expression: &str, parts: &Parts) -> String {
    let all: Vec<&Part> = parts.iter().collect();
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); all.len()];
    for (at, part) in all.iter().enumerate() {
        if let Some(parent) = part.parent
            && (part.max > 0 || part.units != 0)
        {
            below[parent].push(at);
        }
    }
    let mut rows = vec![["MAX".to_owned(), "RUN".to_owned(), "EXPRESSION".to_owned()]];
    // The part, what is before it, and what is before those within it.
    let mut todo = vec![(0, String::new(), String::new())];
    while let Some((at, before, inside)) = todo.pop() {
        let Some(part) = all.get(at) else { continue };
        let max = if part.is_alternative {
            format!("({})", maximum(part.max))
        } else {
            maximum(part.max)
        };
        let text = shortened(&expression[part.range.clone()]);
        rows.push([max, signed(part.units), format!("{before}{text}")]);
        let last = below[at].last().copied();
        let children = below[at].iter().rev();
        todo.extend(children.map(|child| {
            let (branch, more) = if Some(*child) == last {
                ("└─ ", "   ")
            } else {
                ("├─ ", "│  ")
            };
            (
                *child,
                format!("{inside}{branch}"),
                format!("{inside}{more}"),
            )
        }));
    }
    let width = |column: usize| rows.iter().map(|it| it[column].len()).max().unwrap_or(0);
    let (first, second) = (width(0), width(1));
    let lines = rows
        .iter()
        .map(|[max, run, text]| format!("{max:>first$}  {run:>second$}  {text}\n"));
    lines.collect()
}

fn signed(units: i64) -> String {
    let sign = if units < 0 { "-" } else { "" };
    format!("{sign}{}", grouped(units.unsigned_abs()))
}

/// On one line, and not too long.
fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= WIDTH {
        return line;
    }
    let begin: String = line.chars().take(WIDTH - 3).collect();
    format!("{begin}...")
}

/// All parts, each before those within it; a parent is an index of the list.
pub(super) fn json(expression: &str, parts: &Parts) -> Value {
    let cost = |it: u64| i64::try_from(it).map_or(Value::Null, Value::from);
    let rows = parts.iter().map(|it| {
        let parent = it.parent.and_then(|it| i64::try_from(it).ok());
        json!({
            "text": (&expression[it.range.clone()]),
            "start": (cost(it.range.start as u64)),
            "end": (cost(it.range.end as u64)),
            "parent": parent,
            "max": (cost(it.max)),
            "ownMax": (cost(it.own_max)),
            "alternative": (it.is_alternative),
            "cost": (it.units),
            "ownCost": (it.own_units),
        })
    });
    Value::Array(rows.collect())
}
