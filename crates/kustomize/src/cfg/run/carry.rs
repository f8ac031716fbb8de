//! What functions lose on the way: comments, and the order of fields.

use yaml::{Kind, Node, Style};

use crate::cfg::annotations::root;
use crate::schema::{Place, Schema};

/// Copies comments to the same fields of another tree, where they have none.
pub(super) fn comments(from: &Node, to: &mut Node) {
    copy(from, to);
    let schema = Schema::builtin();
    let place = {
        let text = |key| root(from).get(key).map_or("", |it| it.value.as_str());
        schema.named(text("apiVersion"), text("kind"))
    };
    let mut to = to;
    if to.kind == Kind::Document && !to.content.is_empty() {
        to = &mut to.content[0];
    }
    walk(root(from), to, place);
}

fn copy(from: &Node, to: &mut Node) {
    if to.line_comment().is_empty() {
        to.set_line_comment(from.line_comment());
    }
    if to.head_comment().is_empty() {
        to.set_head_comment(from.head_comment());
    }
    if to.foot_comment().is_empty() {
        to.set_foot_comment(from.foot_comment());
    }
}

fn walk(from: &Node, to: &mut Node, place: Option<Place<'_>>) {
    if from.kind != to.kind {
        return;
    }
    match from.kind {
        Kind::Mapping => {
            for (key, value) in from.pairs() {
                let Some(at) = to.pairs().position(|(it, _)| it.value == key.value) else {
                    continue;
                };
                scalar(key, &mut to.content[2 * at]);
                let place = place.and_then(|it| it.field(&key.value));
                let other = &mut to.content[2 * at + 1];
                if other.kind == Kind::Scalar {
                    scalar(value, other);
                } else {
                    copy(value, other);
                    walk(value, other, place);
                }
            }
        }
        Kind::Sequence => {
            for (from, to) in from.content.iter().zip(to.content.iter_mut()) {
                if from.value == to.value {
                    copy(from, to);
                    walk(from, to, None);
                }
            }
            let Some(keys) = place.and_then(Place::merge_keys) else {
                return;
            };
            let items = place.and_then(Place::items);
            let id = |node: &Node| -> Vec<Option<String>> {
                let value = |key: &String| node.get(key).map(|it| it.value.clone());
                keys.iter().map(value).collect()
            };
            for from in from.content.iter() {
                let wanted = id(from);
                if let Some(to) = to.content.iter_mut().find(|it| id(it) == wanted)
                    && wanted.iter().any(Option::is_some)
                {
                    copy(from, to);
                    walk(from, to, items);
                }
            }
        }
        _ => {}
    }
}

fn scalar(from: &Node, to: &mut Node) {
    // A comment behind such a one would be written without a space.
    if to.style == Style::Folded {
        to.style = Style::DoubleQuoted;
    }
    copy(from, to);
}

/// Fields in the order of another tree, new ones last.
pub(super) fn order(from: &Node, to: &mut Node) {
    sort(from, to);
    lift_head_comments(to);
}

fn sort(from: &Node, to: &mut Node) {
    if from.kind != to.kind {
        return;
    }
    match from.kind {
        Kind::Mapping => {
            let mut left: Vec<Option<[Node; 2]>> = Vec::new();
            let mut nodes = std::mem::take(&mut to.content).into_vec().into_iter();
            while let (Some(key), Some(value)) = (nodes.next(), nodes.next()) {
                left.push(Some([key, value]));
            }
            let mut sorted = Vec::with_capacity(left.len());
            for (key, value) in from.pairs() {
                let same = |it: &&mut Option<[Node; 2]>| {
                    it.as_ref().is_some_and(|it| it[0].value == key.value)
                };
                if let Some([own, mut other]) = left.iter_mut().find(same).and_then(Option::take) {
                    sort(value, &mut other);
                    sorted.extend([own, other]);
                }
            }
            sorted.extend(left.into_iter().flatten().flatten());
            to.content = sorted.into();
        }
        Kind::Sequence => {
            for (from, to) in from.content.iter().zip(to.content.iter_mut()) {
                sort(from, to);
            }
        }
        _ => {}
    }
}

/// The comment above the first field of an item is the item's.
fn lift_head_comments(node: &mut Node) {
    match node.kind {
        Kind::Document | Kind::Mapping => node.content.iter_mut().for_each(lift_head_comments),
        Kind::Sequence => {
            for item in node.content.iter_mut() {
                let own = item.head_comment().to_owned();
                let Some(first) = item
                    .content
                    .first_mut()
                    .filter(|it| it.kind == Kind::Scalar)
                else {
                    continue;
                };
                let above = first.head_comment().to_owned();
                if own.is_empty() {
                    // As upstream: it stays with the field too.
                    item.set_head_comment(above);
                } else if !above.is_empty() {
                    first.set_head_comment("");
                    item.set_head_comment(format!("{own}\n{above}"));
                }
            }
        }
        _ => {}
    }
}
