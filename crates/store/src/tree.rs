//! Hot path. An ordered map of entries whose clone is O(1): a B+tree with shared nodes, copied along the path on write.
//!
//! **Invariants**: all leaves are at one depth; keys ascend; `lows[i]` is at most every key below child `i` and above
//! every key below child `i - 1`; no node but the root is empty; `len` counts the entries below.

use std::sync::Arc;

use bytes::Bytes;

use crate::Entry;

const MAX: usize = 32;
const MIN: usize = 8;

#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    root: Arc<Node>,
}

#[derive(Clone, Debug)]
enum Node {
    Leaf(Vec<Arc<Entry>>),
    Branch(Branch),
}

#[derive(Clone, Debug)]
struct Branch {
    lows: Vec<Bytes>,
    children: Vec<Arc<Node>>,
    len: usize,
}

impl Default for Node {
    fn default() -> Self {
        Self::Leaf(Vec::new())
    }
}

impl Tree {
    /// Builds from entries in strictly ascending key order.
    pub(crate) fn from_sorted(entries: impl IntoIterator<Item = Arc<Entry>>) -> Self {
        let mut level: Vec<Arc<Node>> = Vec::new();
        let mut leaf = Vec::with_capacity(MAX);
        for entry in entries {
            if leaf.len() == MAX - MIN {
                level.push(Arc::new(Node::Leaf(std::mem::replace(
                    &mut leaf,
                    Vec::with_capacity(MAX),
                ))));
            }
            leaf.push(entry);
        }
        level.push(Arc::new(Node::Leaf(leaf)));
        while level.len() > 1 {
            level = level
                .chunks(MAX - MIN)
                .map(|children| Arc::new(Node::Branch(Branch::over(children.to_vec()))))
                .collect();
        }
        Self {
            root: level.pop().expect("one node is left"),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.root.len()
    }

    pub(crate) fn get(&self, key: &[u8]) -> Option<&Arc<Entry>> {
        let mut node = &*self.root;
        loop {
            match node {
                Node::Branch(branch) => node = &branch.children[branch.child_of(key)],
                Node::Leaf(entries) => {
                    return position(entries, key).ok().map(|index| &entries[index]);
                }
            }
        }
    }

    pub(crate) fn insert(&mut self, entry: Arc<Entry>) -> Option<Arc<Entry>> {
        let (old, split) = insert(&mut self.root, entry);
        if let Some(right) = split {
            let left = std::mem::take(&mut self.root);
            self.root = Arc::new(Node::Branch(Branch::over(vec![left, right])));
        }
        old
    }

    pub(crate) fn remove(&mut self, key: &[u8]) -> Option<Arc<Entry>> {
        // A miss must not copy the path.
        self.get(key)?;
        let old = remove(&mut self.root, key);
        while let Node::Branch(branch) = &*self.root
            && branch.children.len() < 2
        {
            self.root = branch.children.first().cloned().unwrap_or_default();
        }
        old
    }

    /// How many keys are below `key`.
    pub(crate) fn rank(&self, key: &[u8]) -> usize {
        let mut node = &*self.root;
        let mut before = 0;
        loop {
            match node {
                Node::Branch(branch) => {
                    let child = branch.child_of(key);
                    before += branch.children[..child]
                        .iter()
                        .map(|node| node.len())
                        .sum::<usize>();
                    node = &branch.children[child];
                }
                Node::Leaf(entries) => {
                    return before + position(entries, key).unwrap_or_else(|index| index);
                }
            }
        }
    }

    /// Entries from `start` on, in key order.
    pub(crate) fn iter_from(&self, start: &[u8]) -> Iter<'_> {
        let mut iter = Iter {
            path: Vec::new(),
            leaf: [].iter(),
        };
        let mut node = &*self.root;
        loop {
            match node {
                Node::Branch(branch) => {
                    let child = branch.child_of(start);
                    iter.path.push(branch.children[child + 1..].iter());
                    node = &branch.children[child];
                }
                Node::Leaf(entries) => {
                    iter.leaf =
                        entries[position(entries, start).unwrap_or_else(|index| index)..].iter();
                    return iter;
                }
            }
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Iter<'a> {
    path: Vec<std::slice::Iter<'a, Arc<Node>>>,
    leaf: std::slice::Iter<'a, Arc<Entry>>,
}

impl<'a> Iterator for Iter<'a> {
    type Item = &'a Arc<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(entry) = self.leaf.next() {
                return Some(entry);
            }
            let mut node = loop {
                match self.path.last_mut()?.next() {
                    Some(node) => break node,
                    None => self.path.pop(),
                };
            };
            loop {
                match &**node {
                    Node::Branch(branch) => {
                        let mut children = branch.children.iter();
                        node = children.next().expect("a branch has children");
                        self.path.push(children);
                    }
                    Node::Leaf(entries) => {
                        self.leaf = entries.iter();
                        break;
                    }
                }
            }
        }
    }
}

impl Node {
    fn len(&self) -> usize {
        match self {
            Self::Leaf(entries) => entries.len(),
            Self::Branch(branch) => branch.len,
        }
    }

    fn width(&self) -> usize {
        match self {
            Self::Leaf(entries) => entries.len(),
            Self::Branch(branch) => branch.children.len(),
        }
    }

    fn low(&self) -> Bytes {
        match self {
            Self::Leaf(entries) => entries
                .first()
                .map_or_else(Bytes::new, |entry| entry.key.clone()),
            Self::Branch(branch) => branch.lows[0].clone(),
        }
    }

    /// Keeps the lower half, returns the upper one.
    fn split(&mut self) -> Self {
        match self {
            Self::Leaf(entries) => {
                let mut upper = Vec::with_capacity(MAX);
                upper.extend(entries.drain(entries.len() / 2..));
                Self::Leaf(upper)
            }
            Self::Branch(branch) => {
                let middle = branch.children.len() / 2;
                let lows = branch.lows.split_off(middle);
                let children = branch.children.split_off(middle);
                let len = children.iter().map(|node| node.len()).sum();
                branch.len -= len;
                Self::Branch(Branch {
                    lows,
                    children,
                    len,
                })
            }
        }
    }

    /// Takes in the right neighbour, which is of the same height.
    fn merge(&mut self, right: &Self) {
        match (self, right) {
            (Self::Leaf(left), Self::Leaf(right)) => left.extend_from_slice(right),
            (Self::Branch(left), Self::Branch(right)) => {
                left.lows.extend_from_slice(&right.lows);
                left.children.extend_from_slice(&right.children);
                left.len += right.len;
            }
            _ => unreachable!("neighbours are of one height"),
        }
    }
}

impl Branch {
    fn over(children: Vec<Arc<Node>>) -> Self {
        let lows = children.iter().map(|node| node.low()).collect();
        let len = children.iter().map(|node| node.len()).sum();
        Self {
            lows,
            children,
            len,
        }
    }

    /// The only child that may hold `key`.
    fn child_of(&self, key: &[u8]) -> usize {
        self.lows
            .partition_point(|low| &low[..] <= key)
            .saturating_sub(1)
    }
}

fn position(entries: &[Arc<Entry>], key: &[u8]) -> Result<usize, usize> {
    entries.binary_search_by(|entry| entry.key[..].cmp(key))
}

/// Returns the replaced entry, and the new right neighbour if the node had to split.
fn insert(node: &mut Arc<Node>, entry: Arc<Entry>) -> (Option<Arc<Entry>>, Option<Arc<Node>>) {
    let node = Arc::make_mut(node);
    let old = match node {
        Node::Leaf(entries) => match position(entries, &entry.key) {
            Ok(index) => return (Some(std::mem::replace(&mut entries[index], entry)), None),
            Err(index) => {
                entries.insert(index, entry);
                None
            }
        },
        Node::Branch(branch) => {
            let child = branch.child_of(&entry.key);
            if entry.key < branch.lows[child] {
                branch.lows[child] = entry.key.clone();
            }
            let (old, split) = insert(&mut branch.children[child], entry);
            branch.len += usize::from(old.is_none());
            if let Some(right) = split {
                branch.lows.insert(child + 1, right.low());
                branch.children.insert(child + 1, right);
            }
            old
        }
    };
    let split = (node.width() > MAX).then(|| Arc::new(node.split()));
    (old, split)
}

fn remove(node: &mut Arc<Node>, key: &[u8]) -> Option<Arc<Entry>> {
    match Arc::make_mut(node) {
        Node::Leaf(entries) => position(entries, key)
            .ok()
            .map(|index| entries.remove(index)),
        Node::Branch(branch) => {
            let child = branch.child_of(key);
            let old = remove(&mut branch.children[child], key)?;
            branch.len -= 1;
            branch.mend(child);
            Some(old)
        }
    }
}

impl Branch {
    /// Merges a child that became small into a neighbour with room, or drops it when empty.
    fn mend(&mut self, child: usize) {
        let width = self.children[child].width();
        if width >= MIN {
            return;
        }
        if width == 0 {
            self.children.remove(child);
            self.lows.remove(child);
            return;
        }
        let fits = |index: usize| {
            self.children
                .get(index)
                .is_some_and(|node| node.width() + width <= MAX - MIN)
        };
        let left = if fits(child + 1) {
            child
        } else if child > 0 && fits(child - 1) {
            child - 1
        } else {
            return;
        };
        let right = self.children.remove(left + 1);
        self.lows.remove(left + 1);
        Arc::make_mut(&mut self.children[left]).merge(&right);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn entry(key: u16, modified: u64) -> Arc<Entry> {
        let key = Bytes::copy_from_slice(&key.to_be_bytes());
        Arc::new(Entry {
            key,
            value: Bytes::new(),
            created: 1,
            modified,
            lease: 0,
        })
    }

    fn check(node: &Node, root: bool) -> usize {
        match node {
            Node::Leaf(entries) => {
                assert!(root || !entries.is_empty());
                assert!(entries.is_sorted_by(|a, b| a.key < b.key));
                0
            }
            Node::Branch(branch) => {
                assert!(branch.children.len() <= MAX && !branch.children.is_empty());
                assert!(branch.lows.is_sorted_by(|a, b| a < b));
                assert_eq!(
                    branch.len,
                    branch.children.iter().map(|node| node.len()).sum::<usize>()
                );
                let depths: Vec<_> = branch
                    .children
                    .iter()
                    .map(|node| check(node, false))
                    .collect();
                assert!(depths.iter().all(|depth| *depth == depths[0]));
                depths[0] + 1
            }
        }
    }

    fn same(tree: &Tree, model: &BTreeMap<u16, u64>) {
        let have: Vec<_> = tree
            .iter_from(b"")
            .map(|entry| (entry.key.to_vec(), entry.modified))
            .collect();
        let want: Vec<_> = model
            .iter()
            .map(|(key, value)| (key.to_be_bytes().to_vec(), *value))
            .collect();
        assert_eq!(have, want);
        assert_eq!(tree.len(), model.len());
    }

    proptest! {
        #[test]
        fn behaves_as_a_btree_map_and_snapshots_stay(
            start in proptest::collection::btree_set(0u16..600, 0..400),
            steps in proptest::collection::vec((any::<bool>(), 0u16..600), 0..1500),
            probe in 0u16..600,
        ) {
            let mut model: BTreeMap<u16, u64> = start.iter().map(|key| (*key, 0)).collect();
            let mut tree = Tree::from_sorted(start.iter().map(|key| entry(*key, 0)));
            let mut kept = Vec::new();
            for (number, (put, key)) in steps.into_iter().enumerate() {
                let number = number as u64;
                let old = if put {
                    prop_assert_eq!(tree.insert(entry(key, number)).map(|e| e.modified), model.get(&key).copied());
                    model.insert(key, number)
                } else {
                    let old = tree.remove(&key.to_be_bytes()).map(|e| e.modified);
                    prop_assert_eq!(old, model.get(&key).copied());
                    model.remove(&key)
                };
                prop_assert_eq!(tree.get(&key.to_be_bytes()).is_some(), put, "old {:?}", old);
                if number.is_multiple_of(97) {
                    kept.push((tree.clone(), model.clone()));
                }
            }
            kept.push((tree, model));
            for (tree, model) in kept {
                check(&tree.root, true);
                same(&tree, &model);
                prop_assert_eq!(tree.rank(&probe.to_be_bytes()), model.range(..probe).count());
                let from: Vec<_> = tree.iter_from(&probe.to_be_bytes()).map(|e| e.modified).collect();
                let want: Vec<_> = model.range(probe..).map(|(_, v)| *v).collect();
                prop_assert_eq!(from, want);
            }
        }
    }
}
