//! Reads of what is durable: entities, lists, movements, events, past balances, statements. Everything
//! is found by seeking in the index; nothing here asks an actor, and nothing is seen before it is
//! durable.
//!
//! Answers from the log and its index belong here. It must not know who asks, nor what a response
//! looks like.
//!
//! Layout: `history.rs` reads, `merge_cursor.rs` merges parts of the index newest first,
//! `read_budget.rs` limits the records of a read where requests are answered, `read_pool.rs` has
//! the threads for reads beyond that, `stored.rs` is all this as the API asks for it, `story.rs` finds
//! everything that happened to one thing.

pub mod history;
pub mod merge_cursor;
pub mod past_balance;
pub mod read_budget;
pub mod read_pool;
pub mod statements;
pub mod stored;
pub mod story;
