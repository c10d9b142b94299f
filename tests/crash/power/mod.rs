//! Power cuts: the server dies, and its disk keeps only what was synced. Unlike after SIGKILL alone,
//! the kernel's memory of what was written is gone too.
//!
//! `shadow.c` keeps what is durable while the server runs, `disk.rs` makes a data directory of it.

mod canaries;
mod disk;
mod instrument;
mod load;
mod steps;
