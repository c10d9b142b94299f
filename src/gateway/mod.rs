//! The way that every request takes: authentication, limits, the answer that was kept for it, and
//! what its endpoint works with.
//!
//! `dispatch.rs` calls the endpoints of tenants, with what they work with (`tenant_request.rs`); `public.rs` has those
//! of everybody, `rail_calls/` those of banks; the steps of a request before them are in `src/server/mod.rs`. `keys.rs`
//! knows who may call, `limits.rs` is what each may take, `names.rs` keeps names that are in use, `idempotency.rs` finds
//! what was answered before, `business.rs` counts what became of money, `ask.rs` asks the engine.
//!
//! Questions, reservations and waits on behalf of a request belong here. Rules about money do not,
//! nor do the forms of bodies (`src/api/`) or sockets (`src/http/`).

pub mod ask;
pub mod bank_feed;
pub mod batches;
pub mod beside;
pub mod business;
pub mod card_vault;
mod charges;
pub mod dispatch;
pub mod exports;
pub mod finding;
pub mod followers;
pub mod following;
pub mod holding;
pub mod idempotency;
pub mod intakes;
pub mod keys;
pub mod limits;
pub mod live_asks;
pub mod meter;
pub mod moving;
pub mod names;
pub mod notices;
pub mod otp;
pub mod own_account;
pub mod public;
pub mod rail_calls;
pub mod receipts;
pub mod services;
pub mod statements;
pub mod streams;
pub mod tenant_request;
pub mod tenant_settings;
pub mod test_accounts;
pub mod test_reset;
pub mod transfers;
pub mod usdt_addresses;
mod waiting;
pub mod webhooks;
