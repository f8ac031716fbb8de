//! A list that is edited in its middle: a tree of short runs, so that neither finding nor inserting nor removing an item
//! moves all the others.

/// Longer runs are split.
const RUN: usize = 256;
/// And so are branches with more children.
const CHILDREN: usize = 32;

#[derive(Debug)]
pub(super) struct Sequence<T>(Tree<T>);

#[derive(Debug)]
enum Tree<T> {
    Run(Vec<T>),
    Branch {
        length: usize,
        children: Vec<Tree<T>>,
    },
}

impl<T> Sequence<T> {
    /// A list that is not longer costs nothing to edit as it is.
    pub(super) const SHORT: usize = RUN;

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn get(&self, at: usize) -> Option<&T> {
        let (mut tree, mut at) = (&self.0, at);
        loop {
            match tree {
                Tree::Run(items) => return items.get(at),
                Tree::Branch { children, .. } => {
                    let (child, below) = child_at(children, at)?;
                    (tree, at) = (&children[child], below);
                }
            }
        }
    }

    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        let (mut tree, mut at) = (&mut self.0, at);
        loop {
            match tree {
                Tree::Run(items) => return items.get_mut(at),
                Tree::Branch { children, .. } => {
                    let (child, below) = child_at(children, at)?;
                    (tree, at) = (&mut children[child], below);
                }
            }
        }
    }

    /// Before the item at that position, or at the end.
    pub(super) fn insert(&mut self, at: usize, item: T) {
        if let Some(right) = self.0.insert(at.min(self.len()), item) {
            let left = std::mem::replace(&mut self.0, Tree::Run(Vec::new()));
            self.0 = Tree::branch(vec![left, right]);
        }
    }

    pub(super) fn remove(&mut self, at: usize) -> Option<T> {
        if at >= self.len() {
            return None;
        }
        let removed = self.0.remove(at);
        if self.len() == 0 {
            self.0 = Tree::Run(Vec::new());
        }
        removed
    }

    pub(super) fn for_each<'a>(&'a self, mut see: impl FnMut(&'a T)) {
        self.0.for_each(&mut see);
    }

    pub(super) fn into_vec(self) -> Vec<T> {
        let mut all = Vec::with_capacity(self.len());
        self.0.drain_to(&mut all);
        all
    }
}

impl<T> From<Vec<T>> for Sequence<T> {
    fn from(items: Vec<T>) -> Self {
        if items.len() <= RUN {
            return Self(Tree::Run(items));
        }
        let runs = grouped(items, RUN / 2);
        let mut level: Vec<Tree<T>> = runs.into_iter().map(Tree::Run).collect();
        while level.len() > 1 {
            let groups = grouped(level, CHILDREN / 2);
            level = groups.into_iter().map(Tree::branch).collect();
        }
        Self(level.pop().unwrap_or(Tree::Run(Vec::new())))
    }
}

fn grouped<T>(items: Vec<T>, size: usize) -> Vec<Vec<T>> {
    let mut groups = Vec::with_capacity(items.len() / size + 1);
    let mut items = items.into_iter();
    loop {
        let group: Vec<T> = items.by_ref().take(size).collect();
        if group.is_empty() {
            return groups;
        }
        groups.push(group);
    }
}

/// The child that has an item, and the item's position there. The end belongs to the last child.
fn child_at<T>(children: &[Tree<T>], mut at: usize) -> Option<(usize, usize)> {
    for (index, child) in children.iter().enumerate() {
        let length = child.len();
        if at < length || index + 1 == children.len() {
            return Some((index, at));
        }
        at -= length;
    }
    None
}

impl<T> Tree<T> {
    fn branch(children: Vec<Self>) -> Self {
        Self::Branch {
            length: children.iter().map(Self::len).sum(),
            children,
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Run(items) => items.len(),
            Self::Branch { length, .. } => *length,
        }
    }

    /// Gives the right half, if it had to be split.
    fn insert(&mut self, at: usize, item: T) -> Option<Self> {
        match self {
            Self::Run(items) => {
                items.insert(at, item);
                (items.len() > RUN).then(|| Self::Run(items.split_off(items.len() / 2)))
            }
            Self::Branch { length, children } => {
                let (child, below) = child_at(children, at)?;
                *length += 1;
                if let Some(right) = children[child].insert(below, item) {
                    children.insert(child + 1, right);
                }
                if children.len() <= CHILDREN {
                    return None;
                }
                let right = Self::branch(children.split_off(children.len() / 2));
                *length -= right.len();
                Some(right)
            }
        }
    }

    fn remove(&mut self, at: usize) -> Option<T> {
        match self {
            Self::Run(items) => (at < items.len()).then(|| items.remove(at)),
            Self::Branch { length, children } => {
                let (child, below) = child_at(children, at)?;
                let removed = children[child].remove(below)?;
                *length -= 1;
                if children[child].len() == 0 {
                    children.remove(child);
                }
                Some(removed)
            }
        }
    }

    fn for_each<'a>(&'a self, see: &mut impl FnMut(&'a T)) {
        match self {
            Self::Run(items) => items.iter().for_each(see),
            Self::Branch { children, .. } => {
                for child in children {
                    child.for_each(see);
                }
            }
        }
    }

    fn drain_to(self, all: &mut Vec<T>) {
        match self {
            Self::Run(mut items) => all.append(&mut items),
            Self::Branch { children, .. } => {
                for child in children {
                    child.drain_to(all);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same edits of a sequence and of a `Vec`, at positions from a simple generator.
    #[test]
    fn edits_as_a_vec_does() {
        for size in [0, 1, RUN, RUN + 1, 10_000] {
            let mut expected: Vec<usize> = (0..size).collect();
            let mut sequence = Sequence::from(expected.clone());
            let mut state = 7_usize;
            for step in 0..6_000 {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                let at = (state >> 33) % (expected.len() + 1);
                let grows = step % 5000 < 2500;
                if grows || expected.is_empty() {
                    expected.insert(at, step);
                    sequence.insert(at, step);
                } else if at < expected.len() {
                    assert_eq!(sequence.remove(at), Some(expected.remove(at)));
                }
                assert_eq!(sequence.len(), expected.len());
                assert_eq!(sequence.get(at), expected.get(at));
            }
            let mut seen = Vec::new();
            sequence.for_each(|it| seen.push(*it));
            assert_eq!(seen, expected);
            assert_eq!(sequence.into_vec(), expected);
        }
    }

    #[test]
    fn all_can_go_and_come_again() {
        let mut sequence = Sequence::from((0..5_000).collect::<Vec<_>>());
        for _ in 0..5_000 {
            assert!(sequence.remove(0).is_some());
        }
        assert_eq!((sequence.len(), sequence.remove(0)), (0, None));
        sequence.insert(0, 1);
        assert_eq!(sequence.into_vec(), [1]);
    }
}
