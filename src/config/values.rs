//! Values of several sections: texts that are an address, a path or a level, and what is said of others.

use super::error::ValueError;
use std::net::SocketAddr;
use std::path::PathBuf;

pub(super) fn level(text: &str) -> Result<String, ValueError> {
    let is_level = |part: &str| matches!(part, "off" | "error" | "warn" | "info" | "debug" | "trace");
    let known = text.split(',').all(|part| is_level(part.rsplit('=').next().unwrap_or(part)));
    if known && text.parse::<tracing_subscriber::filter::Targets>().is_ok() {
        Ok(text.to_owned())
    } else {
        Err("must be off, error, warn, info, debug or trace, or directives such as info,pasarela::http=debug"
            .into())
    }
}

pub(super) fn address(text: &str) -> Result<SocketAddr, ValueError> {
    text.parse().map_err(|_| "must be an address and a port such as 127.0.0.1:8080".into())
}

pub(super) fn path(text: &str) -> Result<PathBuf, ValueError> {
    if text.is_empty() || text.contains('\0') {
        return Err("must be a path".into());
    }
    Ok(PathBuf::from(text))
}

pub(super) fn url(text: &str) -> Result<String, ValueError> {
    let parsed = text.parse::<hyper::Uri>().ok();
    let fine = parsed.is_some_and(|uri| {
        matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some_and(|host| !host.is_empty())
    });
    if fine { Ok(text.to_owned()) } else { Err("must be an http or https URL".into()) }
}

/// As browsers send it in `Origin`.
pub(super) fn origin(text: &str) -> Result<String, ValueError> {
    let bare = text.split_once("://").is_some_and(|(_, rest)| !rest.contains(['/', '?', '#', '@']));
    match url(text) {
        Ok(_) if bare => Ok(text.to_ascii_lowercase()),
        _ => Err("must be an origin such as https://app.example.com".into()),
    }
}
