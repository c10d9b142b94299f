//! The console of operators, over HTTP as a browser without scripts would use it.

#[path = "../api/harness/mod.rs"]
mod harness;

// The portal's tests use more of it.
#[allow(dead_code)]
#[path = "../portal/visitor.rs"]
mod visitor;

mod acts;
mod login;
mod pages;
