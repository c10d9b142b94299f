//! Black-box tests of the API: a real server, over HTTP, held against the contract. One file per resource.

mod harness;

mod balance;
mod c2p;
mod clock;
mod conventions;
mod errors;
mod idempotency;
mod keys;
mod merchants;
mod methods;
mod movements;
mod payouts;
mod reversal;
mod tenants;
mod vpos;
