//! `[webhooks]`: where messages may go, whose certificates are trusted there, and names of two headers.

use super::error::ValueError;
use super::keys::Keys;
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhooks {
    pub allow_private_targets: bool,
    /// Trusted beside those of the system, as PEM.
    pub extra_ca_file: Option<PathBuf>,
    pub signature_header: HeaderName,
    pub event_id_header: HeaderName,
}

impl Webhooks {
    pub(super) fn read(mut keys: Keys<'_>) -> Self {
        let webhooks = Webhooks {
            allow_private_targets: keys.boolean("allow_private_targets", false),
            extra_ca_file: keys.optional("extra_ca_file", path),
            signature_header: keys.parsed("signature_header", SIGNATURE, header),
            event_id_header: keys.parsed("event_id_header", EVENT_ID, header),
        };
        if webhooks.signature_header == webhooks.event_id_header {
            keys.bad("event_id_header", "must be another than webhooks.signature_header");
        }
        keys.done();
        webhooks
    }
}

fn header(text: &str) -> Result<HeaderName, ValueError> {
    let name = text.parse::<HeaderName>().map_err(|_| ValueError::from("must be the name of a header"))?;
    match TAKEN.contains(&name.as_str()) {
        true => Err(format!("must be another name: webhooks have a header {name} already").into()),
        false => Ok(name),
    }
}
