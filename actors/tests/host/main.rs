//! Tests of the host through its public face, with a toy machine and the store in memory: one file
//! for each promise.

#[path = "../toy/mod.rs"]
mod toy;

mod background_snapshots;
mod clock_advances;
mod crash;
mod deadlines;
mod effects;
mod elsewhere;
mod entities;
mod failure;
mod following;
mod halts;
mod memory;
mod permits;
mod pipeline;
mod rehearsals;
mod rig;
mod stop;
mod together;
