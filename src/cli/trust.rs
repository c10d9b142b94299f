//! Over TLS the commands trust exactly the certificate in the file of this configuration, whoever
//! signed it and whatever name is on it. A server on this machine is reached by its address, which
//! no authority certifies; and nobody else has the key of that certificate.

use super::Failure;
use crate::config::Tls;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, SignatureScheme};
use std::sync::Arc;

pub fn reach(tls: Option<&Tls>) -> Result<(&'static str, reqwest::ClientBuilder), Failure> {
    // A second call finds it installed.
    let _ = ring::default_provider().install_default();
    // The environment's proxies are not used to reach one's own server.
    let client = reqwest::Client::builder().no_proxy();
    let Some(tls) = tls else { return Ok(("http", client)) };
    let failed =
        |why: &dyn std::fmt::Display| Failure::Other(format!("{}: {why}", tls.certificate.display()));
    let provider = Arc::new(ring::default_provider());
    // The first in the file is the server's own.
    let certificate = CertificateDer::from_pem_file(&tls.certificate).map_err(|error| failed(&error))?;
    let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(&error))?;
    let config = config
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Pinned { certificate, provider }))
        .with_no_client_auth();
    Ok(("https", client.tls_backend_preconfigured(config)))
}

#[derive(Debug)]
struct Pinned {
    certificate: CertificateDer<'static>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if *shown == self.certificate {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(CertificateError::ApplicationVerificationFailure.into())
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, shown, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, shown, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
