//! The operations of one synced write, as one flat buffer: no allocation per operation, and a store
//! in memory can tear it after any byte. The layout never reaches a disk.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Family {
    /// The records, in chunks under the first sequence in them.
    Log = 0,
    /// The index: keys of the callers, by which they find records.
    Index = 1,
    /// The snapshots: states of tenants, so that replay is short.
    Snapshots = 2,
    /// The format, the tip and the floor.
    Meta = 3,
    /// The pieces of large states of tenants.
    Pieces = 4,
}

impl Family {
    pub const ALL: [Family; 5] =
        [Family::Log, Family::Index, Family::Snapshots, Family::Meta, Family::Pieces];

    pub fn name(self) -> &'static str {
        match self {
            Family::Log => "log",
            Family::Index => "index",
            Family::Snapshots => "snapshots",
            Family::Meta => "meta",
            Family::Pieces => "pieces",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op<'a> {
    pub family: Family,
    pub key: &'a [u8],
    pub value: Option<&'a [u8]>,
    /// The first key that is not removed any more, where all from `key` on are.
    pub until: Option<&'a [u8]>,
}

/// Puts and deletes that become durable together or not at all; later ones win.
#[derive(Clone, Default)]
pub struct Batch {
    bytes: Vec<u8>,
    count: usize,
}

const DELETE: u8 = 0x80;
/// Beside [`DELETE`]; the value is the end of the range.
const RANGE: u8 = 0x40;
const OP_HEADER_BYTES: usize = 9; // u8 family and kind, u32 key length, u32 value length

impl Batch {
    pub fn new() -> Batch {
        Batch::default()
    }

    pub fn put(&mut self, family: Family, key: &[u8], value: &[u8]) {
        self.header(family as u8, key.len(), value.len());
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(value);
    }

    pub fn delete(&mut self, family: Family, key: &[u8]) {
        self.header(family as u8 | DELETE, key.len(), 0);
        self.bytes.extend_from_slice(key);
    }

    /// Removes every key from `from` on and before `to`.
    pub fn delete_range(&mut self, family: Family, from: &[u8], to: &[u8]) {
        self.header(family as u8 | DELETE | RANGE, from.len(), to.len());
        self.bytes.extend_from_slice(from);
        self.bytes.extend_from_slice(to);
    }

    /// Starts a put whose value is appended to `grow`'s buffer; nothing else may be added until `finish`.
    pub(crate) fn begin(&mut self, family: Family, key: &[u8]) -> OpenPut {
        self.header(family as u8, key.len(), 0);
        self.bytes.extend_from_slice(key);
        OpenPut { value_at: self.bytes.len(), key_len: key.len() }
    }

    /// Only ever append.
    pub(crate) fn grow(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    pub(crate) fn grown(&self, open: &OpenPut) -> usize {
        self.bytes.len() - open.value_at
    }

    pub(crate) fn finish(&mut self, open: OpenPut) {
        let len = u32::try_from(self.grown(&open)).expect("a value is shorter than 4 GiB");
        let at = open.value_at - open.key_len - 4;
        self.bytes[at..at + 4].copy_from_slice(&len.to_le_bytes());
    }

    pub fn append(&mut self, other: &Batch) {
        self.bytes.extend_from_slice(&other.bytes);
        self.count += other.count;
    }

    pub fn len(&self) -> usize {
        self.count
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Keys, values and nine bytes for each operation.
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

    fn header(&mut self, kind: u8, key_len: usize, value_len: usize) {
        let key_len = u32::try_from(key_len).expect("a key is shorter than 4 GiB");
        let value_len = u32::try_from(value_len).expect("a value is shorter than 4 GiB");
        let mut header = [0; OP_HEADER_BYTES];
        header[0] = kind;
        header[1..5].copy_from_slice(&key_len.to_le_bytes());
        header[5..9].copy_from_slice(&value_len.to_le_bytes());
        self.bytes.extend_from_slice(&header);
        self.count += 1;
    }
}

#[derive(Debug)]
pub(crate) struct OpenPut {
    value_at: usize,
    key_len: usize,
}

#[derive(Clone, Debug)]
pub struct Ops<'a> {
    bytes: &'a [u8],
}

impl<'a> Iterator for Ops<'a> {
    type Item = Op<'a>;

    fn next(&mut self) -> Option<Op<'a>> {
        let (header, rest) = self.bytes.split_first_chunk::<OP_HEADER_BYTES>()?;
        let key_len = u32::from_le_bytes([header[1], header[2], header[3], header[4]]) as usize;
        let value_len = u32::from_le_bytes([header[5], header[6], header[7], header[8]]) as usize;
        let (key, rest) = rest.split_at(key_len);
        let (value, rest) = rest.split_at(value_len);
        self.bytes = rest;
        let family = Family::ALL[usize::from(header[0] & !(DELETE | RANGE))];
        let is = |bit| header[0] & bit != 0;
        Some(Op { family, key, value: (!is(DELETE)).then_some(value), until: is(RANGE).then_some(value) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_come_back_in_order() {
        let mut side = Batch::new();
        side.delete(Family::Index, b"gone");
        side.delete_range(Family::Index, b"from", b"to");
        let mut batch = Batch::new();
        let open = batch.begin(Family::Log, b"k");
        batch.grow().extend_from_slice(b"grown ");
        batch.grow().extend_from_slice(b"value");
        assert_eq!(batch.grown(&open), 11);
        batch.finish(open);
        batch.put(Family::Meta, b"tip", b"");
        batch.append(&side);
        let ops: Vec<_> = batch.ops().collect();
        assert_eq!(
            ops,
            [
                Op { family: Family::Log, key: b"k", value: Some(b"grown value"), until: None },
                Op { family: Family::Meta, key: b"tip", value: Some(b""), until: None },
                Op { family: Family::Index, key: b"gone", value: None, until: None },
                Op { family: Family::Index, key: b"from", value: None, until: Some(b"to") },
            ]
        );
        assert_eq!(batch.len(), 4);
        batch.clear(0);
        assert!(batch.is_empty() && batch.ops().next().is_none());
    }
}
