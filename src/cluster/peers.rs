//! The proof that it is a node that asks, and a client that trusts what the server's own TLS
//! trusts. The key derives from `mark.key`, which every node has. A proof covers the method, the
//! target, the listener and the caller's address, and is good for a minute.

use super::view::now_ms;
use crate::config::Config;
use hmac::{Hmac, KeyInit, Mac};
use hyper::Method;
use hyper::header::HeaderName;
use reqwest::{Certificate, Client, ClientBuilder, RequestBuilder};
use sha2::Sha256;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use subtle::ConstantTimeEq;

pub const PROOF: HeaderName = HeaderName::from_static("pasarela-peer");
/// Of a request that is passed on.
pub const TARGET: HeaderName = HeaderName::from_static("pasarela-peer-target");
const GOOD_MS: i64 = 60_000;
const CONNECT: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    Api,
    Admin,
}

impl Surface {
    fn name(self) -> &'static str {
        match self {
            Surface::Api => "api",
            Surface::Admin => "admin",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Passed<'a> {
    pub method: &'a Method,
    /// With what is after the question mark.
    pub target: &'a str,
    pub surface: Surface,
    pub peer: SocketAddr,
}

#[derive(Clone)]
pub struct PeerKey([u8; 32]);

impl PeerKey {
    pub fn derived(mark_key: &[u8; 32]) -> PeerKey {
        PeerKey(keyed(mark_key, &[b"pasarela cluster peer 1"]))
    }

    pub fn prove(&self, passed: &Passed<'_>, now_ms: i64) -> String {
        let Passed { surface, peer, .. } = passed;
        format!("{now_ms} {} {peer} {}", surface.name(), hex::encode(self.mac(passed, now_ms)))
    }

    /// That a node asks for itself.
    pub fn prove_node(&self, method: &Method, target: &str) -> String {
        let nobody = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
        self.prove(&Passed { method, target, surface: Surface::Admin, peer: nobody }, now_ms())
    }

    /// To operators of the leader, with the proof that a node asks: a command on this machine.
    pub fn proving(&self, request: RequestBuilder, target: &str) -> RequestBuilder {
        let peer = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let passed = Passed { method: &Method::POST, target, surface: Surface::Admin, peer };
        request.header(PROOF, self.prove(&passed, now_ms())).header(TARGET, target)
    }

    pub fn check(
        &self,
        method: &Method,
        target: &str,
        proof: &str,
        now_ms: i64,
    ) -> Option<(Surface, SocketAddr)> {
        let mut words = proof.split(' ');
        let at_ms: i64 = words.next()?.parse().ok()?;
        let surface = match words.next()? {
            "api" => Surface::Api,
            "admin" => Surface::Admin,
            _ => return None,
        };
        let peer = words.next()?.parse().ok()?;
        let sent = hex::decode(words.next()?).ok()?;
        let passed = Passed { method, target, surface, peer };
        let is_good = bool::from(self.mac(&passed, at_ms)[..].ct_eq(&sent));
        (is_good && (now_ms - at_ms).abs() <= GOOD_MS).then_some((surface, peer))
    }

    /// A keyed hash that nobody else can make. The first part is a word that says what it is of: that of a proof is a
    /// number.
    pub fn mark(&self, parts: &[&[u8]]) -> [u8; 16] {
        let mac = keyed(&self.0, parts);
        std::array::from_fn(|at| mac[at])
    }

    fn mac(&self, passed: &Passed<'_>, at_ms: i64) -> [u8; 32] {
        let Passed { method, target, surface, peer } = passed;
        let (at_ms, peer) = (at_ms.to_string(), peer.to_string());
        let parts = [&at_ms, method.as_str(), target, surface.name(), &peer];
        keyed(&self.0, &parts.map(str::as_bytes))
    }
}

fn keyed(key: &[u8; 32], parts: &[&[u8]]) -> [u8; 32] {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else {
        unreachable!("HMAC takes keys of any length")
    };
    for part in parts {
        mac.update(&(part.len() as u64).to_be_bytes());
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

/// Over TLS it trusts what the system trusts, and the certificates in the file of this server's own. For a copy, a
/// peer that sends nothing for so long is given up: one that was stopped in the middle of a stream keeps its
/// connection.
pub fn client(config: &Config, silence_max: Option<Duration>) -> Result<Client, reqwest::Error> {
    // Fails when somebody installed it before, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut client = Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT)
        .pool_max_idle_per_host(256);
    if let Some(tls) = &config.server.tls
        && let Ok(pem) = std::fs::read(&tls.certificate)
    {
        let trusted = Certificate::from_pem_bundle(&pem)?;
        client = trusted.into_iter().fold(client, ClientBuilder::add_root_certificate);
    }
    if let Some(silence_max) = silence_max {
        client = client.read_timeout(silence_max);
    }
    client.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_good_for_its_request_and_for_a_minute() {
        let key = PeerKey::derived(&[7; 32]);
        let peer: SocketAddr = "10.0.0.9:4711".parse().expect("an address");
        let passed = Passed { method: &Method::POST, target: "/v1/payouts?a=b", surface: Surface::Api, peer };
        let proof = key.prove(&passed, 1_000_000);
        let check = |method, target, now_ms| key.check(method, target, &proof, now_ms);
        assert_eq!(check(&Method::POST, "/v1/payouts?a=b", 1_050_000), Some((Surface::Api, peer)));
        assert_eq!(check(&Method::GET, "/v1/payouts?a=b", 1_050_000), None);
        assert_eq!(check(&Method::POST, "/v1/payouts", 1_050_000), None);
        assert_eq!(check(&Method::POST, "/v1/payouts?a=b", 1_070_000), None);
        let as_operator = proof.replace(" api ", " admin ");
        assert_eq!(key.check(&Method::POST, "/v1/payouts?a=b", &as_operator, 1_000_000), None);
        let other = PeerKey::derived(&[8; 32]);
        assert_eq!(other.check(&Method::POST, "/v1/payouts?a=b", &proof, 1_000_000), None);
    }
}
