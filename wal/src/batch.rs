//! What one synced write consists of: the batch as one flat buffer (no allocation for each operation, and a store in
//! memory can tear it after any byte), and the operations of records on the index. The layout of a batch never reaches
//! a disk.

use crate::Seq;
use crate::store::Family;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op<'a> {
    pub family: Family,
    pub key: &'a [u8],
    pub value: Option<&'a [u8]>,
    /// The first key that is not removed any more, where all from `key` on are.
    pub until: Option<&'a [u8]>,
}

/// Puts and deletes that become durable together or not at all; later ones win.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    pub(crate) bytes: Vec<u8>,
    pub(crate) count: usize,
}

// The kind of an operation, beside the number of its family.
const DELETE: u8 = 0x80;
/// Beside [`DELETE`]; the value is the end of the range.
const RANGE: u8 = 0x40;
const OP_HEADER_BYTES: usize = 7; // u8 family and kind, u16 key length, u32 value length

/// The operations of most records fit; growing by doubling would move them four times.
const USUAL_BYTES: usize = 640;

impl Batch {
    pub fn new() -> Batch {
        Batch::default()
    }

    pub fn put(&mut self, family: Family, key: &[u8], value: &[u8]) {
        self.push(family as u8, key, &[], value);
    }

    pub fn delete(&mut self, family: Family, key: &[u8]) {
        self.push(family as u8 | DELETE, key, &[], &[]);
    }

    pub fn delete_range(&mut self, family: Family, from: &[u8], to: &[u8]) {
        self.push(family as u8 | DELETE | RANGE, from, &[], to);
    }

    pub fn len(&self) -> usize {
        self.count
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub fn len_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Forgets the operations and keeps the buffer, unless it outgrew `keep_bytes`.
    pub fn clear(&mut self, keep_bytes: usize) {
        self.bytes.clear();
        self.bytes.shrink_to(keep_bytes);
        self.count = 0;
    }

    pub fn ops(&self) -> Ops<'_> {
        Ops { bytes: &self.bytes }
    }

    /// A key is at most 65,535 bytes long, with its end.
    #[inline]
    pub(crate) fn push(&mut self, kind: u8, key: &[u8], key_end: &[u8], value: &[u8]) {
        let key_len = u16::try_from(key.len() + key_end.len()).expect("a key is at most 65,535 bytes long");
        let [k0, k1] = key_len.to_le_bytes();
        let [v0, v1, v2, v3] =
            u32::try_from(value.len()).expect("a value is shorter than 4 GiB").to_le_bytes();
        let header: [u8; OP_HEADER_BYTES] = [kind, k0, k1, v0, v1, v2, v3];
        if self.bytes.capacity() == 0 {
            self.bytes.reserve(USUAL_BYTES);
        }
        self.bytes.extend_from_slice(&header);
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(key_end);
        self.bytes.extend_from_slice(value);
        self.count += 1;
    }
}

#[derive(Clone, Debug)]
pub struct Ops<'a> {
    bytes: &'a [u8],
}

impl<'a> Iterator for Ops<'a> {
    type Item = Op<'a>;

    fn next(&mut self) -> Option<Op<'a>> {
        let ([kind, k0, k1, v0, v1, v2, v3], rest) = self.bytes.split_first_chunk::<OP_HEADER_BYTES>()?;
        let (key, rest) = rest.split_at(usize::from(u16::from_le_bytes([*k0, *k1])));
        let (value, rest) = rest.split_at(u32::from_le_bytes([*v0, *v1, *v2, *v3]) as usize);
        self.bytes = rest;
        let family = Family::ALL[usize::from(kind & !(DELETE | RANGE))];
        let (value, until) = match kind & (DELETE | RANGE) {
            0 => (Some(value), None),
            DELETE => (None, None),
            _ => (None, Some(value)),
        };
        Some(Op { family, key, value, until })
    }
}

// Three bits must suffice for the family.
const _: () = assert!(Family::ALL.len() <= 8);

/// The operations of a batch, and their places in the order of their keys, which is faster to write: the memtable
/// begins its search at the last key's place. Operations of one key keep their order, as the last one wins; and
/// so do all where a range is removed, as that concerns the keys before it alone.
///
/// Numbers are compared where possible: most keys share their beginning only with keys of their own
/// list.
pub(crate) fn sorted(batch: &Batch) -> (Vec<Op<'_>>, Vec<(u64, usize)>) {
    let mut ops = Vec::with_capacity(batch.count);
    let mut places = Vec::with_capacity(batch.count);
    let mut removes_range = false;
    for op in (Ops { bytes: &batch.bytes }) {
        removes_range |= op.until.is_some();
        // The family and the first 61 bits of the key, as a number that sorts as the keys do.
        let mut first = [0; 8];
        let len = op.key.len().min(first.len());
        first[..len].copy_from_slice(&op.key[..len]);
        places.push(((op.family as u64) << 61 | u64::from_be_bytes(first) >> 3, ops.len()));
        ops.push(op);
    }
    if !removes_range {
        places.sort_unstable();
        // Lists that grow in order begin alike and are in order already.
        for alike in places.chunk_by_mut(|a, b| a.0 == b.0) {
            if !alike.is_sorted_by_key(|place| ops[place.1].key) {
                alike.sort_by_key(|place| ops[place.1].key);
            }
        }
    }
    (ops, places)
}

/// Index operations that become durable with a record; later ones win. A record's sequence is known
/// only when the writer takes it, so an operation may ask for it to be filled in there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexOps {
    pub(crate) ops: Batch,
    /// Where in their bytes the sequence goes.
    seqs: Vec<usize>,
}

impl IndexOps {
    pub fn new() -> IndexOps {
        IndexOps::default()
    }

    pub fn put(&mut self, key: &[u8], value: &[u8]) {
        self.ops.push(Family::Index as u8, key, &[], value);
    }

    /// The record's own sequence as value, 8 bytes big endian.
    pub fn put_seq(&mut self, key: &[u8]) {
        self.ops.push(Family::Index as u8, key, &[], &[0; 8]);
        self.seqs.push(self.ops.bytes.len() - 8);
    }

    /// The record's own sequence behind the prefix, 8 bytes big endian.
    pub fn put_at_seq(&mut self, key_prefix: &[u8], value: &[u8]) {
        self.ops.push(Family::Index as u8, key_prefix, &[0; 8], value);
        self.seqs.push(self.ops.bytes.len() - value.len() - 8);
    }

    pub fn delete(&mut self, key: &[u8]) {
        self.ops.push(Family::Index as u8 | DELETE, key, &[], &[]);
    }

    /// Removes every key from `from` on and before `to`, however many there are: that costs as much as to
    /// remove one.
    pub fn delete_range(&mut self, from: &[u8], to: &[u8]) {
        self.ops.delete_range(Family::Index, from, to);
    }

    pub fn resolved(&self, seq: Seq) -> Batch {
        let mut batch = Batch::new();
        self.resolve_into(seq, &mut batch);
        batch
    }

    pub(crate) fn resolve_into(&self, seq: Seq, batch: &mut Batch) {
        let start = batch.bytes.len();
        batch.bytes.extend_from_slice(&self.ops.bytes);
        batch.count += self.ops.count;
        for at in &self.seqs {
            batch.bytes[start + at..start + at + 8].copy_from_slice(&seq.to_be_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn operations_come_back_in_order() {
        let mut batch = Batch::new();
        batch.put(Family::Log, b"k", b"value");
        batch.put(Family::Meta, b"tip", b"");
        batch.delete(Family::Index, b"gone");
        batch.delete_range(Family::Index, b"from", b"to");
        let ops: Vec<_> = batch.ops().collect();
        assert_eq!(
            ops,
            [
                Op { family: Family::Log, key: b"k", value: Some(b"value"), until: None },
                Op { family: Family::Meta, key: b"tip", value: Some(b""), until: None },
                Op { family: Family::Index, key: b"gone", value: None, until: None },
                Op { family: Family::Index, key: b"from", value: None, until: Some(b"to") },
            ]
        );
        assert_eq!(batch.len(), 4);
        batch.clear(0);
        assert!(batch.is_empty() && batch.ops().next().is_none());
    }

    #[test]
    fn the_sequence_is_filled_in_where_it_was_asked_for() {
        let mut ops = IndexOps::new();
        ops.put(b"a", b"1");
        ops.put_seq(b"b");
        ops.put_at_seq(b"c", b"3");
        ops.delete(b"d");
        assert_eq!(ops.ops.len_bytes(), 4 * OP_HEADER_BYTES + 4 + 2 + 2 * 8);
        let expected: Vec<(Vec<u8>, Option<Vec<u8>>)> = vec![
            (b"a".to_vec(), Some(b"1".to_vec())),
            (b"b".to_vec(), Some(vec![0, 0, 0, 0, 0, 0, 1, 2])),
            (b"c\0\0\0\0\0\0\x01\x02".to_vec(), Some(b"3".to_vec())),
            (b"d".to_vec(), None),
        ];
        ops.delete_range(b"e", b"f");
        let mut batch = ops.resolved(258);
        ops.resolve_into(258, &mut batch);
        assert_eq!(batch.len(), 10);
        let (ranges, single): (Vec<_>, Vec<_>) = batch.ops().partition(|op| op.until.is_some());
        assert!(ranges.iter().all(|op| (op.key, op.until) == (b"e", Some(b"f"))));
        let resolved: Vec<_> =
            single.iter().map(|op| (op.key.to_vec(), op.value.map(<[u8]>::to_vec))).collect();
        assert_eq!(resolved, [expected.clone(), expected].concat());
    }

    fn in_order(batch: &Batch) -> Vec<Op<'_>> {
        let (ops, places) = sorted(batch);
        places.into_iter().map(|(_, at)| ops[at]).collect()
    }

    #[test]
    fn what_a_range_takes_stays_before_it() {
        let mut batch = Batch::new();
        batch.put(Family::Index, b"b", b"old");
        batch.delete_range(Family::Index, b"a", b"c");
        batch.put(Family::Index, b"b", b"new");
        batch.put(Family::Log, b"a", b"");
        assert_eq!(in_order(&batch), batch.ops().collect::<Vec<_>>());
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
            prop_assert_eq!(in_order(&batch), expected);
        }
    }
}
