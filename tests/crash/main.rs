//! Crashes: the server is killed while it works, and everything it ever acknowledged must be there
//! afterwards, exactly once.
//!
//! What happens around the end of a process belongs here. The tools with which operators put things
//! right afterwards are tested in `recovery/`.

#[path = "../api/harness/mod.rs"]
mod harness;

mod auto_convert;
mod bank;
mod batches;
mod checkout;
mod clock;
mod collections;
mod conversions;
mod disk;
mod durability;
mod load;
mod pesos;
mod power;
mod rates;
mod set_aside;
mod shutdown;
mod start;
mod test_reset;
mod thinning;
mod tools;
mod webhooks;
