//! What is stored, as bytes: a version, then the value. A type says its own bytes where it is defined, by
//! [`stored!`]: a struct is its fields in the order of their numbers, an enum the number of its variant and then its
//! fields. No names, no lengths of structs, no padding (`docs/formats.md`).
//!
//! Numbers are as bincode 2 has them by its standard configuration, with which this format began: up to 250 in a byte,
//! larger ones after a mark that says how many bytes they have, little endian; signed ones are folded (0, -1, 1, -2).

use persistent::{SortedMap, SortedSet};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

#[cfg(test)]
#[path = "../../../tests/golden/stored.rs"]
pub(crate) mod goldens;
#[cfg(test)]
pub(crate) mod tests;

/// The versions of the format that are read, oldest first. The last is written. Those before 5 were never in a
/// release.
pub const READABLE: [u8; 1] = [5];

pub const NEWEST: u8 = READABLE[READABLE.len() - 1];

/// A value with bytes.
pub trait Layout: Sized {
    /// The value whose bytes come next.
    fn read(from: &mut Reader<'_>) -> Result<Self, Undecodable>;

    /// Adds the bytes of the value in the newest version.
    fn write(&self, to: &mut Vec<u8>);
}

/// The reason why bytes are no value of a type.
#[derive(Debug, thiserror::Error)]
pub enum Undecodable {
    /// There is no version in front.
    #[error("no bytes at all")]
    Empty,
    #[error(
        "version {version} of the stored format is not known to pasarela {here}, which reads {}; the release that \
         wrote it can read it, and every later one (docs/formats.md)",
        joined(known),
        here = env!("CARGO_PKG_VERSION")
    )]
    UnknownVersion { version: u8, known: &'static [u8] },
    #[error("the bytes end within a value")]
    TooShort,
    #[error("{0} bytes too many")]
    TooLong(usize),
    /// A number that no variant has.
    #[error("variant {tag} of {of} is not known")]
    NoVariant { of: &'static str, tag: u32 },
    #[error("not what is written: {0}")]
    Wrong(&'static str),
}

fn joined(versions: &[u8]) -> String {
    versions.iter().map(u8::to_string).collect::<Vec<_>>().join(" and ")
}

/// `value` as bytes of the newest version.
pub fn encode(value: &impl Layout) -> Vec<u8> {
    bytes(NEWEST, value)
}

/// Bytes with a version of their own, of what is only ever written and compared.
pub fn bytes(version: u8, value: &impl Layout) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(1024);
    bytes.push(version);
    value.write(&mut bytes);
    bytes
}

/// Whether the bytes of a record are of a version that this program reads.
pub fn is_known(record: &[u8]) -> bool {
    record.first().is_some_and(|version| READABLE.contains(version))
}

/// The value that `bytes` hold, all of them.
pub fn decode<T: Layout>(bytes: &[u8]) -> Result<T, Undecodable> {
    let (&version, rest) = bytes.split_first().ok_or(Undecodable::Empty)?;
    if !READABLE.contains(&version) {
        return Err(Undecodable::UnknownVersion { version, known: &READABLE });
    }
    let mut from = Reader::new(rest, version);
    let value = T::read(&mut from)?;
    if from.left() == 0 { Ok(value) } else { Err(Undecodable::TooLong(from.left())) }
}

/// The bytes that are still to be read, and the version that they are of.
pub struct Reader<'a> {
    rest: &'a [u8],
    pub version: u8,
}

impl<'a> Reader<'a> {
    pub const fn new(rest: &'a [u8], version: u8) -> Reader<'a> {
        Reader { rest, version }
    }

    /// The number of bytes that are not read yet.
    pub const fn left(&self) -> usize {
        self.rest.len()
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Undecodable> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Undecodable::TooShort)?;
        self.rest = rest;
        Ok(taken)
    }

    /// A number of any size. The signed ones are folded into it.
    fn number(&mut self) -> Result<u128, Undecodable> {
        let length = match self.take(1)?[0] {
            small @ 0..=250 => return Ok(small.into()),
            251 => 2,
            252 => 4,
            253 => 8,
            254 => 16,
            255 => return Err(Undecodable::Wrong("a mark of no number")),
        };
        let mut bytes = [0; 16];
        bytes[..length].copy_from_slice(self.take(length)?);
        Ok(u128::from_le_bytes(bytes))
    }

    fn signed(&mut self) -> Result<i128, Undecodable> {
        let folded = self.number()?;
        Ok((folded >> 1) as i128 ^ -((folded & 1) as i128))
    }

    /// The length of what follows. Memory for so many is taken at once, and the length in damaged bytes may be
    /// anything; an element has a byte at least, so there are no more than bytes.
    fn length(&mut self) -> Result<usize, Undecodable> {
        let length = usize::try_from(self.number()?).map_err(|_| Undecodable::TooShort)?;
        if length <= self.rest.len() { Ok(length) } else { Err(Undecodable::TooShort) }
    }

    fn text(&mut self) -> Result<&'a str, Undecodable> {
        let length = self.length()?;
        std::str::from_utf8(self.take(length)?).map_err(|_| Undecodable::Wrong("a text that is not UTF-8"))
    }
}

fn write_number(to: &mut Vec<u8>, number: u64) {
    if number <= 250 {
        to.push(number as u8);
    } else if let Ok(short) = u16::try_from(number) {
        to.push(251);
        to.extend_from_slice(&short.to_le_bytes());
    } else if let Ok(half) = u32::try_from(number) {
        to.push(252);
        to.extend_from_slice(&half.to_le_bytes());
    } else {
        to.push(253);
        to.extend_from_slice(&number.to_le_bytes());
    }
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
/// - `7 name: Type = since 6 else value`: a field that came with version 6 of the format; older bytes have the value.
/// - `1 name: Type => function`: what is read becomes what the function makes of it.
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
            fn read(from: &mut crate::codec::Reader<'_>) -> Result<Self, crate::codec::Undecodable> {
                $(let $field = crate::codec::field!(from, $part $(, since $since else $older)? $(, then $become)?);)+
                Ok($name { $($field),+ })
            }

            fn write(&self, to: &mut Vec<u8>) {
                $(crate::codec::Layout::write(&self.$field, to);)+
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
            fn read(from: &mut crate::codec::Reader<'_>) -> Result<Self, crate::codec::Undecodable> {
                Ok($name(<$part as crate::codec::Layout>::read(from)?))
            }

            fn write(&self, to: &mut Vec<u8>) {
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
            fn read(from: &mut crate::codec::Reader<'_>) -> Result<Self, crate::codec::Undecodable> {
                Ok(match <u32 as crate::codec::Layout>::read(from)? {
                    $($tag => $name::$variant
                        $((crate::codec::field!(from, $first) $(, crate::codec::field!(from, $second))?))?
                        $({ $($field: crate::codec::field!(from, $part)),+ })?,)+
                    tag => return Err(crate::codec::Undecodable::NoVariant { of: stringify!($name), tag }),
                })
            }

            fn write(&self, to: &mut Vec<u8>) {
                match self {
                    $($name::$variant $((crate::codec::bind!(first, $first) $(, crate::codec::bind!(second, $second))?))?
                        $({ $($field),+ })? => {
                        <u32 as crate::codec::Layout>::write(&$tag, to);
                        $(<$first as crate::codec::Layout>::write(first, to);
                            $(<$second as crate::codec::Layout>::write(second, to);)?)?
                        $($(crate::codec::Layout::write($field, to);)+)?
                    })+
                }
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
        if $from.version >= $since { crate::codec::field!($from, $part) } else { $older }
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

pub(crate) use {bind, field, stored};

/// What is written and read in one step each.
macro_rules! plain {
    ($($part:ty: |$from:ident| $read:expr, |$value:ident, $to:ident| $write:expr;)+) => {$(
        impl Layout for $part {
            fn read($from: &mut Reader<'_>) -> Result<$part, Undecodable> {
                Ok($read)
            }

            fn write(&self, $to: &mut Vec<u8>) {
                let $value = self;
                $write;
            }
        }
    )+};
}

macro_rules! unsigned {
    ($($part:ty)+) => { plain! { $(
        $part: |from| <$part>::try_from(from.number()?).map_err(|_| Undecodable::Wrong("a number too large"))?,
            |value, to| write_number(to, u64::from(*value));
    )+ } };
}

macro_rules! signed {
    ($($part:ty)+) => { plain! { $(
        $part: |from| <$part>::try_from(from.signed()?).map_err(|_| Undecodable::Wrong("a number too large"))?,
            |value, to| { let wide = i64::from(*value); write_number(to, (wide << 1 ^ wide >> 63) as u64) };
    )+ } };
}

macro_rules! texts {
    ($($part:ty)+) => { plain! { $(
        $part: |from| <$part>::from(from.text()?), |value, to| {
            write_number(to, value.len() as u64);
            to.extend_from_slice(value.as_bytes());
        };
    )+ } };
}

macro_rules! arrays {
    ($($length:literal)+) => { plain! { $(
        [u8; $length]: |from| from.take($length)?.try_into().map_err(|_| Undecodable::TooShort)?,
            |value, to| to.extend_from_slice(value);
    )+ } };
}

unsigned! { u16 u32 u64 }
signed! { i32 i64 }
texts! { String Box<str> Arc<str> }
arrays! { 11 16 20 32 }

plain! {
    u8: |from| from.take(1)?[0], |value, to| to.push(*value);
    bool: |from| match from.take(1)?[0] {
        0 => false,
        1 => true,
        _ => return Err(Undecodable::Wrong("a truth that is neither")),
    }, |value, to| to.push(u8::from(*value));
    i128: |from| from.signed()?, |value, to| {
        let folded = (value << 1 ^ value >> 127) as u128;
        match u64::try_from(folded) {
            Ok(short) => write_number(to, short),
            Err(_) => {
                to.push(254);
                to.extend_from_slice(&folded.to_le_bytes());
            }
        }
    };
    // A text of the code, such as the name of a member or a message.
    &'static str: |from| known(from.text()?), |value, to| {
        write_number(to, value.len() as u64);
        to.extend_from_slice(value.as_bytes());
    };
}

/// There are as few as the code has, or had when it wrote them; each stays in memory once.
fn known(text: &str) -> &'static str {
    static KNOWN: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.get(text).copied().unwrap_or_else(|| {
        let text: &'static str = Box::leak(Box::from(text));
        known.insert(text);
        text
    })
}

/// A value that may be missing: 0, or 1 and then the value.
impl<T: Layout> Layout for Option<T> {
    fn read(from: &mut Reader<'_>) -> Result<Self, Undecodable> {
        Ok(if bool::read(from)? { Some(T::read(from)?) } else { None })
    }

    fn write(&self, to: &mut Vec<u8>) {
        match self {
            None => to.push(0),
            Some(value) => {
                to.push(1);
                value.write(to);
            }
        }
    }
}

macro_rules! pointers {
    ($($pointer:ident)+) => {$(
        impl<T: Layout> Layout for $pointer<T> {
            fn read(from: &mut Reader<'_>) -> Result<Self, Undecodable> {
                T::read(from).map($pointer::new)
            }

            fn write(&self, to: &mut Vec<u8>) {
                T::write(self, to);
            }
        }
    )+};
}

pointers! { Box Arc }

impl<A: Layout, B: Layout> Layout for (A, B) {
    fn read(from: &mut Reader<'_>) -> Result<Self, Undecodable> {
        Ok((A::read(from)?, B::read(from)?))
    }

    fn write(&self, to: &mut Vec<u8>) {
        self.0.write(to);
        self.1.write(to);
    }
}

impl<T: Layout> Layout for [T; 2] {
    fn read(from: &mut Reader<'_>) -> Result<Self, Undecodable> {
        Ok([T::read(from)?, T::read(from)?])
    }

    fn write(&self, to: &mut Vec<u8>) {
        self[0].write(to);
        self[1].write(to);
    }
}

/// The length, then one after the other.
impl<T: Layout> Layout for Vec<T> {
    fn read(from: &mut Reader<'_>) -> Result<Self, Undecodable> {
        let length = from.length()?;
        let mut list = Vec::with_capacity(length);
        for _ in 0..length {
            list.push(T::read(from)?);
        }
        Ok(list)
    }

    fn write(&self, to: &mut Vec<u8>) {
        write_number(to, self.len() as u64);
        for value in self {
            value.write(to);
        }
    }
}

/// Collections that are sorted by their keys: the length, then one after the other in that order.
macro_rules! sorted {
    ($map:ident $set:ident $($bound:ident)?) => {
        impl<K: Layout + Ord $(+ $bound)?, V: Layout $(+ $bound)?> Layout for $map<K, V> {
            fn read(from: &mut Reader<'_>) -> Result<Self, Undecodable> {
                let mut map = $map::new();
                for _ in 0..from.length()? {
                    map.insert(K::read(from)?, V::read(from)?);
                }
                Ok(map)
            }

            fn write(&self, to: &mut Vec<u8>) {
                write_number(to, self.len() as u64);
                for (key, value) in self {
                    key.write(to);
                    value.write(to);
                }
            }
        }

        impl<K: Layout + Ord $(+ $bound)?> Layout for $set<K> {
            fn read(from: &mut Reader<'_>) -> Result<Self, Undecodable> {
                let mut set = $set::default();
                for _ in 0..from.length()? {
                    set.insert(K::read(from)?);
                }
                Ok(set)
            }

            fn write(&self, to: &mut Vec<u8>) {
                write_number(to, self.len() as u64);
                for key in self.iter() {
                    key.write(to);
                }
            }
        }
    };
}

sorted! { BTreeMap BTreeSet }
sorted! { SortedMap SortedSet Clone }
