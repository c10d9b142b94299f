//! What is stored, as bytes: a version, then the value. A type says its own bytes where it is defined, by
//! [`stored!`]: a struct is its fields in the order of their numbers, an enum the number of its variant and then its
//! fields. No names, no lengths of structs, no padding (`docs/formats.md`).
//!
//! Numbers and texts are written by bincode, behind this one module, so that another encoding can take its place
//! (RUSTSEC-2025-0141: it is no longer maintained).

use bincode::config::{Config, Configuration, standard};
use bincode::decode_from_slice_with_context;
use bincode::enc::Encoder;
use bincode::error::{DecodeError, EncodeError};
pub use bincode::{Decode, Encode};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};

#[cfg(test)]
#[path = "../../../tests/golden/stored.rs"]
pub(crate) mod goldens;
#[cfg(test)]
pub(crate) mod tests;

/// The versions of the format that are read, oldest first; [`WRITTEN`] says which is written. Those before 7 were
/// never in a release.
pub const READABLE: [u8; 2] = [7, 8];

pub const NEWEST: u8 = READABLE[READABLE.len() - 1];

/// The newest but one, which is written for as long as a node of the cluster reads no later one.
pub const BEFORE: u8 = READABLE[READABLE.len() - 2];

/// The version that this process writes: what several machines have agreed on, and on one machine the newest.
pub static WRITTEN: AtomicU8 = AtomicU8::new(NEWEST);

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
    UnknownVersion { version: u8, known: &'static [u8] },
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

/// `value` as bytes of the version that is [`WRITTEN`]. What that cannot say is written as the newest: whoever reads
/// what it came from reads that already.
pub fn encode<T: Encode + Decode<u8>>(value: &T) -> Vec<u8> {
    if WRITTEN.load(Ordering::Relaxed) != NEWEST
        && let Some(bytes) = encode_all_of::<T, { BEFORE as usize }>(value)
    {
        return bytes;
    }
    let mut bytes = Vec::with_capacity(512);
    bytes.push(NEWEST);
    match bincode::encode_into_std_write(value, &mut bytes, CONFIG) {
        Ok(_) => bytes,
        // Writing to memory does not fail, and the newest layout refuses no value.
        Err(error) => unreachable!("a value could not be encoded: {error}"),
    }
}

/// `value` as bytes of the newest version, of what this program alone reads.
pub fn encode_newest<T: Encode>(value: &T) -> Vec<u8> {
    match encode_as::<T, { NEWEST as usize }>(value) {
        Ok(bytes) => bytes,
        Err(error) => unreachable!("a value could not be encoded: {error}"),
    }
}

/// `value` as bytes of the oldest version that says all of it. Releases that know that version write the same, so
/// what they derive can be compared whichever of them is the newer one.
pub fn encode_comparably<T: Encode + Decode<u8>>(value: &T) -> Vec<u8> {
    const { assert!(READABLE.len() == 2, "those between the oldest and the newest are to be tried too") };
    encode_all_of::<T, { READABLE[0] as usize }>(value).unwrap_or_else(|| encode_newest(value))
}

/// Has this process write `version` from here on, or as near to it as it can.
pub fn write(version: u8) {
    WRITTEN.store(version.clamp(BEFORE, NEWEST), Ordering::Relaxed);
}

/// Whether the version before the newest says all of `value`.
pub fn is_sayable_before<T: Encode + Decode<u8>>(value: &T) -> bool {
    encode_all_of::<T, { BEFORE as usize }>(value).is_some()
}

/// `None` if that version does not say all of it.
fn encode_all_of<T: Encode + Decode<u8>, const VERSION: usize>(value: &T) -> Option<Vec<u8>> {
    let bytes = encode_as::<T, VERSION>(value).ok()?;
    let read = decode::<T>(&bytes).ok()?;
    (encode_newest(&read) == encode_newest(value)).then_some(bytes)
}

/// Without the fields that came after `VERSION`; variants that did are refused. An encoder has no context and heeds no
/// limit, so the limit tells it the version.
fn encode_as<T: Encode, const VERSION: usize>(value: &T) -> Result<Vec<u8>, EncodeError> {
    let mut bytes = Vec::with_capacity(512);
    bytes.push(VERSION as u8);
    bincode::encode_into_std_write(value, &mut bytes, CONFIG.with_limit::<VERSION>())?;
    Ok(bytes)
}

/// Whether what came with this version is written.
pub fn writes<E: Encoder>(to: &E, since: usize) -> bool {
    to.config().limit().is_none_or(|version| version >= since)
}

/// The version of the bytes, which this program reads, and what follows it.
pub fn versioned(bytes: &[u8]) -> Result<(u8, &[u8]), Undecodable> {
    match bytes.split_first() {
        None => Err(Undecodable::Empty),
        Some((version, rest)) if READABLE.contains(version) => Ok((*version, rest)),
        Some((version, _)) => Err(Undecodable::UnknownVersion { version: *version, known: &READABLE }),
    }
}

/// The value that `bytes` hold, all of them.
pub fn decode<T: Decode<u8>>(bytes: &[u8]) -> Result<T, Undecodable> {
    let (version, rest) = versioned(bytes)?;
    let (value, read) = within_bounds(rest, version)?;
    if read == rest.len() { Ok(value) } else { Err(Undecodable::TooLong { by: rest.len() - read }) }
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

/// Whether a variant that came with this version may be written.
pub fn must_write<E: Encoder>(to: &E, since: usize) -> Result<(), EncodeError> {
    if writes(to, since) { Ok(()) } else { Err(EncodeError::Other("the variant came later")) }
}

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
/// - `7 name: Type = since 8 else value`: a field that came with version 8 of the format; older bytes have the value.
/// - `1 name: Type => function`: what is read becomes what the function makes of it.
/// - `5 Variant since 8`: a variant that came with version 8. A release that writes no later one than 7 does not know it.
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

        impl $(<$of: bincode::Decode<u8>>)? bincode::Decode<u8> for $name $(<$of>)? {
            fn decode<D: bincode::de::Decoder<Context = u8>>(from: &mut D) -> Result<Self, bincode::error::DecodeError> {
                $(let $field = crate::codec::field!(from $(, since $since else $older)? $(, then $become)?);)+
                Ok($name { $($field),+ })
            }
        }

        impl $(<$of: bincode::Encode>)? bincode::Encode for $name $(<$of>)? {
            fn encode<E: bincode::enc::Encoder>(&self, to: &mut E) -> Result<(), bincode::error::EncodeError> {
                $(crate::codec::written_field!(to, self.$field $(, since $since)?);)+
                Ok(())
            }
        }

        #[cfg(test)]
        crate::codec::tests::sampled! { struct $name $(<$of>)? { $($field: $part),+ } }

        crate::codec::stored! { $($rest)* }
    };

    ($(#[$about:meta])* $vis:vis struct $name:ident($see:vis $part:ty); $($rest:tt)*) => {
        $(#[$about])*
        $vis struct $name($see $part);

        crate::codec::stored_as! { $name as $part: |it| it.0, |part| Ok($name(part)) }

        #[cfg(test)]
        crate::codec::tests::sampled! { struct $name($part); }

        crate::codec::stored! { $($rest)* }
    };

    ($(#[$about:meta])* $vis:vis enum $name:ident {
        $($(#[$on:meta])* $tag:literal $variant:ident $(= $value:literal)? $text:literal $(since $since:literal)?),+
        $(,)?
    } $($rest:tt)*) => {
        $crate::named! { @names $name $($variant $text)+ }
        crate::codec::stored! {
            $(#[$about])* $vis enum $name { $($(#[$on])* $tag $variant $(= $value)? $(since $since)?),+ }
            $($rest)*
        }
    };

    ($(#[$about:meta])* $vis:vis enum $name:ident {
        $($(#[$on:meta])* $tag:literal $variant:ident $(= $value:literal)? $(($first:ty $(, $second:ty)?))?
            $({ $($(#[$of:meta])* $n:literal $field:ident: $part:ty $(=> $become:expr)?),+ $(,)? })?
            $(since $since:literal)?),+ $(,)?
    } $($rest:tt)*) => {
        $(#[$about])*
        $vis enum $name {
            $($(#[$on])* $variant $(($first $(, $second)?))? $({ $($(#[$of])* $field: $part),+ })? $(= $value)?),+
        }

        const _: () = {
            crate::codec::assert_dense(&[$($tag),+]);
            $($(crate::codec::assert_dense(&[$($n),+]);)?)+
        };

        impl bincode::Decode<u8> for $name {
            fn decode<D: bincode::de::Decoder<Context = u8>>(from: &mut D) -> Result<Self, bincode::error::DecodeError> {
                Ok(match <u32 as bincode::Decode<u8>>::decode(from)? {
                    $($tag => $name::$variant
                        $((<$first as bincode::Decode<u8>>::decode(from)?
                            $(, <$second as bincode::Decode<u8>>::decode(from)?)?))?
                        $({ $($field: crate::codec::field!(from $(, then $become)?)),+ })?,)+
                    tag => return Err(crate::codec::no_variant(stringify!($name), tag)),
                })
            }
        }

        impl bincode::Encode for $name {
            fn encode<E: bincode::enc::Encoder>(&self, to: &mut E) -> Result<(), bincode::error::EncodeError> {
                match self {
                    $($name::$variant $((crate::codec::bind!(first, $first) $(, crate::codec::bind!(second, $second))?))?
                        $({ $($field),+ })? => {
                        $(crate::codec::must_write(to, $since)?;)?
                        <u32 as bincode::Encode>::encode(&$tag, to)?;
                        $(<$first as bincode::Encode>::encode(first, to)?;
                            $(<$second as bincode::Encode>::encode(second, to)?;)?)?
                        $($(bincode::Encode::encode($field, to)?;)+)?
                    })+
                }
                Ok(())
            }
        }

        #[cfg(test)]
        crate::codec::tests::sampled! {
            enum $name { $($tag $variant $(($first $(, $second)?))? $({ $($field: $part),+ })?),+ }
        }

        crate::codec::stored! { $($rest)* }
    };
}

/// What a field is read as.
macro_rules! field {
    ($from:ident) => {
        bincode::Decode::<u8>::decode($from)?
    };
    ($from:ident, since $since:literal else $older:expr) => {
        if *$from.context() >= $since { bincode::Decode::<u8>::decode($from)? } else { $older }
    };
    ($from:ident, then $become:expr) => {
        $become(bincode::Decode::<u8>::decode($from)?)
    };
}

/// A field as bytes, unless a version is written that does not have it.
macro_rules! written_field {
    ($to:ident, $field:expr) => {
        bincode::Encode::encode(&$field, $to)?
    };
    ($to:ident, $field:expr, since $since:literal) => {
        if crate::codec::writes($to, $since) {
            bincode::Encode::encode(&$field, $to)?
        }
    };
}

/// A type that is stored as another: what of it is written, and what is made of what is read.
macro_rules! stored_as {
    ($name:ident as $part:ty: |$it:ident| $write:expr, |$read:ident| $make:expr) => {
        impl bincode::Decode<u8> for $name {
            fn decode<D: bincode::de::Decoder<Context = u8>>(
                from: &mut D,
            ) -> Result<Self, bincode::error::DecodeError> {
                let $read = <$part as bincode::Decode<u8>>::decode(from)?;
                $make
            }
        }

        impl bincode::Encode for $name {
            fn encode<E: bincode::enc::Encoder>(
                &self,
                to: &mut E,
            ) -> Result<(), bincode::error::EncodeError> {
                let $it = self;
                bincode::Encode::encode(&$write, to)
            }
        }
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

pub(crate) use {bind, field, named, stored, stored_as, written_field};

/// A text of the code, such as the name of a member or a message. As few as the code has, or had when it wrote
/// them; each stays in memory once.
pub(crate) fn known(text: String) -> &'static str {
    static KNOWN: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.get(text.as_str()).copied().unwrap_or_else(|| {
        let text: &'static str = Box::leak(text.into_boxed_str());
        known.insert(text);
        text
    })
}
