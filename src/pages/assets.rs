//! The files that pages load, compiled in; two libraries are as their authors published them
//! (`assets/vendor/`, each with its licence). Their names carry a hash of what is in them, so
//! browsers may keep them for ever.

use crate::http::respond::Reply;
use hyper::header::{self, HeaderValue};
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

pub const FOR_EVER: &str = "public, max-age=31536000, immutable";
const PREFIX: &str = "/page-assets/";

pub struct File {
    pub path: String,
    content_type: &'static str,
    bytes: &'static [u8],
}

pub struct Paths {
    pub style: String,
    pub script: String,
    pub icon: String,
    pub plot_style: String,
    pub plot_script: String,
    pub htmx: String,
}

pub static FILES: LazyLock<[File; 6]> = LazyLock::new(|| {
    [
        file(PREFIX, "pages.css", include_bytes!("assets/pages.css")),
        file(PREFIX, "pages.js", include_bytes!("assets/pages.js")),
        file(PREFIX, "icon.svg", include_bytes!("../checkout/assets/icon.svg")),
        file(PREFIX, "uplot.css", include_bytes!("assets/vendor/uplot/uPlot.min.css")),
        file(PREFIX, "uplot.js", include_bytes!("assets/vendor/uplot/uPlot.iife.min.js")),
        file(PREFIX, "htmx.js", include_bytes!("assets/vendor/htmx/htmx.min.js")),
    ]
});

pub static PATHS: LazyLock<Paths> = LazyLock::new(|| {
    let [style, script, icon, plot_style, plot_script, htmx] = FILES.each_ref().map(|file| file.path.clone());
    Paths { style, script, icon, plot_style, plot_script, htmx }
});

pub fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        _ => "image/svg+xml",
    }
}

pub fn file(prefix: &str, name: &str, bytes: &'static [u8]) -> File {
    let hash: [u8; 32] = Sha256::digest(bytes).into();
    let (stem, extension) = name.split_once('.').unwrap_or((name, ""));
    let path = format!("{prefix}{stem}-{}.{extension}", hex::encode(&hash[..6]));
    File { path, content_type: content_type(name), bytes }
}

pub fn find(files: &[File], path: &str) -> Option<Reply> {
    let file = files.iter().find(|file| file.path == path)?;
    Some(served(file.content_type, file.bytes, FOR_EVER))
}

pub fn served(content_type: &'static str, bytes: &'static [u8], kept: &'static str) -> Reply {
    Reply::new(200, content_type, bytes)
        .header(header::CACHE_CONTROL, HeaderValue::from_static(kept))
        .header(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))
}
