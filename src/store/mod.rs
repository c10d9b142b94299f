//! Reads of what is durable: entities, lists, movements, events, past balances, statements.
//! Everything is found by seeking in the index; nothing here asks an actor, and nothing is seen
//! before it is durable. It must not know who asks, nor what a response looks like.

pub mod described;
pub mod history;
pub mod merge_cursor;
pub mod past_balance;
pub mod read_budget;
pub mod read_pool;
pub mod statements;
pub mod story;
