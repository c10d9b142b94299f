//! The bytes of sorted maps and sets: those of the standard library's.

use super::{SortedMap, SortedSet};
use bincode::de::{BorrowDecode, BorrowDecoder, Decode, Decoder};
use bincode::enc::{Encode, Encoder};
use bincode::error::{DecodeError, EncodeError};

impl<K: Encode, V: Encode> Encode for SortedMap<K, V> {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        (self.len as u64).encode(encoder)?;
        self.iter().try_for_each(|(key, value)| {
            key.encode(encoder)?;
            value.encode(encoder)
        })
    }
}

impl<Context, K: Decode<Context> + Ord + Clone, V: Decode<Context> + Clone> Decode<Context>
    for SortedMap<K, V>
{
    fn decode<D: Decoder<Context = Context>>(decoder: &mut D) -> Result<Self, DecodeError> {
        let mut map = SortedMap::new();
        for _ in 0..u64::decode(decoder)? {
            map.insert(K::decode(decoder)?, V::decode(decoder)?);
        }
        Ok(map)
    }
}

impl<'de, Context, K: Decode<Context> + Ord + Clone, V: Decode<Context> + Clone> BorrowDecode<'de, Context>
    for SortedMap<K, V>
{
    fn borrow_decode<D: BorrowDecoder<'de, Context = Context>>(decoder: &mut D) -> Result<Self, DecodeError> {
        Self::decode(decoder)
    }
}

impl<K: Encode> Encode for SortedSet<K> {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        self.0.encode(encoder)
    }
}

impl<Context, K: Decode<Context> + Ord + Clone> Decode<Context> for SortedSet<K> {
    fn decode<D: Decoder<Context = Context>>(decoder: &mut D) -> Result<Self, DecodeError> {
        SortedMap::decode(decoder).map(SortedSet)
    }
}

impl<'de, Context, K: Decode<Context> + Ord + Clone> BorrowDecode<'de, Context> for SortedSet<K> {
    fn borrow_decode<D: BorrowDecoder<'de, Context = Context>>(decoder: &mut D) -> Result<Self, DecodeError> {
        Self::decode(decoder)
    }
}
