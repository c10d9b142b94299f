//! Index operations that become durable with a record. A record's sequence is known only when the
//! writer takes it, so an operation may ask for it to be filled in there. All operations share one
//! buffer: one allocation for a record.

use crate::Seq;
use crate::batch::{Batch, Family};
use std::borrow::Cow;

/// Later ones win. In the buffer: u8 kind, u16 key length, u32 value length, key, value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexOps {
    bytes: Vec<u8>,
}

const PUT: u8 = 0;
const PUT_SEQ: u8 = 1;
const PUT_AT_SEQ: u8 = 2;
const DELETE: u8 = 3;
/// Its value is the end of the range.
const DELETE_RANGE: u8 = 4;
const HEADER_BYTES: usize = 7;
/// The operations of most records fit; growing by doubling would move them four times.
const USUAL_BYTES: usize = 512;

impl IndexOps {
    pub fn new() -> IndexOps {
        IndexOps::default()
    }

    /// A key is at most 65,535 bytes long, here and below.
    pub fn put(&mut self, key: &[u8], value: &[u8]) {
        self.push(PUT, key, value);
    }

    /// The record's own sequence as value, 8 bytes big endian.
    pub fn put_seq(&mut self, key: &[u8]) {
        self.push(PUT_SEQ, key, &[]);
    }

    /// The record's own sequence behind the prefix, 8 bytes big endian.
    pub fn put_at_seq(&mut self, key_prefix: &[u8], value: &[u8]) {
        self.push(PUT_AT_SEQ, key_prefix, value);
    }

    pub fn delete(&mut self, key: &[u8]) {
        self.push(DELETE, key, &[]);
    }

    /// Removes every key from `from` on and before `to`, however many there are: that costs as much as to
    /// remove one.
    pub fn delete_range(&mut self, from: &[u8], to: &[u8]) {
        self.push(DELETE_RANGE, from, to);
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Keys, values and seven bytes for each.
    pub fn len_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The ranges of keys that are removed: the first key, and the first that is not in it.
    pub fn ranges(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        RawOps { bytes: &self.bytes }
            .filter(|(kind, ..)| *kind == DELETE_RANGE)
            .map(|(_, from, to)| (from, to))
    }

    /// The operations on single keys; the value is `None` for a delete.
    pub fn iter(&self, seq: Seq) -> impl Iterator<Item = (Cow<'_, [u8]>, Option<Cow<'_, [u8]>>)> {
        let seq = seq.to_be_bytes();
        RawOps { bytes: &self.bytes }.filter(|(kind, ..)| *kind != DELETE_RANGE).map(
            move |(kind, key, value)| match kind {
                PUT => (Cow::Borrowed(key), Some(Cow::Borrowed(value))),
                PUT_SEQ => (Cow::Borrowed(key), Some(Cow::Owned(seq.to_vec()))),
                PUT_AT_SEQ => (Cow::Owned([key, &seq].concat()), Some(Cow::Borrowed(value))),
                DELETE => (Cow::Borrowed(key), None),
                _ => unreachable!("operations are only pushed by the five functions above"),
            },
        )
    }

    /// `scratch` is reused for keys that end in the sequence.
    pub(crate) fn resolve_into(&self, seq: Seq, batch: &mut Batch, scratch: &mut Vec<u8>) {
        let seq = seq.to_be_bytes();
        for (kind, key, value) in (RawOps { bytes: &self.bytes }) {
            match kind {
                PUT => batch.put(Family::Index, key, value),
                PUT_SEQ => batch.put(Family::Index, key, &seq),
                PUT_AT_SEQ => {
                    scratch.clear();
                    scratch.extend_from_slice(key);
                    scratch.extend_from_slice(&seq);
                    batch.put(Family::Index, scratch, value);
                }
                DELETE => batch.delete(Family::Index, key),
                DELETE_RANGE => batch.delete_range(Family::Index, key, value),
                _ => unreachable!("operations are only pushed by the five functions above"),
            }
        }
    }

    fn push(&mut self, kind: u8, key: &[u8], value: &[u8]) {
        let key_len = u16::try_from(key.len()).expect("an index key is at most 65,535 bytes long");
        let value_len = u32::try_from(value.len()).expect("an index value is shorter than 4 GiB");
        if self.bytes.is_empty() {
            self.bytes.reserve(USUAL_BYTES);
        }
        self.bytes.reserve(HEADER_BYTES + key.len() + value.len());
        self.bytes.push(kind);
        self.bytes.extend_from_slice(&key_len.to_le_bytes());
        self.bytes.extend_from_slice(&value_len.to_le_bytes());
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(value);
    }
}

struct RawOps<'a> {
    bytes: &'a [u8],
}

impl<'a> Iterator for RawOps<'a> {
    type Item = (u8, &'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (header, rest) = self.bytes.split_first_chunk::<HEADER_BYTES>()?;
        let key_len = usize::from(u16::from_le_bytes([header[1], header[2]]));
        let value_len = u32::from_le_bytes([header[3], header[4], header[5], header[6]]) as usize;
        let (key, rest) = rest.split_at(key_len);
        let (value, rest) = rest.split_at(value_len);
        self.bytes = rest;
        Some((header[0], key, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_filled_in_where_it_was_asked_for() {
        let mut ops = IndexOps::new();
        assert!(ops.is_empty());
        ops.put(b"a", b"1");
        ops.put_seq(b"b");
        ops.put_at_seq(b"c", b"3");
        ops.delete(b"d");
        assert_eq!(ops.len_bytes(), 4 * 7 + 4 + 2);
        let expected: Vec<(Vec<u8>, Option<Vec<u8>>)> = vec![
            (b"a".to_vec(), Some(b"1".to_vec())),
            (b"b".to_vec(), Some(vec![0, 0, 0, 0, 0, 0, 1, 2])),
            (b"c\0\0\0\0\0\0\x01\x02".to_vec(), Some(b"3".to_vec())),
            (b"d".to_vec(), None),
        ];
        let resolved: Vec<_> = ops.iter(258).map(|(k, v)| (k.into_owned(), v.map(Cow::into_owned))).collect();
        assert_eq!(resolved, expected);

        ops.delete_range(b"e", b"f");
        assert_eq!(ops.ranges().collect::<Vec<_>>(), [(&b"e"[..], &b"f"[..])]);
        assert_eq!(ops.iter(258).count(), expected.len(), "a range is no single key");
        let mut batch = Batch::new();
        ops.resolve_into(258, &mut batch, &mut Vec::new());
        let (ranges, single): (Vec<_>, Vec<_>) = batch.ops().partition(|op| op.until.is_some());
        assert_eq!((ranges[0].key, ranges[0].until), (&b"e"[..], Some(&b"f"[..])));
        let batched: Vec<_> =
            single.iter().map(|op| (op.key.to_vec(), op.value.map(<[u8]>::to_vec))).collect();
        assert_eq!(batched, expected, "the writer resolves as the public iterator does");
    }
}
