//! Crashes: the server is killed while it works, and everything it ever acknowledged must be there afterwards, exactly once.

#[path = "../api/harness/mod.rs"]
mod harness;

mod batches;
mod collections;
mod conversions;
mod durability;
mod load;
mod shutdown;
mod tools;
mod webhooks;
