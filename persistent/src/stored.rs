//! The bytes of a map and of a set: the length, then one after the other in their order, as those of std's.

use crate::{SortedMap, SortedSet};
use bincode::de::{Decode, Decoder};
use bincode::enc::{Encode, Encoder};
use bincode::error::{DecodeError, EncodeError};

impl<C, K: Decode<C> + Ord + Clone, V: Decode<C> + Clone> Decode<C> for SortedMap<K, V> {
    fn decode<D: Decoder<Context = C>>(from: &mut D) -> Result<Self, DecodeError> {
        let length = u64::decode(from)?;
        let length = usize::try_from(length).map_err(|_| DecodeError::OutsideUsizeRange(length))?;
        // Memory for so many is accounted for before any is taken, as the length of damaged bytes may be anything.
        from.claim_container_read::<(K, V)>(length)?;
        let mut map = SortedMap::default();
        for _ in 0..length {
            from.unclaim_bytes_read(size_of::<(K, V)>());
            let key = K::decode(from)?;
            map.insert(key, V::decode(from)?);
        }
        Ok(map)
    }
}

impl<K: Encode + Ord, V: Encode> Encode for SortedMap<K, V> {
    fn encode<E: Encoder>(&self, to: &mut E) -> Result<(), EncodeError> {
        (self.len() as u64).encode(to)?;
        self.iter().try_for_each(|entry| entry.encode(to))
    }
}

impl<C, K: Decode<C> + Ord + Clone> Decode<C> for SortedSet<K> {
    fn decode<D: Decoder<Context = C>>(from: &mut D) -> Result<Self, DecodeError> {
        SortedMap::decode(from).map(SortedSet)
    }
}

impl<K: Encode + Ord> Encode for SortedSet<K> {
    fn encode<E: Encoder>(&self, to: &mut E) -> Result<(), EncodeError> {
        self.0.encode(to)
    }
}
