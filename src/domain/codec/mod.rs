//! What is stored, as bytes: a version, then the value. A type says its own bytes where it is defined, by
//! [`stored!`]: a struct is its fields in the order of their numbers, an enum the number of its variant and then its
//! fields. No names, no lengths of structs, no padding (`docs/formats.md`).
//!
//! Numbers and texts are written by bincode, behind this one module, so that another encoding can take its place
//! (RUSTSEC-2025-0141: it is no longer maintained).

use bincode::config::{Configuration, standard};
use bincode::de::Decoder;
use bincode::enc::Encoder;
use bincode::error::{DecodeError, EncodeError};
use bincode::{Decode, Encode, decode_from_slice_with_context};
use persistent::{SortedMap, SortedSet};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

#[cfg(test)]
#[path = "../../../tests/golden/stored.rs"]
pub(crate) mod goldens;
#[cfg(test)]
pub(crate) mod tests;

/// The versions of the format that are read, oldest first. The last is written. Those before 6 were never in a
/// release.
pub const READABLE: [u8; 1] = [6];

pub const NEWEST: u8 = READABLE[READABLE.len() - 1];

/// A value with bytes.
pub trait Layout: Sized {
    /// The value whose bytes come next. The version that they are of is the decoder's context.
    fn read<D: Decoder<Context = u8>>(from: &mut D) -> Result<Self, DecodeError>;

    /// Adds the bytes of the value in the newest version.
    fn write<E: Encoder>(&self, to: &mut E) -> Result<(), EncodeError>;
}

const CONFIG: Configuration = standard();

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
const GIB: usize = 1 << 30;

fn who_reads(version: u8) -> &'static str {
    match version < READABLE[0] {
        true => "a build that was never released wrote it, and no release reads it",
        false => "the release that wrote it can read it, and every later one",
    }
}

/// The reason why bytes are no value of a type.
#[derive(Debug, thiserror::Error)]
pub enum Undecodable {
    /// There is no version in front.
    #[error("no bytes at all")]
    Empty,
    /// The bytes are of a version that this release does not read.
    #[error(
        "version {version} of the stored format is not known to pasarela {here}, which reads {}; {} (docs/formats.md)",
        joined(known),
        who_reads(*version),
        here = env!("CARGO_PKG_VERSION")
    )]
    UnknownVersion {
        /// The version in front of the bytes.
        version: u8,
        known: &'static [u8],
    },
    /// The bytes do not follow the layout.
    #[error(transparent)]
    Layout(#[from] DecodeError),
    #[error("{by} bytes too many")]
    TooLong {
        /// The number of bytes that follow.
        by: usize,
    },
}

fn joined(versions: &[u8]) -> String {
    versions.iter().map(u8::to_string).collect::<Vec<_>>().join(" and ")
}

/// `value` as bytes of the newest version.
pub fn encode<T: Layout>(value: &T) -> Vec<u8> {
    bytes(NEWEST, value)
}

/// Bytes with a version of their own, of what is only ever written and compared.
pub fn bytes(version: u8, value: &impl Layout) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(512);
    bytes.push(version);
    match bincode::encode_into_std_write(Written(value), &mut bytes, CONFIG) {
        Ok(_) => bytes,
        // Writing to memory does not fail, and no layout refuses a value.
        Err(error) => unreachable!("a value could not be encoded: {error}"),
    }
}

/// Whether the bytes of a record are of a version that this program reads.
pub fn is_known(record: &[u8]) -> bool {
    record.first().is_some_and(|version| READABLE.contains(version))
}

/// The value that `bytes` hold, all of them.
pub fn decode<T: Layout>(bytes: &[u8]) -> Result<T, Undecodable> {
    let (version, rest) = bytes.split_first().ok_or(Undecodable::Empty)?;
    if !READABLE.contains(version) {
        return Err(Undecodable::UnknownVersion { version: *version, known: &READABLE });
    }
    let (Read(value), read) = within_bounds::<Read<T>>(rest, *version)?;
    if read == rest.len() { Ok(value) } else { Err(Undecodable::TooLong { by: rest.len() - read }) }
}

struct Written<'a, T>(&'a T);

impl<T: Layout> Encode for Written<'_, T> {
    fn encode<E: Encoder>(&self, to: &mut E) -> Result<(), EncodeError> {
        self.0.write(to)
    }
}

struct Read<T>(T);

impl<T: Layout> Decode<u8> for Read<T> {
    fn decode<D: Decoder<Context = u8>>(from: &mut D) -> Result<Read<T>, DecodeError> {
        T::read(from).map(Read)
    }
}

/// Decodes within a memory limit. Memory for a list is taken by the length written before it, which
/// in damaged bytes may be anything, and running out of memory ends the process. So a value may
/// take 256 times its bytes, more than any type here can (an element of a list has a byte at
/// least). Bytes larger than any record are a book's state, which the checksums of its pieces
/// protect.
fn within_bounds<T: Decode<u8>>(bytes: &[u8], version: u8) -> Result<(T, usize), DecodeError> {
    if bytes.len() <= 64 * KIB {
        decode_from_slice_with_context(bytes, CONFIG.with_limit::<{ 16 * MIB }>(), version)
    } else if bytes.len() <= MIB {
        decode_from_slice_with_context(bytes, CONFIG.with_limit::<{ 256 * MIB }>(), version)
    } else if bytes.len() <= 16 * MIB {
        decode_from_slice_with_context(bytes, CONFIG.with_limit::<{ 4 * GIB }>(), version)
    } else {
        decode_from_slice_with_context(bytes, CONFIG, version)
    }
}

/// The error for a number that no variant has.
#[cold]
pub fn no_variant(of: &str, tag: u32) -> DecodeError {
    DecodeError::OtherString(format!("variant {tag} of {of} is not known"))
}

/// Numbers of fields and variants count up from 0: one that is used twice or left out does not compile.
pub const fn assert_dense(numbers: &[u32]) {
    let mut at = 0;
    while at < numbers.len() {
        assert!(
            numbers[at] == at as u32,
            "the numbers of fields and variants count up from 0, none left out"
        );
        at += 1;
    }
}

/// Types that are stored, with the numbers of their fields and variants, by which they stand in the bytes.
///
/// - `7 name: Type = since 7 else value`: a field that came with version 7 of the format; older bytes have the value.
/// - `1 name: Type => function`: what is read becomes what the function makes of it.
/// - `2 Variant "name"`, of every variant of an enum: it is [`named!`] too.
macro_rules! stored {
    () => {};

    ($(#[$about:meta])* $vis:vis struct $name:ident $(<$of:ident>)? {
        $($(#[$on:meta])* $n:literal $see:vis $field:ident: $part:ty
            $(= since $since:literal else $older:expr)? $(=> $become:expr)?),+ $(,)?
    } $($rest:tt)*) => {
        $(#[$about])*
        $vis struct $name $(<$of>)? { $($(#[$on])* $see $field: $part),+ }

        const _: () = crate::codec::assert_dense(&[$($n),+]);

        impl $(<$of: crate::codec::Layout>)? crate::codec::Layout for $name $(<$of>)? {
            fn read<D: bincode::de::Decoder<Context = u8>>(from: &mut D) -> Result<Self, bincode::error::DecodeError> {
                $(let $field = crate::codec::field!(from, $part $(, since $since else $older)? $(, then $become)?);)+
                Ok($name { $($field),+ })
            }

            fn write<E: bincode::enc::Encoder>(&self, to: &mut E) -> Result<(), bincode::error::EncodeError> {
                $(crate::codec::Layout::write(&self.$field, to)?;)+
                Ok(())
            }
        }

        #[cfg(test)]
        impl $(<$of: crate::codec::tests::Sampled>)? crate::codec::tests::Sampled for $name $(<$of>)? {
            fn sample(full: bool, number: &mut u64) -> Self {
                $(let $field = <$part as crate::codec::tests::Sampled>::sample(full, number);)+
                $name { $($field),+ }
            }
        }

        crate::codec::stored! { $($rest)* }
    };

    ($(#[$about:meta])* $vis:vis struct $name:ident($see:vis $part:ty); $($rest:tt)*) => {
        $(#[$about])*
        $vis struct $name($see $part);

        impl crate::codec::Layout for $name {
            fn read<D: bincode::de::Decoder<Context = u8>>(from: &mut D) -> Result<Self, bincode::error::DecodeError> {
                Ok($name(<$part as crate::codec::Layout>::read(from)?))
            }

            fn write<E: bincode::enc::Encoder>(&self, to: &mut E) -> Result<(), bincode::error::EncodeError> {
                crate::codec::Layout::write(&self.0, to)
            }
        }

        #[cfg(test)]
        impl crate::codec::tests::Sampled for $name {
            fn sample(full: bool, number: &mut u64) -> Self {
                $name(<$part as crate::codec::tests::Sampled>::sample(full, number))
            }
        }

        crate::codec::stored! { $($rest)* }
    };

    ($(#[$about:meta])* $vis:vis enum $name:ident {
        $($(#[$on:meta])* $tag:literal $variant:ident $(= $value:literal)? $text:literal),+ $(,)?
    } $($rest:tt)*) => {
        $crate::named! { @names $name $($variant $text)+ }
        crate::codec::stored! {
            $(#[$about])* $vis enum $name { $($(#[$on])* $tag $variant $(= $value)?),+ }
            $($rest)*
        }
    };

    ($(#[$about:meta])* $vis:vis enum $name:ident {
        $($(#[$on:meta])* $tag:literal $variant:ident $(= $value:literal)? $(($first:ty $(, $second:ty)?))?
            $({ $($(#[$of:meta])* $n:literal $field:ident: $part:ty),+ $(,)? })?),+ $(,)?
    } $($rest:tt)*) => {
        $(#[$about])*
        $vis enum $name {
            $($(#[$on])* $variant $(($first $(, $second)?))? $({ $($(#[$of])* $field: $part),+ })? $(= $value)?),+
        }

        const _: () = {
            crate::codec::assert_dense(&[$($tag),+]);
            $($(crate::codec::assert_dense(&[$($n),+]);)?)+
        };

        impl crate::codec::Layout for $name {
            fn read<D: bincode::de::Decoder<Context = u8>>(from: &mut D) -> Result<Self, bincode::error::DecodeError> {
                Ok(match <u32 as crate::codec::Layout>::read(from)? {
                    $($tag => $name::$variant
                        $((crate::codec::field!(from, $first) $(, crate::codec::field!(from, $second))?))?
                        $({ $($field: crate::codec::field!(from, $part)),+ })?,)+
                    tag => return Err(crate::codec::no_variant(stringify!($name), tag)),
                })
            }

            fn write<E: bincode::enc::Encoder>(&self, to: &mut E) -> Result<(), bincode::error::EncodeError> {
                match self {
                    $($name::$variant $((crate::codec::bind!(first, $first) $(, crate::codec::bind!(second, $second))?))?
                        $({ $($field),+ })? => {
                        <u32 as crate::codec::Layout>::write(&$tag, to)?;
                        $(<$first as crate::codec::Layout>::write(first, to)?;
                            $(<$second as crate::codec::Layout>::write(second, to)?;)?)?
                        $($(crate::codec::Layout::write($field, to)?;)+)?
                    })+
                }
                Ok(())
            }
        }

        #[cfg(test)]
        impl crate::codec::tests::Sampled for $name {
            /// The first variant, or the second: which these are does not change when others come.
            fn sample(full: bool, number: &mut u64) -> Self {
                let tags = [$($tag),+];
                let wanted = tags[usize::from(full && tags.len() > 1)];
                let _ = &number;
                $(if wanted == $tag {
                    return $name::$variant
                        $((<$first as crate::codec::tests::Sampled>::sample(full, number)
                            $(, <$second as crate::codec::tests::Sampled>::sample(full, number))?))?
                        $({ $($field: <$part as crate::codec::tests::Sampled>::sample(full, number)),+ })?;
                })+
                unreachable!("one of them is wanted")
            }

            /// Every variant, and those with fields twice.
            fn samples(number: &mut u64) -> Vec<Self> {
                let mut all = Vec::new();
                let _ = &number;
                $(
                    let fields: &[&str] = &[$(stringify!($first),)? $($(stringify!($field)),+)?];
                    for full in [false, true].into_iter().take(1 + fields.len().min(1)) {
                        let _ = full;
                        all.push($name::$variant
                            $((<$first as crate::codec::tests::Sampled>::sample(full, number)
                                $(, <$second as crate::codec::tests::Sampled>::sample(full, number))?))?
                            $({ $($field: <$part as crate::codec::tests::Sampled>::sample(full, number)),+ })?);
                    }
                )+
                all
            }
        }

        crate::codec::stored! { $($rest)* }
    };
}

/// What a field is read as.
macro_rules! field {
    ($from:ident, $part:ty) => {
        <$part as crate::codec::Layout>::read($from)?
    };
    ($from:ident, $part:ty, since $since:literal else $older:expr) => {
        if *$from.context() >= $since { crate::codec::field!($from, $part) } else { $older }
    };
    ($from:ident, $part:ty, then $become:expr) => {
        $become(crate::codec::field!($from, $part))
    };
}

/// A name for the field of a tuple.
macro_rules! bind {
    ($name:ident, $part:ty) => {
        $name
    };
}

/// An enum whose variants have names: with all of them, and which has a name.
#[macro_export]
macro_rules! named {
    (@names $name:ident $($variant:ident $text:literal)+) => {
        impl $name {
            pub const ALL: [$name; [$($text),+].len()] = [$($name::$variant),+];
            pub const NAMES: [(&'static str, $name); $name::ALL.len()] = [$(($text, $name::$variant)),+];

            pub const fn name(self) -> &'static str {
                match self {
                    $($name::$variant => $text),+
                }
            }

            pub fn from_name(name: &str) -> Option<$name> {
                match name {
                    $($text => Some($name::$variant),)+
                    _ => None,
                }
            }
        }
    };

    ($(#[$about:meta])* $vis:vis enum $name:ident {
        $($(#[$on:meta])* $variant:ident $(= $value:literal)? $text:literal),+ $(,)?
    }) => {
        $(#[$about])*
        $vis enum $name { $($(#[$on])* $variant $(= $value)?),+ }

        $crate::named! { @names $name $($variant $text)+ }
    };
}

pub(crate) use {bind, field, named, stored};

/// Parts that stand in the bytes as bincode has them: whole numbers of more than a byte by their size, signed ones
/// folded, texts after their length, arrays of bytes as they are.
macro_rules! plain {
    ($($part:ty)+) => {$(
        impl Layout for $part {
            fn read<D: Decoder<Context = u8>>(from: &mut D) -> Result<$part, DecodeError> {
                Decode::decode(from)
            }

            fn write<E: Encoder>(&self, to: &mut E) -> Result<(), EncodeError> {
                self.encode(to)
            }
        }
    )+};
}

plain! { bool u8 u16 u32 u64 i32 i64 i128 String Box<str> Arc<str> [u8; 11] [u8; 16] [u8; 20] [u8; 32] }

/// A text of the code, such as the name of a member or a message.
impl Layout for &'static str {
    fn read<D: Decoder<Context = u8>>(from: &mut D) -> Result<&'static str, DecodeError> {
        // As few as the code has, or had when it wrote them; each stays in memory once.
        static KNOWN: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
        let text = String::decode(from)?;
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(known.get(text.as_str()).copied().unwrap_or_else(|| {
            let text: &'static str = Box::leak(text.into_boxed_str());
            known.insert(text);
            text
        }))
    }

    fn write<E: Encoder>(&self, to: &mut E) -> Result<(), EncodeError> {
        self.encode(to)
    }
}

/// A value that may be missing: 0, or 1 and then the value.
impl<T: Layout> Layout for Option<T> {
    fn read<D: Decoder<Context = u8>>(from: &mut D) -> Result<Self, DecodeError> {
        Option::<()>::decode(from)?.map(|()| T::read(from)).transpose()
    }

    fn write<E: Encoder>(&self, to: &mut E) -> Result<(), EncodeError> {
        u8::from(self.is_some()).encode(to)?;
        self.as_ref().map_or(Ok(()), |value| value.write(to))
    }
}

macro_rules! pointers {
    ($($pointer:ident)+) => {$(
        impl<T: Layout> Layout for $pointer<T> {
            fn read<D: Decoder<Context = u8>>(from: &mut D) -> Result<Self, DecodeError> {
                T::read(from).map($pointer::new)
            }

            fn write<E: Encoder>(&self, to: &mut E) -> Result<(), EncodeError> {
                T::write(self, to)
            }
        }
    )+};
}

pointers! { Box Arc }

/// The one, then the other.
impl<A: Layout, B: Layout> Layout for (A, B) {
    fn read<D: Decoder<Context = u8>>(from: &mut D) -> Result<Self, DecodeError> {
        Ok((A::read(from)?, B::read(from)?))
    }

    fn write<E: Encoder>(&self, to: &mut E) -> Result<(), EncodeError> {
        self.0.write(to)?;
        self.1.write(to)
    }
}

impl<T: Layout> Layout for [T; 2] {
    fn read<D: Decoder<Context = u8>>(from: &mut D) -> Result<Self, DecodeError> {
        Ok([T::read(from)?, T::read(from)?])
    }

    fn write<E: Encoder>(&self, to: &mut E) -> Result<(), EncodeError> {
        self.iter().try_for_each(|value| value.write(to))
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

/// The next of several `T` whose memory is accounted for; what is read accounts for its own.
fn next<T, L: Layout, D: Decoder<Context = u8>>(from: &mut D) -> Result<L, DecodeError> {
    from.unclaim_bytes_read(size_of::<T>());
    L::read(from)
}

/// The length, then one after the other.
impl<T: Layout> Layout for Vec<T> {
    fn read<D: Decoder<Context = u8>>(from: &mut D) -> Result<Self, DecodeError> {
        let length = length::<T, D>(from)?;
        let mut list = Vec::with_capacity(length);
        for _ in 0..length {
            list.push(next::<T, T, D>(from)?);
        }
        Ok(list)
    }

    fn write<E: Encoder>(&self, to: &mut E) -> Result<(), EncodeError> {
        (self.len() as u64).encode(to)?;
        self.iter().try_for_each(|value| value.write(to))
    }
}

/// Collections that are sorted by their keys: the length, then one after the other in that order.
macro_rules! sorted {
    ($map:ident $set:ident $($bound:ident)?) => {
        impl<K: Layout + Ord $(+ $bound)?, V: Layout $(+ $bound)?> Layout for $map<K, V> {
            fn read<D: Decoder<Context = u8>>(from: &mut D) -> Result<Self, DecodeError> {
                let length = length::<(K, V), D>(from)?;
                let mut map = $map::new();
                for _ in 0..length {
                    let key = next::<(K, V), K, D>(from)?;
                    map.insert(key, V::read(from)?);
                }
                Ok(map)
            }

            fn write<E: Encoder>(&self, to: &mut E) -> Result<(), EncodeError> {
                (self.len() as u64).encode(to)?;
                self.iter().try_for_each(|(key, value)| {
                    key.write(to)?;
                    value.write(to)
                })
            }
        }

        impl<K: Layout + Ord $(+ $bound)?> Layout for $set<K> {
            fn read<D: Decoder<Context = u8>>(from: &mut D) -> Result<Self, DecodeError> {
                let length = length::<K, D>(from)?;
                let mut set = $set::default();
                for _ in 0..length {
                    set.insert(next::<K, K, D>(from)?);
                }
                Ok(set)
            }

            fn write<E: Encoder>(&self, to: &mut E) -> Result<(), EncodeError> {
                (self.len() as u64).encode(to)?;
                self.iter().try_for_each(|key| key.write(to))
            }
        }
    };
}

sorted! { BTreeMap BTreeSet }
sorted! { SortedMap SortedSet Clone }
