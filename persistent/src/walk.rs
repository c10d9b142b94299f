//! Iteration over a sorted map.

use super::{Child, Node, SortedMap, place};
use std::slice;

pub struct Iter<'a, K, V> {
    root: Option<&'a Node<K, V>>,
    front: Option<Walk<'a, K, V>>,
    back: Option<Walk<'a, K, V>>,
    left: usize,
}

impl<'a, K, V> Iter<'a, K, V> {
    pub(super) fn new(root: Option<&'a Node<K, V>>, len: usize) -> Self {
        Iter { root, front: None, back: None, left: len }
    }
}

/// A position in a tree: the rest of the leaf, and of the branches above it.
pub(super) struct Walk<'a, K, V> {
    branches: Vec<slice::Iter<'a, Child<K, V>>>,
    leaf: slice::Iter<'a, (K, V)>,
}

impl<'a, K, V> Walk<'a, K, V> {
    fn new(root: &'a Node<K, V>, forward: bool) -> Self {
        let mut walk = Walk { branches: Vec::new(), leaf: [].iter() };
        walk.enter(root, forward);
        walk
    }

    fn enter(&mut self, mut node: &'a Node<K, V>, forward: bool) {
        loop {
            match node {
                Node::Leaf(pairs) => {
                    self.leaf = pairs.iter();
                    return;
                }
                Node::Branch(children) => {
                    let mut rest = children.iter();
                    let Some((_, child)) = (if forward { rest.next() } else { rest.next_back() }) else {
                        return;
                    };
                    self.branches.push(rest);
                    node = child;
                }
            }
        }
    }

    pub fn next(&mut self) -> Option<(&'a K, &'a V)> {
        loop {
            if let Some((key, value)) = self.leaf.next() {
                return Some((key, value));
            }
            match self.branches.last_mut()?.next() {
                Some((_, child)) => self.enter(child, true),
                None => {
                    self.branches.pop();
                }
            }
        }
    }

    fn next_back(&mut self) -> Option<(&'a K, &'a V)> {
        loop {
            if let Some((key, value)) = self.leaf.next_back() {
                return Some((key, value));
            }
            match self.branches.last_mut()?.next_back() {
                Some((_, child)) => self.enter(child, false),
                None => {
                    self.branches.pop();
                }
            }
        }
    }
}

impl<'a, K: Ord, V> Walk<'a, K, V> {
    /// The position before the first entry that is not below `key`.
    pub fn from(mut node: Option<&'a Node<K, V>>, key: &K) -> Self {
        let mut walk = Walk { branches: Vec::new(), leaf: [].iter() };
        while let Some(found) = node {
            node = match found {
                Node::Leaf(pairs) => {
                    walk.leaf = pairs[pairs.partition_point(|(found, _)| found < key)..].iter();
                    None
                }
                Node::Branch(children) => {
                    let at = place(children, key);
                    walk.branches.push(children[at + 1..].iter());
                    Some(&children[at].1)
                }
            };
        }
        walk
    }
}

impl<'a, K, V> Iterator for Iter<'a, K, V> {
    type Item = (&'a K, &'a V);

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let root = self.root?;
        self.front.get_or_insert_with(|| Walk::new(root, true)).next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<K, V> DoubleEndedIterator for Iter<'_, K, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let root = self.root?;
        self.back.get_or_insert_with(|| Walk::new(root, false)).next_back()
    }
}

impl<'a, K, V> IntoIterator for &'a SortedMap<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = Iter<'a, K, V>;

    fn into_iter(self) -> Iter<'a, K, V> {
        self.iter()
    }
}
