//! The parts that layouts are made of in every version: numbers, texts, what may be missing, lists and
//! sorted maps. They never change; a part that is to look otherwise in the bytes gets another name.

use crate::stored::layout::{CurrentLayout, Layout};
use bincode::de::Decoder;
use bincode::enc::Encoder;
use bincode::error::{DecodeError, EncodeError};
use bincode::{Decode, Encode};
use persistent::{SortedMap, SortedSet};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Parts that stand in the bytes as bincode has them: whole numbers of more than a byte by their size,
/// signed ones folded, texts after their length, arrays of bytes as they are.
macro_rules! plain {
    ($($part:ty)+) => {$(
        impl Layout for $part {
            type Working = $part;

            fn read<D: Decoder<Context = u8>>(from: &mut D) -> Result<$part, DecodeError> {
                Decode::decode(from)
            }
        }

        impl CurrentLayout for $part {
            fn write<E: Encoder>(working: &$part, to: &mut E) -> Result<(), EncodeError> {
                working.encode(to)
            }
        }
    )+};
}

plain! { bool u8 u16 u32 u64 i32 i64 i128 String Box<str> Arc<str> [u8; 11] [u8; 16] [u8; 20] [u8; 32] }

/// Bytes after their length.
pub enum Bytes {}

impl Layout for Bytes {
    type Working = Vec<u8>;

    fn read<D: Decoder<Context = u8>>(from: &mut D) -> Result<Vec<u8>, DecodeError> {
        Decode::decode(from)
    }
}

impl CurrentLayout for Bytes {
    fn write<E: Encoder>(working: &Vec<u8>, to: &mut E) -> Result<(), EncodeError> {
        working.encode(to)
    }
}

/// A value that may be missing: 0, or 1 and then the value.
impl<L: Layout> Layout for Option<L> {
    type Working = Option<L::Working>;

    fn read<D: Decoder<Context = u8>>(from: &mut D) -> Result<Self::Working, DecodeError> {
        Option::<()>::decode(from)?.map(|()| L::read(from)).transpose()
    }
}

impl<L: CurrentLayout> CurrentLayout for Option<L> {
    fn write<E: Encoder>(working: &Self::Working, to: &mut E) -> Result<(), EncodeError> {
        match working {
            None => 0_u8.encode(to),
            Some(value) => {
                1_u8.encode(to)?;
                L::write(value, to)
            }
        }
    }
}

impl<L: Layout> Layout for Box<L> {
    type Working = Box<L::Working>;

    fn read<D: Decoder<Context = u8>>(from: &mut D) -> Result<Self::Working, DecodeError> {
        L::read(from).map(Box::new)
    }
}

impl<L: CurrentLayout> CurrentLayout for Box<L> {
    fn write<E: Encoder>(working: &Self::Working, to: &mut E) -> Result<(), EncodeError> {
        L::write(working, to)
    }
}

impl<L: Layout> Layout for Arc<L> {
    type Working = Arc<L::Working>;

    fn read<D: Decoder<Context = u8>>(from: &mut D) -> Result<Self::Working, DecodeError> {
        L::read(from).map(Arc::new)
    }
}

impl<L: CurrentLayout> CurrentLayout for Arc<L> {
    fn write<E: Encoder>(working: &Self::Working, to: &mut E) -> Result<(), EncodeError> {
        L::write(working, to)
    }
}

impl<A: Layout, B: Layout> Layout for (A, B) {
    type Working = (A::Working, B::Working);

    fn read<D: Decoder<Context = u8>>(from: &mut D) -> Result<Self::Working, DecodeError> {
        Ok((A::read(from)?, B::read(from)?))
    }
}

impl<A: CurrentLayout, B: CurrentLayout> CurrentLayout for (A, B) {
    fn write<E: Encoder>(working: &Self::Working, to: &mut E) -> Result<(), EncodeError> {
        A::write(&working.0, to)?;
        B::write(&working.1, to)
    }
}

impl<L: Layout> Layout for [L; 2] {
    type Working = [L::Working; 2];

    fn read<D: Decoder<Context = u8>>(from: &mut D) -> Result<Self::Working, DecodeError> {
        Ok([L::read(from)?, L::read(from)?])
    }
}

impl<L: CurrentLayout> CurrentLayout for [L; 2] {
    fn write<E: Encoder>(working: &Self::Working, to: &mut E) -> Result<(), EncodeError> {
        working.iter().try_for_each(|value| L::write(value, to))
    }
}

/// The length of what follows. Memory for so many is accounted for before any is taken, as the length of
/// damaged bytes may be anything.
fn length<T, D: Decoder<Context = u8>>(from: &mut D) -> Result<usize, DecodeError> {
    let length = u64::decode(from)?;
    let length = usize::try_from(length).map_err(|_| DecodeError::OutsideUsizeRange(length))?;
    from.claim_container_read::<T>(length)?;
    Ok(length)
}

/// The next of several whose memory is accounted for, and which accounts for its own.
fn next<L: Layout, T, D: Decoder<Context = u8>>(from: &mut D) -> Result<L::Working, DecodeError> {
    from.unclaim_bytes_read(size_of::<T>());
    L::read(from)
}

/// The length, then one after the other.
impl<L: Layout> Layout for Vec<L> {
    type Working = Vec<L::Working>;

    fn read<D: Decoder<Context = u8>>(from: &mut D) -> Result<Self::Working, DecodeError> {
        let length = length::<L::Working, D>(from)?;
        let mut list = Vec::with_capacity(length);
        for _ in 0..length {
            list.push(next::<L, L::Working, D>(from)?);
        }
        Ok(list)
    }
}

impl<L: CurrentLayout> CurrentLayout for Vec<L> {
    fn write<E: Encoder>(working: &Self::Working, to: &mut E) -> Result<(), EncodeError> {
        (working.len() as u64).encode(to)?;
        working.iter().try_for_each(|value| L::write(value, to))
    }
}

/// Collections that are sorted by their keys: the length, then one after the other in that order. Read, they
/// are sorted by the order of the day.
macro_rules! sorted {
    ($map:ident $set:ident $($bound:ident)?) => {
        impl<K: Layout<Working: Ord $(+ $bound)?>, V: Layout<Working: $($bound)?>> Layout for $map<K, V> {
            type Working = $map<K::Working, V::Working>;

            fn read<D: Decoder<Context = u8>>(from: &mut D) -> Result<Self::Working, DecodeError> {
                let length = length::<(K::Working, V::Working), D>(from)?;
                let mut map = $map::new();
                for _ in 0..length {
                    let key = next::<K, (K::Working, V::Working), D>(from)?;
                    map.insert(key, V::read(from)?);
                }
                Ok(map)
            }
        }

        impl<K: CurrentLayout<Working: Ord $(+ $bound)?>, V: CurrentLayout<Working: $($bound)?>> CurrentLayout
            for $map<K, V>
        {
            fn write<E: Encoder>(working: &Self::Working, to: &mut E) -> Result<(), EncodeError> {
                (working.len() as u64).encode(to)?;
                working.iter().try_for_each(|(key, value)| {
                    K::write(key, to)?;
                    V::write(value, to)
                })
            }
        }

        impl<K: Layout<Working: Ord $(+ $bound)?>> Layout for $set<K> {
            type Working = $set<K::Working>;

            fn read<D: Decoder<Context = u8>>(from: &mut D) -> Result<Self::Working, DecodeError> {
                let length = length::<K::Working, D>(from)?;
                let mut set = $set::default();
                for _ in 0..length {
                    set.insert(next::<K, K::Working, D>(from)?);
                }
                Ok(set)
            }
        }

        impl<K: CurrentLayout<Working: Ord $(+ $bound)?>> CurrentLayout for $set<K> {
            fn write<E: Encoder>(working: &Self::Working, to: &mut E) -> Result<(), EncodeError> {
                (working.len() as u64).encode(to)?;
                working.iter().try_for_each(|key| K::write(key, to))
            }
        }
    };
}

sorted! { BTreeMap BTreeSet }
sorted! { SortedMap SortedSet Clone }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stored::goldens::{read, written};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sorted_collections_have_the_same_bytes_whichever_they_are(
            keys in prop::collection::btree_set(any::<u32>(), 0..200),
        ) {
            let map: BTreeMap<u32, u64> = keys.iter().map(|key| (*key, u64::from(*key) * 3)).collect();
            let mut shared = SortedMap::new();
            shared.extend(map.clone());
            let bytes = written::<SortedMap<u32, u64>>(&shared);
            prop_assert_eq!(&bytes, &written::<BTreeMap<u32, u64>>(&map));
            prop_assert_eq!(&read::<SortedMap<u32, u64>>(&bytes), &shared);
            prop_assert_eq!(&read::<BTreeMap<u32, u64>>(&bytes), &map);
            let mut shared = SortedSet::default();
            shared.extend(keys.iter().rev().copied());
            let bytes = written::<SortedSet<u32>>(&shared);
            prop_assert_eq!(&bytes, &written::<BTreeSet<u32>>(&keys));
            prop_assert_eq!(&read::<SortedSet<u32>>(&bytes), &shared);
            prop_assert_eq!(&read::<BTreeSet<u32>>(&bytes), &keys);
        }
    }
}
