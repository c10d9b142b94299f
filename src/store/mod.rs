//! Reading what is durable: entities, lists, movements, events, balances of the past. Everything is
//! found by seeking in the index; nothing here asks an actor, and nothing is seen before it is
//! durable.
//!
//! `history.rs` reads, `movements.rs` the ledgers' rows, `merge_cursor.rs` merges parts of the index newest first, `read_budget.rs`
//! says how many records a read may cost where requests are answered, `read_pool.rs` has the
//! threads for what costs more.

pub mod history;
pub mod merge_cursor;
pub mod movements;
pub mod past_balance;
pub mod read_budget;
pub mod read_pool;
