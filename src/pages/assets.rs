//! The files that pages load, compiled in; two libraries are as their authors published them
//! (`assets/vendor/`, each with its licence). Their names carry a hash of what is in them, so
//! browsers may keep them for ever.

use crate::http::respond::Reply;
use hyper::header::{self, HeaderValue};
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

pub const PREFIX: &str = "/page-assets/";

const FOR_EVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

struct File {
    path: String,
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

static FILES: LazyLock<[File; 6]> = LazyLock::new(|| {
    [
        file("pages", "css", STYLE, include_bytes!("assets/pages.css")),
        file("pages", "js", SCRIPT, include_bytes!("assets/pages.js")),
        file("icon", "svg", "image/svg+xml", include_bytes!("../checkout/assets/icon.svg")),
        file("uplot", "css", STYLE, include_bytes!("assets/vendor/uplot/uPlot.min.css")),
        file("uplot", "js", SCRIPT, include_bytes!("assets/vendor/uplot/uPlot.iife.min.js")),
        file("htmx", "js", SCRIPT, include_bytes!("assets/vendor/htmx/htmx.min.js")),
    ]
});

pub static PATHS: LazyLock<Paths> = LazyLock::new(|| {
    let [style, script, icon, plot_style, plot_script, htmx] = FILES.each_ref().map(|file| file.path.clone());
    Paths { style, script, icon, plot_style, plot_script, htmx }
});

fn file(stem: &str, extension: &str, content_type: &'static str, bytes: &'static [u8]) -> File {
    let hash: [u8; 32] = Sha256::digest(bytes).into();
    File { path: format!("{PREFIX}{stem}-{}.{extension}", hex::encode(&hash[..6])), content_type, bytes }
}

pub fn find(path: &str) -> Option<Reply> {
    let file = FILES.iter().find(|file| file.path == path)?;
    let reply = Reply::new(200, file.content_type, file.bytes)
        .header(header::CACHE_CONTROL, FOR_EVER)
        .header(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    Some(reply)
}
