//! The buyers' pages in a real browser: headless Chromium against the real server.
//! `.ci/prerequisites` installs Debian's chromium and chromium-driver.

#[path = "../api/harness/mod.rs"]
mod harness;

mod access;
mod axe;
mod bolivares;
mod browser;
mod c2p;
mod claims;
mod embed;
mod offline;
mod pesos;
mod tabs;
mod usdt;
