//! Purses: a toy machine with everything that the host must cope with. A book is one balance; its
//! entities are transfers.

mod machine;
mod world;

pub use machine::*;
pub use world::*;
