//! Values of every layout, for the goldens: with as little as can be and with as much, each number and
//! text in them another one, so that no two parts can change places unseen.

use super::goldens::{read, written};
use super::*;
use persistent::{SortedMap, SortedSet};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub trait Sampled: Sized {
    /// A value with every part that may be missing, or with none of them.
    fn sample(full: bool, number: &mut u64) -> Self;

    /// Values of every kind that there is.
    fn samples(number: &mut u64) -> Vec<Self> {
        vec![Self::sample(false, number), Self::sample(true, number)]
    }
}

/// Values of a type of [`stored!`].
macro_rules! sampled {
    (struct $name:ident $(<$of:ident>)? { $($field:ident: $part:ty),+ }) => {
        impl $(<$of: crate::codec::tests::Sampled>)? crate::codec::tests::Sampled for $name $(<$of>)? {
            fn sample(full: bool, number: &mut u64) -> Self {
                $(let $field = <$part as crate::codec::tests::Sampled>::sample(full, number);)+
                $name { $($field),+ }
            }
        }
    };

    (struct $name:ident($part:ty);) => {
        impl crate::codec::tests::Sampled for $name {
            fn sample(full: bool, number: &mut u64) -> Self {
                $name(<$part as crate::codec::tests::Sampled>::sample(full, number))
            }
        }
    };

    (enum $name:ident {
        $($tag:literal $variant:ident $(($first:ty $(, $second:ty)?))? $({ $($field:ident: $part:ty),+ })?),+
    }) => {
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
    };
}

pub(crate) use sampled;

fn next(number: &mut u64) -> u64 {
    *number += 1;
    *number
}

/// Numbers that need one byte, or as many as fit.
macro_rules! numbers {
    ($($part:ty)+) => {$(
        impl Sampled for $part {
            fn sample(full: bool, number: &mut u64) -> $part {
                let number = <$part>::try_from(next(number) % 100).unwrap_or_default();
                if full { <$part>::MAX - number } else { number }
            }
        }
    )+};
}

numbers! { u8 u16 u32 u64 i32 i64 i128 }

impl Sampled for bool {
    fn sample(full: bool, _: &mut u64) -> bool {
        full
    }
}

macro_rules! texts {
    ($($part:ty)+) => {$(
        impl Sampled for $part {
            fn sample(full: bool, number: &mut u64) -> $part {
                let number = next(number);
                <$part>::from(if full { format!("ñ {number}") } else { String::new() })
            }
        }
    )+};
}

texts! { String Box<str> Arc<str> }

macro_rules! arrays {
    ($($length:literal)+) => {$(
        impl Sampled for [u8; $length] {
            fn sample(_: bool, number: &mut u64) -> [u8; $length] {
                let first = u8::try_from(next(number) % 200).unwrap_or_default();
                std::array::from_fn(|at| first + at as u8)
            }
        }
    )+};
}

arrays! { 11 16 20 32 }

impl Sampled for &'static str {
    fn sample(full: bool, _: &mut u64) -> &'static str {
        if full { "monto" } else { "" }
    }
}

impl<L: Sampled> Sampled for Option<L> {
    fn sample(full: bool, number: &mut u64) -> Self {
        full.then(|| L::sample(full, number))
    }
}

/// A value in a box may have the type of what the box is in, so it gets no optional parts: there
/// the recursion ends.
impl<L: Sampled> Sampled for Box<L> {
    fn sample(_: bool, number: &mut u64) -> Self {
        Box::new(L::sample(false, number))
    }
}

impl<L: Sampled> Sampled for Arc<L> {
    fn sample(full: bool, number: &mut u64) -> Self {
        Arc::new(L::sample(full, number))
    }
}

impl<A: Sampled, B: Sampled> Sampled for (A, B) {
    fn sample(full: bool, number: &mut u64) -> Self {
        (A::sample(full, number), B::sample(full, number))
    }
}

impl<L: Sampled> Sampled for [L; 2] {
    fn sample(full: bool, number: &mut u64) -> Self {
        [L::sample(full, number), L::sample(full, number)]
    }
}

/// None, or one with little and one with much.
fn two<L: Sampled>(full: bool, number: &mut u64) -> Vec<L> {
    if full { vec![L::sample(false, number), L::sample(true, number)] } else { Vec::new() }
}

impl<L: Sampled> Sampled for Vec<L> {
    fn sample(full: bool, number: &mut u64) -> Self {
        two::<L>(full, number)
    }
}

macro_rules! sorted {
    ($map:ident $set:ident $($bound:ident)?) => {
        impl<K: Sampled + Ord $(+ $bound)?, V: Sampled $(+ $bound)?> Sampled for $map<K, V> {
            fn sample(full: bool, number: &mut u64) -> Self {
                let mut map = $map::new();
                for (key, value) in two::<(K, V)>(full, number) {
                    map.insert(key, value);
                }
                map
            }
        }

        impl<K: Sampled + Ord $(+ $bound)?> Sampled for $set<K> {
            fn sample(full: bool, number: &mut u64) -> Self {
                let mut set = $set::default();
                for key in two::<K>(full, number) {
                    set.insert(key);
                }
                set
            }
        }
    };
}

sorted! { BTreeMap BTreeSet }
sorted! { SortedMap SortedSet Clone }

/// The length of a list as it stands in the bytes: a mark, then eight bytes.
fn list_of(length: u64) -> Vec<u8> {
    [&[NEWEST, 253][..], &length.to_le_bytes(), b"x"].concat()
}

#[test]
fn a_field_that_came_later_has_its_value_in_older_bytes() {
    stored! {
        #[derive(Debug, PartialEq)]
        struct Widened {
            0 id: u32,
            1 limit: u32 = since 6 else 40,
            2 name: String,
        }
    }
    let now = Widened { id: 1, limit: 9, name: "n".to_owned() };
    let newest = &encode(&now)[1..];
    let (same, _) = within_bounds::<Widened>(newest, 6).expect("bytes of now");
    assert_eq!(same, now);
    let older = [newest[..1].to_vec(), newest[2..].to_vec()].concat();
    let (then, read) = within_bounds::<Widened>(&older, 5).expect("bytes of before");
    assert_eq!((then, read), (Widened { limit: 40, ..now }, older.len()));
    assert!(within_bounds::<Widened>(&older, 6).is_err(), "they are not read as today's");
}

#[test]
fn what_an_older_version_can_say_has_the_bytes_of_that_version() {
    stored! {
        #[derive(Debug, PartialEq)]
        struct Widened {
            0 id: u32,
            1 limit: u32 = since 8 else 40,
        }
    }
    assert_eq!(encode_comparably(&Widened { id: 1, limit: 40 }), [7, 1]);
    assert_eq!(encode_comparably(&vec![Widened { id: 1, limit: 40 }]), [7, 1, 1]);
    let only_now = Widened { id: 1, limit: 9 };
    assert_eq!(encode_comparably(&only_now), encode(&only_now));
}

#[test]
fn what_came_later_is_not_written_in_the_version_before() {
    stored! {
        #[derive(Debug, PartialEq)]
        enum Grown {
            0 Old,
            1 New(u32) since 8,
            2 Wide { 0 name: String } since 8,
        }
    }
    assert_eq!(encode_as::<Grown, 7>(&Grown::Old).ok(), Some(vec![7, 0]));
    for later in [Grown::New(1), Grown::Wide { name: "n".to_owned() }] {
        assert!(!is_sayable_before(&later) && !is_sayable_before(&vec![Grown::Old, later]));
    }
    assert!(is_sayable_before(&vec![Grown::Old]));
    assert_eq!(encode_comparably(&Grown::New(3)), [8, 1, 3]);
}

#[test]
fn a_length_that_nothing_can_have_is_refused() {
    for length in [1 << 25, 1 << 40, 1 << 62, u64::MAX] {
        let bytes = list_of(length);
        assert!(decode::<String>(&bytes).is_err(), "{length} bytes of text");
        assert!(decode::<Vec<u64>>(&bytes).is_err(), "{length} numbers");
    }
}

#[test]
fn values_of_every_size_come_back() {
    for size in [0, 1, 60 * KIB, 70 * KIB, 2 * MIB, 17 * MIB] {
        let text = "x".repeat(size);
        assert_eq!(decode::<String>(&encode(&text)).ok(), Some(text), "{size}");
    }
    // The most that bytes grow by: empty texts, of a byte each.
    let texts = vec![String::new(); 60 * KIB];
    assert_eq!(decode::<Vec<String>>(&encode(&texts)).ok(), Some(texts));
}

proptest! {
    #[test]
    fn sorted_collections_have_the_same_bytes_whichever_they_are(
        keys in prop::collection::btree_set(any::<u32>(), 0..200),
    ) {
        let map: BTreeMap<u32, u64> = keys.iter().map(|key| (*key, u64::from(*key) * 3)).collect();
        let mut shared = SortedMap::new();
        map.iter().for_each(|(key, value)| shared.insert(*key, *value));
        let bytes = written(&shared);
        prop_assert_eq!(&bytes, &written(&map));
        prop_assert_eq!(&read::<SortedMap<u32, u64>>(&bytes), &shared);
        prop_assert_eq!(&read::<BTreeMap<u32, u64>>(&bytes), &map);
        let mut shared = SortedSet::default();
        shared.extend(keys.iter().rev().copied());
        let bytes = written(&shared);
        prop_assert_eq!(&bytes, &written(&keys));
        prop_assert_eq!(&read::<SortedSet<u32>>(&bytes), &shared);
        prop_assert_eq!(&read::<BTreeSet<u32>>(&bytes), &keys);
    }
}
