//! A set of paths, as a tree whose nodes say whether they are members. Hot path.

use std::cmp::Ordering;
use std::fmt;

use super::{Element, Path};

/// Nodes are sorted; each is a member or has members below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Set<'a>(pub(crate) Vec<Node<'a>>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node<'a> {
    pub element: Element<'a>,
    pub member: bool,
    pub children: Set<'a>,
}

impl<'a> Set<'a> {
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// From nodes in any order, each element once. Nodes that say nothing are dropped.
    pub(crate) fn from_nodes(mut nodes: Vec<Node<'a>>) -> Self {
        if !nodes.is_sorted_by(|a, b| a.element < b.element) {
            nodes.sort_by(|a, b| a.element.cmp(&b.element));
        }
        Self(nodes)
    }

    pub fn nodes(&self) -> &[Node<'a>] {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        let sizes = self.0.iter();
        sizes
            .map(|it| usize::from(it.member) + it.children.len())
            .sum()
    }

    pub fn get(&self, element: &Element) -> Option<&Node<'a>> {
        let found = self.0.binary_search_by(|it| it.element.cmp(element));
        found.ok().map(|at| &self.0[at])
    }

    pub fn has(&self, path: &Path) -> bool {
        let Some((last, parents)) = path.0.split_last() else {
            return false;
        };
        let holder = (parents.iter()).try_fold(self, |set, it| Some(&set.get(it)?.children));
        holder
            .and_then(|set| set.get(last))
            .is_some_and(|it| it.member)
    }

    /// The whole object is nothing that one can own: an empty path adds nothing.
    pub fn insert(&mut self, path: Path<'a>) {
        let mut set = self;
        let mut left = path.0.len();
        for element in path.0 {
            left -= 1;
            let at = match set.0.binary_search_by(|it| it.element.cmp(&element)) {
                Ok(at) => at,
                Err(at) => {
                    let node = Node {
                        element,
                        member: false,
                        children: Set::new(),
                    };
                    set.0.insert(at, node);
                    at
                }
            };
            let node = &mut set.0[at];
            node.member |= left == 0;
            set = &mut node.children;
        }
    }

    pub fn union(&mut self, other: Set<'a>) {
        if self.0.is_empty() {
            *self = other;
            return;
        }
        if other.0.is_empty() {
            return;
        }
        let mut all = Vec::with_capacity(self.0.len().max(other.0.len()));
        let mut left = std::mem::take(&mut self.0).into_iter().peekable();
        for node in other.0 {
            while let Some(before) = left.next_if(|it| it.element < node.element) {
                all.push(before);
            }
            match left.next_if(|it| it.element == node.element) {
                Some(mut both) => {
                    both.member |= node.member;
                    both.children.union(node.children);
                    all.push(both);
                }
                None => all.push(node),
            }
        }
        all.extend(left);
        self.0 = all;
    }

    /// Takes away what the other has, path by path.
    pub fn subtract(&mut self, other: &Set) {
        self.walk_with(other, |node, other| {
            node.member &= !other.member;
            node.children.subtract(&other.children);
        });
    }

    /// Takes away what the other has, with all that is below.
    pub fn subtract_recursively(&mut self, other: &Set) {
        self.walk_with(other, |node, other| {
            if other.member {
                node.member = false;
                node.children = Set::new();
            } else {
                node.children.subtract_recursively(&other.children);
            }
        });
    }

    fn walk_with(&mut self, other: &Set, change: impl Fn(&mut Node<'a>, &Node)) {
        if self.0.is_empty() || other.0.is_empty() {
            return;
        }
        let mut rest = other.0.as_slice();
        let mut changed = false;
        for node in &mut self.0 {
            while let [first, tail @ ..] = rest {
                match first.element.cmp(&node.element) {
                    Ordering::Less => rest = tail,
                    Ordering::Equal => {
                        change(node, first);
                        changed = true;
                        rest = tail;
                        break;
                    }
                    Ordering::Greater => break,
                }
            }
        }
        if changed {
            (self.0).retain(|node| node.member || !node.children.is_empty());
        }
    }

    #[must_use]
    pub fn intersection(&self, other: &Set) -> Set<'a> {
        let mut both = Vec::new();
        let mut rest = other.0.as_slice();
        for node in &self.0 {
            while let [first, tail @ ..] = rest {
                match first.element.cmp(&node.element) {
                    Ordering::Less => rest = tail,
                    Ordering::Equal => {
                        let member = node.member && first.member;
                        let children = node.children.intersection(&first.children);
                        if member || !children.is_empty() {
                            let element = node.element.clone();
                            both.push(Node {
                                element,
                                member,
                                children,
                            });
                        }
                        rest = tail;
                        break;
                    }
                    Ordering::Greater => break,
                }
            }
        }
        Set(both)
    }

    /// Whether all members are members of the other.
    pub fn is_within(&self, other: &Set) -> bool {
        let mut rest = other.0.as_slice();
        self.0.iter().all(|node| {
            while let [first, tail @ ..] = rest {
                match first.element.cmp(&node.element) {
                    Ordering::Less => rest = tail,
                    Ordering::Equal => {
                        rest = tail;
                        return (first.member || !node.member)
                            && node.children.is_within(&first.children);
                    }
                    Ordering::Greater => return false,
                }
            }
            false
        })
    }

    /// Only members that have no members below.
    #[must_use]
    pub fn leaves(&self) -> Set<'a> {
        let nodes = self.0.iter().map(|node| {
            let children = node.children.leaves();
            Node {
                element: node.element.clone(),
                member: node.member && children.is_empty(),
                children,
            }
        });
        Set(nodes.collect())
    }

    /// Each member: those of one level first, then those below.
    pub fn paths(&self) -> Vec<Path<'a>> {
        let mut all = Vec::new();
        self.visit(&mut Vec::new(), &mut |path| all.push(Path(path.to_vec())));
        all
    }

    fn visit(&self, prefix: &mut Vec<Element<'a>>, visit: &mut impl FnMut(&[Element<'a>])) {
        for node in self.0.iter().filter(|node| node.member) {
            prefix.push(node.element.clone());
            visit(prefix);
            prefix.pop();
        }
        for node in &self.0 {
            prefix.push(node.element.clone());
            node.children.visit(prefix, visit);
            prefix.pop();
        }
    }

    pub fn into_owned(self) -> Set<'static> {
        let nodes = self.0.into_iter().map(|node| Node {
            element: node.element.into_owned(),
            member: node.member,
            children: node.children.into_owned(),
        });
        Set(nodes.collect())
    }
}

impl<'a> FromIterator<Path<'a>> for Set<'a> {
    fn from_iter<I: IntoIterator<Item = Path<'a>>>(paths: I) -> Self {
        let mut set = Self::new();
        for path in paths {
            set.insert(path);
        }
        set
    }
}

/// One path per line.
impl fmt::Display for Set<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, path) in self.paths().iter().enumerate() {
            let line = if index > 0 { "\n" } else { "" };
            write!(f, "{line}{path}")?;
        }
        Ok(())
    }
}
