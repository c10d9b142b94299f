//! A sorted map beside that of the standard library.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A step that may be done to a map, with few different keys, so that steps meet.
#[derive(Clone, Debug)]
enum Step {
    Insert(u16),
    Add(u16),
    Change(u16),
    Remove(u16),
    PopFirst,
    /// Keeps a clone, to be compared at the end.
    Image,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let key = 0..300_u16;
    let step = prop_oneof![
        8 => key.clone().prop_map(Step::Insert),
        4 => key.clone().prop_map(Step::Add),
        2 => key.clone().prop_map(Step::Change),
        8 => key.prop_map(Step::Remove),
        4 => Just(Step::PopFirst),
        1 => Just(Step::Image),
    ];
    // Some maps grow to a few hundred entries first, in order or not, so that much is removed from
    // deep trees.
    let grown = prop_oneof![
        Just(Vec::new()),
        (0..300_u16).prop_map(|to| (0..to).map(Step::Insert).collect()),
        prop::collection::vec((0..300_u16).prop_map(Step::Insert), 0..300)
    ];
    (grown, prop::collection::vec(step, 0..600))
        .prop_map(|(grown, steps): (Vec<Step>, Vec<Step>)| [grown, steps].concat())
}

fn assert_same(map: &SortedMap<u16, usize>, model: &BTreeMap<u16, usize>) {
    assert_eq!(map.len(), model.len());
    assert!(map.iter().eq(model.iter()));
    assert_eq!(
        (map.first_key_value(), map.last_key_value()),
        (model.first_key_value(), model.last_key_value())
    );
    for key in (0..310).step_by(7) {
        assert_eq!(map.get(&key), model.get(&key));
        assert!(map.iter_from(&key).eq(model.range(key..)));
    }
    assert!(
        map.root.as_ref().is_none_or(|root| depth(root).is_some()),
        "every leaf is at one depth, and no node is empty or has room for too many"
    );
}

fn depth<K: Ord, V>(node: &Node<K, V>) -> Option<usize> {
    let room = match node {
        Node::Leaf(pairs) => pairs.capacity(),
        Node::Branch(children) => children.capacity(),
    };
    if node.width() == 0 || room > WIDTH {
        return None;
    }
    match node {
        Node::Leaf(_) => Some(0),
        Node::Branch(children) => {
            let first = depth(&children[0].1)?;
            children.iter().all(|(_, child)| depth(child) == Some(first)).then_some(first + 1)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_map_does_what_that_of_the_standard_library_does_and_its_clones_stay_as_they_were(steps in steps()) {
        let (mut map, mut model) = (SortedMap::new(), BTreeMap::new());
        let mut images = Vec::new();
        for (n, step) in steps.into_iter().enumerate() {
            match step {
                Step::Insert(key) => {
                    map.insert(key, n);
                    model.insert(key, n);
                }
                Step::Add(key) => {
                    let sum = map.with(key, || 1, |value| {
                        *value += n;
                        *value
                    });
                    let value = model.entry(key).or_insert(1);
                    *value += n;
                    prop_assert_eq!(sum, *value);
                }
                Step::Change(key) => {
                    prop_assert_eq!(map.get_mut(&key).map(|value| std::mem::replace(value, n)), model.get_mut(&key).map(|value| std::mem::replace(value, n)));
                }
                Step::Remove(key) => prop_assert_eq!(map.remove(&key), model.remove(&key)),
                Step::PopFirst => prop_assert_eq!(map.pop_first(), model.pop_first()),
                Step::Image => images.push((map.clone(), model.clone())),
            }
        }
        assert_same(&map, &model);
        for (image, model) in &images {
            assert_same(image, model);
        }
    }
}

#[test]
fn what_comes_in_order_fills_its_nodes() {
    let mut map = SortedMap::new();
    (0..256).for_each(|key| map.insert(key, ()));
    let root = map.root.as_deref().expect("entries");
    // Four to the fourth: full leaves below full branches.
    assert_eq!(depth(root), Some(3));
}

#[test]
fn a_clone_shares_what_did_not_change() {
    let mut map = SortedMap::new();
    (0..1_000).for_each(|key| map.insert(key, Arc::new(())));
    let image = map.clone();
    map.remove(&500);
    let own =
        |map: &SortedMap<i32, Arc<()>>| map.values().filter(|value| Arc::strong_count(value) == 1).count();
    // Entries in the copied leaf are counted twice, all others once: nothing else was copied.
    assert!(own(&map) + WIDTH >= 999, "{}", own(&map));
    assert_eq!((map.len(), image.len()), (999, 1_000));
}
