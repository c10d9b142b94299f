//! Values: types without a state, each right or impossible to make. Money, instants, names of
//! things, and the details by which people and banks are known.
//!
//! Resources are unknown here. What is personal data or a secret has no Display, and says so in its
//! file.

/// Debug of these types is what their Display, or another form of them, shows.
macro_rules! debug_as {
    ($($name:ident)+: $it:ident => $shown:expr) => {$(
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let $it = self;
                fmt::Display::fmt(&$shown, f)
            }
        }
    )+};
}

pub mod address;
pub mod card;
pub mod colombia;
pub mod ids;
pub mod money;
pub mod text;
pub mod time;
pub mod token;
pub mod venezuela;
