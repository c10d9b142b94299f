//! The room of pages for people who log in: the console of operators and the portal of merchants
//! (`docs/contract.md, 20.9`). What both share is here, and the words and drawings that buyers' pages
//! share with them.
//!
//! In reading order: `site.rs` is what a site has of its own, `front.rs` the way of a request,
//! `sessions.rs`, `cookies.rs` and `attempts.rs` keep strangers out, `inside.rs` asks the API for the
//! visitor, `upload.rs` and `form.rs` read what a form sends, `view.rs` are the parts of pages,
//! `shell.rs` what stands around them, `show.rs` and `words.rs` write what an API answers for people,
//! `timeline.rs` what happened to a payment or payout, `assets.rs` has what pages load.
//!
//! The looks of pages and their audience belong here. Rules about money, scopes and roles do not:
//! they are the API's, which every page asks.

pub mod assets;
pub mod attempts;
pub mod cookies;
pub mod form;
pub mod front;
pub mod inside;
pub mod language;
pub mod qr;
pub mod sessions;
pub mod shell;
pub mod show;
pub mod site;
pub mod statement;
pub mod timeline;
pub mod upload;
pub mod view;
pub mod words;
