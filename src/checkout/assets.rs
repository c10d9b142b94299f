//! The files that the pages load: one style sheet, one script, one icon, compiled in. Their names
//! carry a hash of what is in them, so browsers may keep them for ever.
//!
//! Files are served as they are; whatever depends on a session does not belong here.

use crate::http::respond::Reply;
use hyper::header::{self, HeaderValue};
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

pub const PREFIX: &str = "/checkout-assets/";

const FOR_EVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
/// The script that shops embed has one name; after a new release browsers have the new one within
/// minutes.
const MINUTES: HeaderValue = HeaderValue::from_static("public, max-age=300");

struct Asset {
    name: String,
    content_type: &'static str,
    bytes: &'static [u8],
}

pub struct Assets {
    style: Asset,
    script: Asset,
    icon: Asset,
}

static ASSETS: LazyLock<Assets> = LazyLock::new(|| Assets {
    style: Asset::new("checkout", "css", "text/css; charset=utf-8", include_bytes!("assets/checkout.css")),
    script: Asset::new("checkout", "js", "text/javascript; charset=utf-8", include_bytes!("assets/page.js")),
    icon: Asset::new("icon", "svg", "image/svg+xml", include_bytes!("assets/icon.svg")),
});

static EMBED: &[u8] = include_bytes!("assets/embed.js");

impl Asset {
    fn new(stem: &str, extension: &str, content_type: &'static str, bytes: &'static [u8]) -> Asset {
        let hash: [u8; 32] = Sha256::digest(bytes).into();
        Asset { name: format!("{stem}-{}.{extension}", hex::encode(&hash[..6])), content_type, bytes }
    }

    fn path(&self) -> String {
        format!("{PREFIX}{}", self.name)
    }
}

pub fn paths() -> [String; 3] {
    [ASSETS.style.path(), ASSETS.script.path(), ASSETS.icon.path()]
}

pub fn find(name: &str) -> Option<Reply> {
    let asset = [&ASSETS.style, &ASSETS.script, &ASSETS.icon].into_iter().find(|asset| asset.name == name)?;
    Some(served(asset.content_type, asset.bytes, FOR_EVER))
}

pub fn embed_script() -> Reply {
    // Shops load it from their own pages, which may demand that it says so.
    let anywhere = header::HeaderName::from_static("cross-origin-resource-policy");
    served("text/javascript; charset=utf-8", EMBED, MINUTES)
        .header(anywhere, HeaderValue::from_static("cross-origin"))
}

fn served(content_type: &'static str, bytes: &'static [u8], kept: HeaderValue) -> Reply {
    Reply::new(200, content_type, bytes)
        .header(header::CACHE_CONTROL, kept)
        .header(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))
}
