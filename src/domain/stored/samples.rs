//! Values of every layout, for the goldens: with as little as can be and with as much, each number and
//! text in them another one, so that no two parts can change places unseen.

use crate::stored::layout::Layout;
use crate::stored::parts::Bytes;
use persistent::{SortedMap, SortedSet};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub trait Sampled: Layout {
    /// A value with every part that may be missing, or with none of them.
    fn sample(full: bool, number: &mut u64) -> Self::Working;

    /// Values of every kind that there is.
    fn samples(number: &mut u64) -> Vec<Self::Working> {
        vec![Self::sample(false, number), Self::sample(true, number)]
    }
}

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

impl Sampled for Bytes {
    fn sample(full: bool, number: &mut u64) -> Vec<u8> {
        if full { <[u8; 11]>::sample(full, number).to_vec() } else { Vec::new() }
    }
}

impl<L: Sampled> Sampled for Option<L> {
    fn sample(full: bool, number: &mut u64) -> Self::Working {
        full.then(|| L::sample(full, number))
    }
}

/// A value in a box may have the type of what the box is in, so it gets no optional parts: there
/// the recursion ends.
impl<L: Sampled> Sampled for Box<L> {
    fn sample(_: bool, number: &mut u64) -> Self::Working {
        Box::new(L::sample(false, number))
    }
}

impl<L: Sampled> Sampled for Arc<L> {
    fn sample(full: bool, number: &mut u64) -> Self::Working {
        Arc::new(L::sample(full, number))
    }
}

impl<A: Sampled, B: Sampled> Sampled for (A, B) {
    fn sample(full: bool, number: &mut u64) -> Self::Working {
        (A::sample(full, number), B::sample(full, number))
    }
}

impl<L: Sampled> Sampled for [L; 2] {
    fn sample(full: bool, number: &mut u64) -> Self::Working {
        [L::sample(full, number), L::sample(full, number)]
    }
}

/// None, or one with little and one with much.
fn two<L: Sampled>(full: bool, number: &mut u64) -> Vec<L::Working> {
    if full { vec![L::sample(false, number), L::sample(true, number)] } else { Vec::new() }
}

impl<L: Sampled> Sampled for Vec<L> {
    fn sample(full: bool, number: &mut u64) -> Self::Working {
        two::<L>(full, number)
    }
}

macro_rules! sorted {
    ($map:ident $set:ident $($bound:ident)?) => {
        impl<K: Sampled<Working: Ord $(+ $bound)?>, V: Sampled<Working: $($bound)?>> Sampled for $map<K, V> {
            fn sample(full: bool, number: &mut u64) -> Self::Working {
                let mut map = $map::new();
                for (key, value) in two::<(K, V)>(full, number) {
                    map.insert(key, value);
                }
                map
            }
        }

        impl<K: Sampled<Working: Ord $(+ $bound)?>> Sampled for $set<K> {
            fn sample(full: bool, number: &mut u64) -> Self::Working {
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
