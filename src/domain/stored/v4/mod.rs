//! Version 4 of the stored format: the layouts that are new in it. Only layouts belong here, and
//! none of them changes once a release has written it (`docs/formats.md`).

pub mod approvals;
pub mod beside;
pub mod book;
pub mod cop_payments;
pub mod days;
pub mod operators;
pub mod platform;
pub mod rates;
pub mod record;
pub mod settings;
pub mod trace;
pub mod verification;
