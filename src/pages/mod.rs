//! Pages for people who log in, the console of operators and the portal of merchants
//! (`docs/contract.md, 20.9`): what both share, and the words and drawings that buyers' pages share
//! with them. In reading order: `site.rs`, `front.rs`, `sessions.rs`, `inside.rs`, `view.rs`,
//! `show.rs`. Rules about money, scopes and roles are the API's, which every page asks.

pub mod assets;
pub mod confirm;
pub mod cookies;
pub mod counts;
pub mod find;
pub mod form;
pub mod front;
pub mod inside;
pub mod lists;
pub mod logs;
pub mod names;
pub mod qr;
pub mod sessions;
pub mod shell;
pub mod show;
pub mod site;
pub mod statement;
pub mod timeline;
pub mod view;
pub mod words;
