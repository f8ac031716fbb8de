//! Hot path. An ordered map of entries whose clone is O(1): a B+tree with shared nodes, copied along the path on write.
//!
//! **Invariants**: all leaves are at one depth; keys ascend; `lows[i]` is at most every key below child `i` and above
//! every key below child `i - 1`; no node but the root is empty; `len` counts the entries below.

mod heads;

use std::sync::Arc;

use arrayvec::ArrayVec;
use bytes::Bytes;

use self::heads::Heads;
use crate::Entry;

const MAX: usize = 16;
const MIN: usize = 4;
/// How full nodes are after a bulk load, and at most after a merge: room for a few inserts before a split.
const FILL: usize = MAX - MIN;

/// In the node itself: copying a node is one allocation. One more than a node keeps, until it splits.
type Few<T> = ArrayVec<T, { MAX + 1 }>;

#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    root: Arc<Node>,
}

#[derive(Clone, Debug)]
enum Node {
    Leaf(Leaf),
    Branch(Branch),
}

#[derive(Clone, Debug, Default)]
struct Leaf {
    /// Shared between versions of the leaf: a new value for a key leaves it as it is.
    heads: Arc<Heads>,
    entries: Few<Arc<Entry>>,
}

#[derive(Clone, Debug)]
struct Branch {
    keys: Arc<Keys>,
    children: Few<Arc<Node>>,
    len: usize,
}

#[derive(Clone, Debug)]
struct Keys {
    heads: Heads,
    lows: Vec<Bytes>,
}

impl Default for Node {
    fn default() -> Self {
        Self::Leaf(Leaf::default())
    }
}

impl Tree {
    /// Builds from entries in strictly ascending key order.
    pub(crate) fn from_sorted(entries: Vec<Arc<Entry>>) -> Self {
        let mut entries = entries.into_iter().peekable();
        let mut level = Vec::new();
        while entries.peek().is_some() {
            let entries = entries.by_ref().take(FILL).collect();
            level.push(Arc::new(Node::Leaf(Leaf::of(entries))));
        }
        while level.len() > 1 {
            let branch = |children: &[_]| {
                Arc::new(Node::Branch(Branch::over(
                    children.iter().cloned().collect(),
                )))
            };
            level = level.chunks(FILL).map(branch).collect();
        }
        Self {
            root: level.pop().unwrap_or_default(),
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
                Node::Leaf(leaf) => return leaf.search(key).ok().map(|index| &leaf.entries[index]),
            }
        }
    }

    /// Brings what writing `key` will touch into the processor's cache: the path to it, and the counts that copying the
    /// path will raise. In a large tree most of a write's time goes there. Returns the counts' sum, to have a result.
    pub(crate) fn warm(&self, key: &[u8]) -> usize {
        let mut node = &*self.root;
        let mut sum = 0;
        loop {
            match node {
                Node::Branch(branch) => {
                    sum += branch.children.iter().map(Arc::strong_count).sum::<usize>();
                    node = &branch.children[branch.child_of(key)];
                }
                Node::Leaf(leaf) => {
                    return sum + leaf.entries.iter().map(Arc::strong_count).sum::<usize>();
                }
            }
        }
    }

    pub(crate) fn insert(&mut self, entry: Arc<Entry>) -> Option<Arc<Entry>> {
        let key = entry.key.clone();
        self.insert_with(&key, |_| entry)
    }

    /// Inserts what `make` makes of the entry that is there, in one descent.
    pub(crate) fn insert_with(
        &mut self,
        key: &Bytes,
        make: impl FnOnce(Option<&Entry>) -> Arc<Entry>,
    ) -> Option<Arc<Entry>> {
        let (old, split) = insert(&mut self.root, key, make);
        if let Some(right) = split {
            let left = std::mem::take(&mut self.root);
            self.root = Arc::new(Node::Branch(Branch::over(
                [left, right].into_iter().collect(),
            )));
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
                Node::Leaf(leaf) => return before + leaf.search(key).unwrap_or_else(|index| index),
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
                Node::Leaf(leaf) => {
                    let from = leaf.search(start).unwrap_or_else(|index| index);
                    iter.leaf = leaf.entries[from..].iter();
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
                    Node::Leaf(leaf) => {
                        self.leaf = leaf.entries.iter();
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
            Self::Leaf(leaf) => leaf.entries.len(),
            Self::Branch(branch) => branch.len,
        }
    }

    fn width(&self) -> usize {
        match self {
            Self::Leaf(leaf) => leaf.entries.len(),
            Self::Branch(branch) => branch.children.len(),
        }
    }

    fn low(&self) -> Bytes {
        match self {
            Self::Leaf(leaf) => leaf
                .entries
                .first()
                .map_or_else(Bytes::new, |it| it.key.clone()),
            Self::Branch(branch) => branch.keys.lows[0].clone(),
        }
    }

    /// Keeps the lower half, returns the upper one.
    fn split(&mut self) -> Self {
        match self {
            Self::Leaf(leaf) => {
                let upper = leaf.entries.drain(leaf.entries.len() / 2..).collect();
                *leaf = Leaf::of(std::mem::take(&mut leaf.entries));
                Self::Leaf(Leaf::of(upper))
            }
            Self::Branch(branch) => {
                let middle = branch.children.len() / 2;
                let upper = branch.children.drain(middle..).collect();
                *branch = Branch::over(std::mem::take(&mut branch.children));
                Self::Branch(Branch::over(upper))
            }
        }
    }

    /// Takes in the right neighbour, which is of the same height.
    fn merge(&mut self, right: &Self) {
        match (self, right) {
            (Self::Leaf(left), Self::Leaf(right)) => {
                left.entries.extend(right.entries.iter().cloned());
                *left = Leaf::of(std::mem::take(&mut left.entries));
            }
            (Self::Branch(left), Self::Branch(right)) => {
                left.children.extend(right.children.iter().cloned());
                *left = Branch::over(std::mem::take(&mut left.children));
            }
            _ => unreachable!("neighbours are of one height"),
        }
    }
}

impl Leaf {
    fn of(entries: Few<Arc<Entry>>) -> Self {
        let heads = Arc::new(Heads::of(entries.iter().map(|entry| &entry.key)));
        Self { heads, entries }
    }

    fn search(&self, key: &[u8]) -> Result<usize, usize> {
        self.heads.search(key, |index| &self.entries[index].key)
    }

    fn insert(&mut self, index: usize, entry: Arc<Entry>) {
        let fits = Arc::make_mut(&mut self.heads).insert(index, &entry.key);
        self.entries.insert(index, entry);
        if !fits {
            *self = Self::of(std::mem::take(&mut self.entries));
        }
    }

    fn remove(&mut self, index: usize) -> Arc<Entry> {
        Arc::make_mut(&mut self.heads).remove(index);
        self.entries.remove(index)
    }
}

impl Branch {
    fn over(children: Few<Arc<Node>>) -> Self {
        let len = children.iter().map(|node| node.len()).sum();
        let keys = Arc::new(Keys::of(children.iter().map(|node| node.low()).collect()));
        Self {
            keys,
            children,
            len,
        }
    }

    fn search(&self, key: &[u8]) -> Result<usize, usize> {
        self.keys.heads.search(key, |index| &self.keys.lows[index])
    }

    /// The only child that may hold `key`.
    fn child_of(&self, key: &[u8]) -> usize {
        self.search(key)
            .unwrap_or_else(|index| index.saturating_sub(1))
    }

    /// Merges a child that became small into a neighbour with room, or drops it when empty.
    fn mend(&mut self, child: usize) {
        let width = self.children[child].width();
        if width >= MIN {
            return;
        }
        if width == 0 {
            self.drop_child(child);
            return;
        }
        let fits = |index: usize| {
            self.children
                .get(index)
                .is_some_and(|node| node.width() + width <= FILL)
        };
        let left = if fits(child + 1) {
            child
        } else if child > 0 && fits(child - 1) {
            child - 1
        } else {
            return;
        };
        let right = self.drop_child(left + 1);
        Arc::make_mut(&mut self.children[left]).merge(&right);
    }

    fn drop_child(&mut self, child: usize) -> Arc<Node> {
        let keys = Arc::make_mut(&mut self.keys);
        keys.lows.remove(child);
        keys.heads.remove(child);
        self.children.remove(child)
    }
}

impl Keys {
    fn of(lows: Vec<Bytes>) -> Self {
        Self {
            heads: Heads::of(lows.iter()),
            lows,
        }
    }

    fn insert(&mut self, index: usize, low: Bytes) {
        let fits = self.heads.insert(index, &low);
        self.lows.insert(index, low);
        if !fits {
            self.heads = Heads::of(self.lows.iter());
        }
    }
}

/// Returns the replaced entry, and the new right neighbour if the node had to split.
fn insert(
    node: &mut Arc<Node>,
    key: &Bytes,
    make: impl FnOnce(Option<&Entry>) -> Arc<Entry>,
) -> (Option<Arc<Entry>>, Option<Arc<Node>>) {
    let node = Arc::make_mut(node);
    let old = match node {
        Node::Leaf(leaf) => match leaf.search(key) {
            Ok(index) => {
                let entry = make(Some(&leaf.entries[index]));
                let old = std::mem::replace(&mut leaf.entries[index], entry);
                return (Some(old), None);
            }
            Err(index) => {
                leaf.insert(index, make(None));
                None
            }
        },
        Node::Branch(branch) => {
            let found = branch.search(key);
            if found == Err(0) {
                // Below all: the first child takes it, and its low.
                let keys = Arc::make_mut(&mut branch.keys);
                keys.lows[0] = key.clone();
                keys.heads = Heads::of(keys.lows.iter());
            }
            let child = found.unwrap_or_else(|index| index.saturating_sub(1));
            let (old, split) = insert(&mut branch.children[child], key, make);
            branch.len += usize::from(old.is_none());
            if let Some(right) = split {
                Arc::make_mut(&mut branch.keys).insert(child + 1, right.low());
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
        Node::Leaf(leaf) => leaf.search(key).ok().map(|index| leaf.remove(index)),
        Node::Branch(branch) => {
            let child = branch.child_of(key);
            let old = remove(&mut branch.children[child], key)?;
            branch.len -= 1;
            branch.mend(child);
            Some(old)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// Keys with long and short common beginnings, prefixes of one another, zeros at the end; in order of the number.
    fn name(key: u16) -> Vec<u8> {
        let group =
            [&b"/a"[..], b"/a/long/common/beginning/", b"/b/", b"/c\xff"][usize::from(key / 150)];
        let zeros = vec![0; usize::from(key % 150 % 3)];
        [group, &(key % 150 / 3).to_be_bytes()[..], &zeros].concat()
    }

    fn entry(key: u16, modified: u64) -> Arc<Entry> {
        let key = Bytes::from(name(key));
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
            Node::Leaf(leaf) => {
                assert!(root || !leaf.entries.is_empty());
                assert!(leaf.entries.is_sorted_by(|a, b| a.key < b.key));
                0
            }
            Node::Branch(branch) => {
                assert!(branch.children.len() <= MAX && !branch.children.is_empty());
                assert!(branch.keys.lows.is_sorted_by(|a, b| a < b));
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
            .map(|(key, value)| (name(*key), *value))
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
            let mut tree = Tree::from_sorted(start.iter().map(|key| entry(*key, 0)).collect());
            let mut kept = Vec::new();
            for (number, (put, key)) in steps.into_iter().enumerate() {
                let number = number as u64;
                let old = if put {
                    prop_assert_eq!(tree.insert(entry(key, number)).map(|e| e.modified), model.get(&key).copied());
                    model.insert(key, number)
                } else {
                    let old = tree.remove(&name(key)).map(|e| e.modified);
                    prop_assert_eq!(old, model.get(&key).copied());
                    model.remove(&key)
                };
                prop_assert_eq!(tree.get(&name(key)).is_some(), put, "old {:?}", old);
                if number.is_multiple_of(97) {
                    kept.push((tree.clone(), model.clone()));
                }
            }
            kept.push((tree, model));
            for (tree, model) in kept {
                check(&tree.root, true);
                same(&tree, &model);
                prop_assert_eq!(tree.rank(&name(probe)), model.range(..probe).count());
                let from: Vec<_> = tree.iter_from(&name(probe)).map(|e| e.modified).collect();
                let want: Vec<_> = model.range(probe..).map(|(_, v)| *v).collect();
                prop_assert_eq!(from, want);
            }
        }
    }
}
