//! Rules for money. Pure: no clock, no randomness, no input or output; time and ids are inputs.
//!
//! In reading order: [`values`] (money, names, instants), [`platform`] (tenants,
//! keys, settings), [`entities`] (what is stored of each kind), [`record`] (what one command writes), [`ledger`]
//! (double entry, the book of a tenant, what must be true of both) and [`decision`] (how a rule says it), then
//! the rules in [`resources`]. [`machine`] hands each command to its rule, and shows the whole to the engine.
//!
//! Rules for money belong here, and the stored form of what they decide. Bytes of requests do not
//! (`src/api/`), nor anything that waits, asks a bank or knows how one is asked.

pub mod bank_names;
pub mod cause;
pub mod codec;
pub mod decision;
pub mod entities;
pub mod events;
pub mod index;
pub mod indexing;
pub mod kept;
pub mod ledger;
pub mod machine;
pub mod platform;
pub mod rail;
pub mod record;
pub mod refusal;
pub mod resources;
pub mod trace;
pub mod values;
