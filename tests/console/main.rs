//! The console of operators, over HTTP as a browser without scripts would use it, and in a browser.

#[path = "../api/harness/mod.rs"]
mod harness;

// The portal's tests use more of it.
#[allow(dead_code)]
#[path = "../portal/visitor.rs"]
mod visitor;

// The buyers' and the merchants' pages use more of it.
#[allow(dead_code)]
#[path = "../checkout/browser.rs"]
mod browser;

#[path = "../axe/mod.rs"]
mod axe;

#[path = "../clicks/mod.rs"]
mod clicks;

mod acts;
mod at_bank;
mod lists;
mod login;
mod month;
mod pages;
mod past;
mod tasks;
mod walks;
