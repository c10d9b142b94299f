//! The server's own keys: what is hashed under them can be recognised and not known, and what derives
//! from them need not be stored.

use crate::webhooks::secret::Secret;
use domain::index::PersonMarks;
use domain::values::ids::Id;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

pub struct ServerKeys {
    mark: [u8; 32],
    /// The key for cards: no backup, checkpoint or export has it.
    card: [u8; 32],
    /// The first key, for what the index knows of people.
    person_marks: PersonMarks,
}

impl ServerKeys {
    /// Builds the server's keys from 32 secret bytes each.
    pub fn new(mark: [u8; 32], card: [u8; 32]) -> ServerKeys {
        ServerKeys { mark, card, person_marks: PersonMarks::under(&mark) }
    }

    /// The signing secret of a webhook endpoint: it derives from the server's key, so that it need
    /// not be stored.
    pub fn webhook_secret(&self, tenant: u64, webhook: Id, version: u32) -> Secret {
        Secret::new(self.keyed_hash(&[
            b"webhook",
            &tenant.to_be_bytes(),
            webhook.as_bytes(),
            &version.to_be_bytes(),
        ]))
    }

    /// The secret bytes of a new API key, derived from the server's key, its id and `salt`: they
    /// need not be stored to be shown again to a caller who sends the same.
    pub fn api_key(&self, id: Id, salt: &[u8]) -> [u8; 32] {
        self.keyed_hash(&[b"api key", id.as_bytes(), salt])
    }

    /// The key under which the index knows documents and phones.
    pub const fn person_marks(&self) -> &PersonMarks {
        &self.person_marks
    }

    /// The first half of a keyed hash over `parts`.
    pub fn mark(&self, parts: &[&[u8]]) -> [u8; 16] {
        half(keyed_hash(&self.mark, parts))
    }

    /// The first half of a keyed hash over `parts`, for data with a card in it, which whoever has
    /// the key could try out.
    pub fn card_mark(&self, parts: &[&[u8]]) -> [u8; 16] {
        half(keyed_hash(&self.card, parts))
    }

    fn keyed_hash(&self, parts: &[&[u8]]) -> [u8; 32] {
        keyed_hash(&self.mark, parts)
    }
}

/// A keyed hash over `parts`, each with its length before it.
fn keyed_hash(key: &[u8; 32], parts: &[&[u8]]) -> [u8; 32] {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else {
        unreachable!("HMAC takes keys of any length")
    };
    for part in parts {
        mac.update(&(part.len() as u64).to_be_bytes());
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

fn half(hash: [u8; 32]) -> [u8; 16] {
    let mut half = [0; 16];
    half.copy_from_slice(&hash[..16]);
    half
}
