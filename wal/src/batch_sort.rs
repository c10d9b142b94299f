//! The operations of a batch in the order of their keys, which is faster to write: the memtable
//! begins its search at the last key's place. The writer sorts every batch, so numbers are compared
//! where possible: most keys share their beginning only with keys of their own list.

use crate::batch::{Batch, Family, Op};

// Three bits must suffice for the family.
const _: () = assert!(Family::ALL.len() <= 8);

/// Operations of one key keep their order, as the last one wins; and so do all where a range is removed, as that concerns the keys before it alone.
pub(crate) fn sorted(batch: &Batch) -> impl Iterator<Item = Op<'_>> {
    let ops: Vec<_> = batch.ops().collect();
    let mut places: Vec<SortKey> =
        ops.iter().enumerate().map(|(n, op)| SortKey { beginning: beginning(op), n }).collect();
    if ops.iter().all(|op| op.until.is_none()) {
        sort(&ops, &mut places);
    }
    places.into_iter().map(move |place| ops[place.n])
}

fn sort(ops: &[Op<'_>], places: &mut [SortKey]) {
    places.sort_unstable();
    for alike in places.chunk_by_mut(|a, b| a.beginning == b.beginning) {
        if !alike.is_sorted_by_key(|place| ops[place.n].key) {
            alike.sort_by_key(|place| ops[place.n].key);
        }
    }
}

/// Sorts by the beginning of the key and then by the place in the batch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct SortKey {
    beginning: u64,
    n: usize,
}

/// The family and the first 61 bits of the key, as a number that sorts as the keys do.
fn beginning(op: &Op<'_>) -> u64 {
    let mut first = [0; 8];
    let len = op.key.len().min(first.len());
    first[..len].copy_from_slice(&op.key[..len]);
    (op.family as u64) << 61 | u64::from_be_bytes(first) >> 3
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_a_range_takes_stays_before_it() {
        let mut batch = Batch::new();
        batch.put(Family::Index, b"b", b"old");
        batch.delete_range(Family::Index, b"a", b"c");
        batch.put(Family::Index, b"b", b"new");
        batch.put(Family::Log, b"a", b"");
        assert_eq!(sorted(&batch).collect::<Vec<_>>(), batch.ops().collect::<Vec<_>>());
    }

    proptest! {
        /// Short keys of few letters: many are the same, begin alike, or are the beginning of
        /// another.
        #[test]
        fn it_is_the_order_of_the_whole_keys(ops in prop::collection::vec((0_usize..5, prop::collection::vec(0_u8..3, 0..12), any::<bool>()), 0..60)) {
            let mut batch = Batch::new();
            for (n, (family, key, put)) in ops.iter().enumerate() {
                let family = Family::ALL[*family];
                if *put { batch.put(family, key, &n.to_be_bytes()) } else { batch.delete(family, key) }
            }
            let mut expected: Vec<_> = batch.ops().collect();
            expected.sort_by_key(|op| (op.family, op.key));
            prop_assert_eq!(sorted(&batch).collect::<Vec<_>>(), expected);
        }
    }
}
