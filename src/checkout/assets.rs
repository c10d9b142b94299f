//! The files that the pages load: one style sheet, one script, one icon, compiled in.

use crate::http::respond::Reply;
use crate::pages::assets::{self, File, content_type, file, served};
use hyper::header::{HeaderName, HeaderValue};
use std::sync::LazyLock;

pub const PREFIX: &str = "/checkout-assets/";
/// The script that shops embed has one name; after a new release browsers have the new one within
/// minutes.
const MINUTES: &str = "public, max-age=300";

static FILES: LazyLock<[File; 3]> = LazyLock::new(|| {
    [
        file(PREFIX, "checkout.css", include_bytes!("assets/checkout.css")),
        file(PREFIX, "checkout.js", include_bytes!("assets/page.js")),
        file(PREFIX, "icon.svg", include_bytes!("assets/icon.svg")),
    ]
});

pub fn paths() -> [String; 3] {
    FILES.each_ref().map(|file| file.path.clone())
}

pub fn find(name: &str) -> Option<Reply> {
    assets::find(&*FILES, &format!("{PREFIX}{name}"))
}

pub fn embed_script() -> Reply {
    // Shops load it from their own pages, which may demand that it says so.
    let anywhere = HeaderName::from_static("cross-origin-resource-policy");
    served(content_type("embed.js"), include_bytes!("assets/embed.js"), MINUTES)
        .header(anywhere, HeaderValue::from_static("cross-origin"))
}
