//! Reading what is durable: entities, lists, movements, events, balances of the past. Everything is
//! found by seeking in the index; nothing here asks an actor, and nothing is seen before it is
//! durable.
//!
//! `history.rs` reads, `merge_cursor.rs` merges parts of the index newest first, `read_budget.rs`
//! says how many records a read may cost where requests are answered, `read_pool.rs` has the
//! threads for what costs more. `stored.rs` is all this as the API asks for it.

pub mod history;
pub mod merge_cursor;
pub mod past_balance;
pub mod read_budget;
pub mod read_pool;
pub mod stored;
