//! Sorted maps and sets whose clone costs as much as incrementing a counter, for large collections
//! in a state that is copied while it goes on being changed: a B-tree of shared nodes. A change
//! copies the nodes on its path that a clone still shares, a few kilobytes, and changes the others
//! in place. It must not know what is in them.

mod stored;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::fmt::{self, Debug, Formatter};
use std::slice;
use std::sync::Arc;

/// The largest number of entries in a node: about two kilobytes of holds; small in tests, for deep trees.
const WIDTH: usize = if cfg!(test) { 4 } else { 64 };
/// Well below the largest width, so that the next entry does not split merged neighbours again.
const MERGED_MAX: usize = WIDTH / 2;

pub struct SortedMap<K, V> {
    root: Option<Arc<Node<K, V>>>,
    len: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortedSet<K>(SortedMap<K, ()>);

/// All leaves are at the same depth, and no node is empty.
#[derive(Clone)]
enum Node<K, V> {
    Leaf(Vec<(K, V)>),
    /// The children, each with a lower bound of its keys; the first also takes keys below its
    /// bound.
    Branch(Vec<Child<K, V>>),
}

type Child<K, V> = (K, Arc<Node<K, V>>);

struct Put<K, V, R> {
    result: R,
    is_new: bool,
    /// The right half, if the node was split.
    right: Option<Child<K, V>>,
}

impl<K: Ord, V> Node<K, V> {
    fn width(&self) -> usize {
        match self {
            Node::Leaf(pairs) => pairs.len(),
            Node::Branch(children) => children.len(),
        }
    }
}

impl<K: Ord + Clone, V: Clone> Node<K, V> {
    fn with<R>(
        this: &mut Arc<Self>,
        key: K,
        make: impl FnOnce() -> V,
        change: impl FnOnce(&mut V) -> R,
    ) -> Put<K, V, R> {
        match Arc::make_mut(this) {
            Node::Leaf(pairs) => {
                let found = match pairs.last() {
                    // The last key is compared first, as in `place`.
                    Some((last, _)) if *last < key => Err(pairs.len()),
                    _ => search(pairs, &key),
                };
                match found {
                    Ok(at) => Put { result: change(&mut pairs[at].1), is_new: false, right: None },
                    Err(at) => {
                        let mut value = make();
                        let result = change(&mut value);
                        let right = put(pairs, at, (key, value))
                            .map(|right| (right[0].0.clone(), Arc::new(Node::Leaf(right))));
                        Put { result, is_new: true, right }
                    }
                }
            }
            Node::Branch(children) => {
                let at = place(children, &key);
                let done = Node::with(&mut children[at].1, key, make, change);
                let right = done.right.and_then(|right| put(children, at + 1, right));
                Put { right: right.map(|right| (right[0].0.clone(), Arc::new(Node::Branch(right)))), ..done }
            }
        }
    }

    /// The first entry without a search where there is no key: it is taken for every hold that ends.
    fn remove(this: &mut Arc<Self>, key: Option<&K>) -> Option<(K, V)> {
        match Arc::make_mut(this) {
            Node::Leaf(pairs) => match key {
                Some(key) => Some(pairs.remove(search(pairs, key).ok()?)),
                None => Some(pairs.remove(0)),
            },
            Node::Branch(children) => {
                let at = match key {
                    Some(key) => place(children, key),
                    None => 0,
                };
                let removed = Node::remove(&mut children[at].1, key)?;
                narrow(children, at);
                Some(removed)
            }
        }
    }
}

/// `Err` with the position where the key would be.
fn search<K: Ord, V>(pairs: &[(K, V)], key: &K) -> Result<usize, usize> {
    pairs.binary_search_by(|(found, _)| found.cmp(key))
}

fn place<K: Ord, V>(children: &[Child<K, V>], key: &K) -> usize {
    match children.split_last() {
        // The last child is tried first, as many keys are added at the end.
        Some(((low, _), before)) if low <= key => before.len(),
        _ => children.partition_point(|(low, _)| low <= key).saturating_sub(1),
    }
}

/// Inserts an item into a row, of which none ever has room for more than `WIDTH`. A full row is
/// split first, and its right half returned; one that grows at its end is left full, so that
/// entries added in order leave full nodes behind.
fn put<T>(row: &mut Vec<T>, at: usize, new: T) -> Option<Vec<T>> {
    let (mut right, mut at) = (None, at);
    if row.len() == WIDTH {
        let middle = if at == WIDTH { WIDTH } else { WIDTH / 2 };
        right = Some(row.split_off(middle));
    }
    let row = match &mut right {
        Some(right) if at >= row.len() => {
            at -= row.len();
            right
        }
        _ => row,
    };
    // The capacity doubles, as that of any vector, but not past `WIDTH`.
    if row.len() == row.capacity() {
        row.reserve_exact(row.len().clamp(1, WIDTH - row.len()));
    }
    row.insert(at, new);
    right
}

/// After a removal, merges a child with a neighbour when both together are small.
fn narrow<K: Ord + Clone, V: Clone>(children: &mut Vec<Child<K, V>>, at: usize) {
    if children[at].1.width() == 0 {
        children.remove(at);
        return;
    }
    let left = if at + 1 < children.len() { at } else { at.saturating_sub(1) };
    let [(_, before), (_, after), ..] = &children[left..] else { return };
    if before.width() + after.width() > MERGED_MAX {
        return;
    }
    let (low, after) = children.remove(left + 1);
    match (Arc::make_mut(&mut children[left].1), Arc::unwrap_or_clone(after)) {
        (Node::Leaf(before), Node::Leaf(after)) => before.extend(after),
        (Node::Branch(before), Node::Branch(mut after)) => {
            // The bound of the first child was not a real one, and the child is no longer the
            // first.
            after[0].0 = low;
            before.extend(after);
        }
        _ => unreachable!("every leaf is at the same depth"),
    }
}

impl<K, V> SortedMap<K, V> {
    pub const fn new() -> Self {
        SortedMap { root: None, len: 0 }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn first_key_value(&self) -> Option<(&K, &V)> {
        let mut node = self.root.as_deref()?;
        loop {
            match node {
                Node::Leaf(pairs) => return pairs.first().map(|(key, value)| (key, value)),
                Node::Branch(children) => node = &children.first()?.1,
            }
        }
    }

    pub fn last_key_value(&self) -> Option<(&K, &V)> {
        let mut node = self.root.as_deref()?;
        loop {
            match node {
                Node::Leaf(pairs) => return pairs.last().map(|(key, value)| (key, value)),
                Node::Branch(children) => node = &children.last()?.1,
            }
        }
    }

    pub fn iter(&self) -> Iter<'_, K, V> {
        let mut iter = Iter { branches: Vec::new(), leaf: [].iter() };
        if let Some(root) = &self.root {
            iter.enter(root);
        }
        iter
    }

    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }
}

impl<K: Ord, V> SortedMap<K, V> {
    pub fn get(&self, key: &K) -> Option<&V> {
        let mut node = self.root.as_deref()?;
        loop {
            match node {
                Node::Leaf(pairs) => return Some(&pairs[search(pairs, key).ok()?].1),
                Node::Branch(children) => node = &children[place(children, key)].1,
            }
        }
    }

    pub fn contains_key(&self, key: &K) -> bool {
        self.get(key).is_some()
    }

    /// Begins with the first entry that is not below `key`.
    pub fn iter_from(&self, key: &K) -> Iter<'_, K, V> {
        let mut iter = Iter { branches: Vec::new(), leaf: [].iter() };
        let mut node = self.root.as_deref();
        while let Some(found) = node {
            node = match found {
                Node::Leaf(pairs) => {
                    iter.leaf = pairs[pairs.partition_point(|(found, _)| found < key)..].iter();
                    None
                }
                Node::Branch(children) => {
                    let at = place(children, key);
                    iter.branches.push(children[at + 1..].iter());
                    Some(&children[at].1)
                }
            };
        }
        iter
    }
}

impl<K: Ord + Clone, V: Clone> SortedMap<K, V> {
    /// Changes the value under a key, which `make` makes if there is none.
    pub fn with<R>(&mut self, key: K, make: impl FnOnce() -> V, change: impl FnOnce(&mut V) -> R) -> R {
        let root = match &mut self.root {
            Some(root) => root,
            none => none.insert(Arc::new(Node::Leaf(Vec::new()))),
        };
        let Put { result, is_new, right } = Node::with(root, key, make, change);
        self.len += usize::from(is_new);
        if let Some(right) = right {
            let left = Arc::clone(root);
            // The bound of the first child does not count.
            *root = Arc::new(Node::Branch(Vec::from([(right.0.clone(), left), right])));
        }
        result
    }

    pub fn insert(&mut self, key: K, value: V) {
        let value = Cell::new(Some(value));
        self.with(
            key,
            || value.take().expect("nothing was replaced"),
            |found| {
                if let Some(value) = value.take() {
                    *found = value;
                }
            },
        );
    }

    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let mut node = Arc::make_mut(self.root.as_mut()?);
        loop {
            match node {
                Node::Leaf(pairs) => {
                    let at = search(pairs, key).ok()?;
                    return Some(&mut pairs[at].1);
                }
                Node::Branch(children) => {
                    let at = place(children, key);
                    node = Arc::make_mut(&mut children[at].1);
                }
            }
        }
    }

    pub fn remove(&mut self, key: &K) -> Option<V> {
        self.take(Some(key)).map(|(_, value)| value)
    }

    pub fn pop_first(&mut self) -> Option<(K, V)> {
        self.take(None)
    }

    fn take(&mut self, key: Option<&K>) -> Option<(K, V)> {
        let removed = Node::remove(self.root.as_mut()?, key)?;
        self.len -= 1;
        if self.len == 0 {
            self.root = None;
        }
        // A root that has one child is replaced by that child.
        while let Some(Node::Branch(children)) = self.root.as_deref()
            && let [(_, only)] = &children[..]
        {
            self.root = Some(Arc::clone(only));
        }
        Some(removed)
    }
}

impl<K: Ord + Clone> SortedSet<K> {
    pub fn insert(&mut self, key: K) -> bool {
        let before = self.0.len;
        self.0.with(key, || (), |()| ());
        self.0.len > before
    }

    pub fn remove(&mut self, key: &K) -> bool {
        self.0.take(Some(key)).is_some()
    }

    pub fn pop_first(&mut self) -> Option<K> {
        self.0.pop_first().map(|(key, ())| key)
    }

    pub fn retain(&mut self, keep: impl Fn(&K) -> bool) {
        let gone: Vec<K> = self.iter().filter(|key| !keep(key)).cloned().collect();
        for key in gone {
            self.remove(&key);
        }
    }
}

impl<K> SortedSet<K> {
    pub fn len(&self) -> usize {
        self.0.len
    }

    pub fn is_empty(&self) -> bool {
        self.0.len == 0
    }

    pub fn first(&self) -> Option<&K> {
        self.0.first_key_value().map(|(key, ())| key)
    }

    pub fn iter(&self) -> impl Iterator<Item = &K> {
        self.0.iter().map(|(key, ())| key)
    }
}

impl<K: Ord> SortedSet<K> {
    pub fn contains(&self, key: &K) -> bool {
        self.0.contains_key(key)
    }
}

impl<K: Ord + Clone> Extend<K> for SortedSet<K> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        for key in keys {
            self.insert(key);
        }
    }
}

impl<K, V> Clone for SortedMap<K, V> {
    fn clone(&self) -> Self {
        SortedMap { root: self.root.clone(), len: self.len }
    }
}

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        SortedMap::new()
    }
}

impl<K> Default for SortedSet<K> {
    fn default() -> Self {
        SortedSet(SortedMap::new())
    }
}

impl<K: PartialEq, V: PartialEq> PartialEq for SortedMap<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().eq(other)
    }
}

impl<K: Eq, V: Eq> Eq for SortedMap<K, V> {}

impl<K: Debug, V: Debug> Debug for SortedMap<K, V> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

/// A position in a tree: the rest of the leaf, and of the branches above it.
pub struct Iter<'a, K, V> {
    branches: Vec<slice::Iter<'a, Child<K, V>>>,
    leaf: slice::Iter<'a, (K, V)>,
}

impl<'a, K, V> Iter<'a, K, V> {
    /// To the first entry of a node.
    fn enter(&mut self, mut node: &'a Node<K, V>) {
        while let Node::Branch(children) = node {
            let mut rest = children.iter();
            let Some((_, child)) = rest.next() else { return };
            self.branches.push(rest);
            node = child;
        }
        if let Node::Leaf(pairs) = node {
            self.leaf = pairs.iter();
        }
    }
}

impl<'a, K, V> Iterator for Iter<'a, K, V> {
    type Item = (&'a K, &'a V);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((key, value)) = self.leaf.next() {
                return Some((key, value));
            }
            match self.branches.last_mut()?.next() {
                Some((_, child)) => self.enter(child),
                None => drop(self.branches.pop()),
            }
        }
    }
}

impl<'a, K, V> IntoIterator for &'a SortedMap<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = Iter<'a, K, V>;

    fn into_iter(self) -> Iter<'a, K, V> {
        self.iter()
    }
}
