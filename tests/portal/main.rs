//! The portal of merchants, over HTTP as a browser without scripts would use it, and in a browser.

#[path = "../api/harness/mod.rs"]
mod harness;

// The buyers' pages use more of it.
#[allow(dead_code)]
#[path = "../checkout/browser.rs"]
mod browser;

#[path = "../axe/mod.rs"]
mod axe;

#[path = "../clicks/mod.rs"]
mod clicks;

mod acts;
mod approvals;
mod by_file;
mod in_browser;
mod lists;
mod login;
mod pages;
mod permissions;
mod tasks;
mod visitor;
mod wording;
