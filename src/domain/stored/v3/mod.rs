//! Version 3 of the stored format: the layouts that are new in it. Only layouts belong here, and
//! none of them changes once a release has written it (`docs/formats.md`).

pub mod cop_payments;
pub mod crypto;
pub mod payments;
pub mod payouts;
pub mod trace;
pub mod verification;
