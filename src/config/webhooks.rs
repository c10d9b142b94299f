//! `[webhooks]`: where messages may go, whose certificates are trusted there, and names of two headers.

use super::error::ValueError;
use super::keys::{Keys, settings};
use super::values::path;
use hyper::header::HeaderName;
use std::path::PathBuf;

const SIGNATURE: HeaderName = HeaderName::from_static("svc-signature");
const EVENT_ID: HeaderName = HeaderName::from_static("svc-event-id");

/// A message has these besides the two below; none of them can have another meaning.
const TAKEN: [&str; 15] = [
    "connection",
    "content-length",
    "content-type",
    "host",
    "svc-attempt",
    "svc-event-sequence",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "webhook-id",
    "webhook-signature",
    "webhook-timestamp",
    "x-webhook-signature",
];

settings! {
    Webhooks {
        allow_private_targets: bool = boolean(false),
        extra_ca_file: Option<PathBuf> = optional(path),
        signature_header: HeaderName = parsed(SIGNATURE, header),
        event_id_header: HeaderName = parsed(EVENT_ID, header),
    } refused where {
        |webhooks| webhooks.signature_header == webhooks.event_id_header
            => "event_id_header", "must be another than webhooks.signature_header";
    }
}

fn header(text: &str) -> Result<HeaderName, ValueError> {
    let name = text.parse::<HeaderName>().map_err(|_| ValueError::from("must be the name of a header"))?;
    match TAKEN.contains(&name.as_str()) {
        true => Err(format!("must be another name: webhooks have a header {name} already").into()),
        false => Ok(name),
    }
}
