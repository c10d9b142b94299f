//! Black-box tests of the API: a real server, over HTTP, held against the contract. One file per resource.

mod harness;

mod balance;
mod batch;
mod c2p;
mod clock;
mod conventions;
mod credits;
mod errors;
mod idempotency;
mod instant;
mod keys;
mod marketplace;
mod merchants;
mod merchants_more;
mod methods;
mod movements;
mod payouts;
mod reversal;
mod tenants;
