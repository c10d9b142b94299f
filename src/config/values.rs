//! Values of several sections: texts that are an address, a path or a level, and what is said of others.

use super::error::ValueError;
use std::net::SocketAddr;
use std::path::PathBuf;

pub(super) fn text_if(fits: bool, text: &str, why: &'static str) -> Result<String, ValueError> {
    if fits { Ok(text.to_owned()) } else { Err(why.into()) }
}

pub(super) fn level(text: &str) -> Result<String, ValueError> {
    let is_level = |part: &str| matches!(part, "off" | "error" | "warn" | "info" | "debug" | "trace");
    let known = text.split(',').all(|part| is_level(part.rsplit('=').next().unwrap_or(part)));
    let fits = known && text.parse::<tracing_subscriber::filter::Targets>().is_ok();
    let why =
        "must be off, error, warn, info, debug or trace, or directives such as info,pasarela::http=debug";
    text_if(fits, text, why)
}

pub(super) fn address(text: &str) -> Result<SocketAddr, ValueError> {
    text.parse().map_err(|_| "must be an address and a port such as 127.0.0.1:8080".into())
}

pub(super) fn path(text: &str) -> Result<PathBuf, ValueError> {
    text_if(!text.is_empty() && !text.contains('\0'), text, "must be a path").map(PathBuf::from)
}

pub(super) fn url(text: &str) -> Result<String, ValueError> {
    let parsed = text.parse::<hyper::Uri>().ok();
    let fine = parsed.is_some_and(|uri| {
        matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some_and(|host| !host.is_empty())
    });
    text_if(fine, text, "must be an http or https URL")
}

/// As browsers send it in `Origin`.
pub(super) fn origin(text: &str) -> Result<String, ValueError> {
    let bare = text.split_once("://").is_some_and(|(_, rest)| !rest.contains(['/', '?', '#', '@']));
    let why = "must be an origin such as https://app.example.com";
    text_if(bare && url(text).is_ok(), &text.to_ascii_lowercase(), why)
}
