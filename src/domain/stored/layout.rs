//! Layouts: their notation in code, and the traits by which they are read and written.
//!
//! A layout says where the parts of a working value stand in the bytes: a struct is its fields in the
//! order of the layout, an enum the number of its variant and then its fields. Nothing else is in the
//! bytes: no names, no lengths of structs. A layout that leaves out a field of its working type, or names
//! one that is not there, does not compile; so a working type can be changed in every other way.
//!
//! Nothing is copied on the way: a layout writes the parts of a working value from where they stand, and
//! reads them into it.

use bincode::de::Decoder;
use bincode::enc::Encoder;
use bincode::error::{DecodeError, EncodeError};

/// A layout that can be read: of any version.
pub trait Layout {
    type Working;

    /// The value whose bytes come next. The version that they are of is the decoder's context.
    fn read<D: Decoder<Context = u8>>(from: &mut D) -> Result<Self::Working, DecodeError>;
}

/// A layout that is also written: the newest of its type.
pub trait CurrentLayout: Layout {
    /// Adds the bytes of the value.
    fn write<E: Encoder>(working: &Self::Working, to: &mut E) -> Result<(), EncodeError>;
}

/// The error for a number that no variant has.
#[cold]
pub fn no_variant(of: &str, tag: u32) -> DecodeError {
    DecodeError::OtherString(format!("variant {tag} of {of} is not known"))
}

/// A layout. One that is `past` is read only, and says what the fields that came later are.
macro_rules! layout {
    (struct $name:ident of $working:ty { $($field:ident: $part:ty),+ $(,)? }) => {
        layout! { past struct $name of $working { $($field: $part),+ } then {} }

        impl crate::stored::layout::CurrentLayout for $name {
            fn write<E: bincode::enc::Encoder>(
                working: &$working,
                to: &mut E,
            ) -> Result<(), bincode::error::EncodeError> {
                type Working = $working;
                let Working { $($field),+ } = working;
                $(<$part as crate::stored::layout::CurrentLayout>::write($field, to)?;)+
                Ok(())
            }
        }

        #[cfg(test)]
        impl crate::stored::samples::Sampled for $name {
            fn sample(full: bool, number: &mut u64) -> $working {
                type Working = $working;
                $(let $field = <$part as crate::stored::samples::Sampled>::sample(full, number);)+
                Working { $($field),+ }
            }
        }
    };

    (past struct $name:ident of $working:ty { $($field:ident: $part:ty),+ $(,)? }
        then { $($later:ident: $value:expr),* $(,)? }) => {
        #[doc = concat!("The layout of [`", stringify!($working), "`].")]
        pub enum $name {}

        impl crate::stored::layout::Layout for $name {
            type Working = $working;

            fn read<D: bincode::de::Decoder<Context = u8>>(from: &mut D) -> Result<$working, bincode::error::DecodeError> {
                type Working = $working;
                $(let $field = <$part as crate::stored::layout::Layout>::read(from)?;)+
                $(let $later = $value;)*
                Ok(Working { $($field,)+ $($later,)* })
            }
        }
    };

    (enum $name:ident of $working:ty { $($tag:literal $variant:ident
        $(($($at:ident: $inner:ty),+))? $({ $($field:ident: $part:ty),+ $(,)? })?),+ $(,)? }) => {
        layout! { past enum $name of $working { $($tag $variant
            $(($($at: $inner),+))? $({ $($field: $part),+ })?),+ } }

        impl crate::stored::layout::CurrentLayout for $name {
            fn write<E: bincode::enc::Encoder>(
                working: &$working,
                to: &mut E,
            ) -> Result<(), bincode::error::EncodeError> {
                type Working = $working;
                match working {
                    $(Working::$variant $(($($at),+))? $({ $($field),+ })? => {
                        <u32 as bincode::Encode>::encode(&$tag, to)?;
                        $($(<$inner as crate::stored::layout::CurrentLayout>::write($at, to)?;)+)?
                        $($(<$part as crate::stored::layout::CurrentLayout>::write($field, to)?;)+)?
                    })+
                }
                Ok(())
            }
        }

        #[cfg(test)]
        impl crate::stored::samples::Sampled for $name {
            /// The first variant, or the second: which these are does not change when others come.
            fn sample(full: bool, number: &mut u64) -> $working {
                type Working = $working;
                let tags = [$($tag),+];
                let wanted = tags[usize::from(full && tags.len() > 1)];
                let _ = &number;
                $(if wanted == $tag {
                    return Working::$variant
                        $(($(<$inner as crate::stored::samples::Sampled>::sample(full, number)),+))?
                        $({ $($field: <$part as crate::stored::samples::Sampled>::sample(full, number)),+ })?;
                })+
                unreachable!("one of them is wanted")
            }

            /// Every variant, and those with fields twice.
            fn samples(number: &mut u64) -> Vec<$working> {
                type Working = $working;
                let mut all = Vec::new();
                let _ = &number;
                $(
                    let fields: &[&str] = &[$($(stringify!($at)),+)? $($(stringify!($field)),+)?];
                    for full in [false, true].into_iter().take(1 + fields.len().min(1)) {
                        let _ = full;
                        all.push(Working::$variant
                            $(($(<$inner as crate::stored::samples::Sampled>::sample(full, number)),+))?
                            $({ $($field: <$part as crate::stored::samples::Sampled>::sample(full, number)),+ })?);
                    }
                )+
                all
            }
        }
    };

    (past enum $name:ident of $working:ty { $($tag:literal $variant:ident
        $(($($at:ident: $inner:ty),+))? $({ $($field:ident: $part:ty),+ $(,)? })?),+ $(,)? }) => {
        #[doc = concat!("The layout of [`", stringify!($working), "`].")]
        pub enum $name {}

        impl crate::stored::layout::Layout for $name {
            type Working = $working;

            fn read<D: bincode::de::Decoder<Context = u8>>(from: &mut D) -> Result<$working, bincode::error::DecodeError> {
                type Working = $working;
                Ok(match <u32 as bincode::Decode<u8>>::decode(from)? {
                    $($tag => {
                        $($(let $at = <$inner as crate::stored::layout::Layout>::read(from)?;)+)?
                        $($(let $field = <$part as crate::stored::layout::Layout>::read(from)?;)+)?
                        Working::$variant $(($($at),+))? $({ $($field),+ })?
                    })+
                    tag => return Err(crate::stored::layout::no_variant(stringify!($name), tag)),
                })
            }
        }
    };

    (value $name:ident($part:ty) of $working:ty;) => {
        #[doc = concat!("The layout of [`", stringify!($working), "`].")]
        pub enum $name {}

        impl crate::stored::layout::Layout for $name {
            type Working = $working;

            fn read<D: bincode::de::Decoder<Context = u8>>(from: &mut D) -> Result<$working, bincode::error::DecodeError> {
                type Working = $working;
                Ok(Working { 0: <$part as crate::stored::layout::Layout>::read(from)? })
            }
        }

        impl crate::stored::layout::CurrentLayout for $name {
            fn write<E: bincode::enc::Encoder>(
                working: &$working,
                to: &mut E,
            ) -> Result<(), bincode::error::EncodeError> {
                <$part as crate::stored::layout::CurrentLayout>::write(&working.0, to)
            }
        }

        #[cfg(test)]
        impl crate::stored::samples::Sampled for $name {
            fn sample(full: bool, number: &mut u64) -> $working {
                type Working = $working;
                Working { 0: <$part as crate::stored::samples::Sampled>::sample(full, number) }
            }
        }
    };
}

pub(crate) use layout;
