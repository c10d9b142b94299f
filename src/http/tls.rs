//! Certificates are renewed on SIGHUP, and when the files change. New connections get the new ones,
//! open ones keep theirs; files that cannot be used leave the old ones in force and are reported in
//! the log.

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, SystemTime};
use tokio::signal::unix::{SignalKind, signal};
use tokio_rustls::TlsAcceptor;

const LOOK_EVERY: Duration = Duration::from_secs(60);

/// PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

#[derive(Debug, thiserror::Error)]
#[error("{}: {why}", path.display())]
pub struct CertificateError {
    path: PathBuf,
    why: String,
}

type Stamp = [Option<(SystemTime, u64)>; 2];

impl Files {
    fn stamp(&self) -> Stamp {
        let of = |path: &Path| fs::metadata(path).and_then(|file| Ok((file.modified()?, file.len()))).ok();
        [of(&self.certificate), of(&self.key)]
    }

    fn read(&self) -> Result<ServerConfig, CertificateError> {
        let bad =
            |path: &Path, why: &dyn Display| CertificateError { path: path.to_owned(), why: why.to_string() };
        let mut chain = Vec::new();
        for certificate in CertificateDer::pem_file_iter(&self.certificate)
            .map_err(|error| bad(&self.certificate, &error))?
        {
            chain.push(certificate.map_err(|error| bad(&self.certificate, &error))?);
        }
        if chain.is_empty() {
            return Err(bad(&self.certificate, &"has no certificate in it"));
        }
        let key = PrivateKeyDer::from_pem_file(&self.key).map_err(|error| bad(&self.key, &error))?;
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions();
        let config = config.map_err(|error| bad(&self.certificate, &error))?.with_no_client_auth();
        // Refuses a key that is not the certificate's.
        let mut config = config.with_single_cert(chain, key).map_err(|error| bad(&self.key, &error))?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(config)
    }
}

pub struct Certificates {
    pub name: &'static str,
    files: Files,
    current: RwLock<Arc<ServerConfig>>,
    seen: Mutex<Stamp>,
    pub renewed: AtomicU64,
    pub failed: AtomicU64,
}

impl Certificates {
    pub fn load(name: &'static str, files: Files) -> Result<Arc<Certificates>, CertificateError> {
        let seen = files.stamp();
        let current = RwLock::new(Arc::new(files.read()?));
        Ok(Arc::new(Certificates {
            name,
            files,
            current,
            seen: Mutex::new(seen),
            renewed: AtomicU64::new(0),
            failed: AtomicU64::new(0),
        }))
    }

    pub fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner)))
    }

    /// If the files changed since the last time, or if `asked` to.
    pub fn renew(&self, asked: bool) {
        // Taken before the files are read: a change in between is seen the next time.
        let stamp = self.files.stamp();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if *seen == stamp && !asked {
            return;
        }
        *seen = stamp;
        match self.files.read() {
            Ok(config) => {
                *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(config);
                self.renewed.fetch_add(1, Ordering::Relaxed);
                tracing::info!(listener = self.name, certificate = %self.files.certificate.display(), "the certificates were read anew");
            }
            Err(error) => {
                self.failed.fetch_add(1, Ordering::Relaxed);
                tracing::error!(
                    listener = self.name,
                    %error,
                    "the new certificates cannot be used; the old ones stay"
                );
            }
        }
    }
}

/// SIGHUP ends nobody who has no certificates.
pub async fn keep_fresh(all: Vec<Arc<Certificates>>) {
    let mut asked = match signal(SignalKind::hangup()) {
        Ok(asked) => asked,
        Err(error) => return tracing::error!(%error, "certificates are not renewed: no signals"),
    };
    loop {
        let is_asked = tokio::select! {
            _ = asked.recv() => true,
            () = tokio::time::sleep(LOOK_EVERY) => false,
        };
        all.iter().for_each(|certificates| certificates.renew(is_asked));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(
        directory: &Path,
        names: [&str; 2],
        key_of: Option<&rcgen::CertifiedKey<rcgen::KeyPair>>,
    ) -> (Files, rcgen::CertifiedKey<rcgen::KeyPair>) {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate");
        let files = Files { certificate: directory.join(names[0]), key: directory.join(names[1]) };
        fs::write(&files.certificate, made.cert.pem()).expect("written");
        fs::write(&files.key, key_of.unwrap_or(&made).signing_key.serialize_pem()).expect("written");
        (files, made)
    }

    fn shown(certificates: &Certificates) -> *const ServerConfig {
        Arc::as_ptr(certificates.acceptor().config())
    }

    fn renewals(certificates: &Certificates) -> (u64, u64) {
        (certificates.renewed.load(Ordering::Relaxed), certificates.failed.load(Ordering::Relaxed))
    }

    #[test]
    fn changed_files_are_read_and_bad_ones_are_not_used() {
        let directory = tempfile::tempdir().expect("a directory");
        let (files, first) = write(directory.path(), ["c.pem", "k.pem"], None);
        let certificates = Certificates::load("api", files.clone()).expect("good files");
        let before = shown(&certificates);
        certificates.renew(false);
        assert_eq!(shown(&certificates), before, "nothing changed");
        certificates.renew(true);
        let asked = shown(&certificates);
        assert_ne!(asked, before, "they are read when that is asked for");

        fs::write(&files.certificate, "no certificate").expect("written");
        certificates.renew(false);
        assert_eq!((shown(&certificates), renewals(&certificates)), (asked, (1, 1)));
        certificates.renew(false);
        assert_eq!(renewals(&certificates), (1, 1), "told once");

        write(directory.path(), ["c.pem", "k.pem"], Some(&first));
        certificates.renew(true);
        assert_eq!(
            (shown(&certificates), renewals(&certificates)),
            (asked, (1, 2)),
            "a key of another certificate"
        );

        write(directory.path(), ["c.pem", "k.pem"], None);
        certificates.renew(true);
        assert_ne!(shown(&certificates), asked);
        assert_eq!(renewals(&certificates), (2, 2));
    }

    #[test]
    fn a_start_without_certificates_says_which_file_is_wrong() {
        let directory = tempfile::tempdir().expect("a directory");
        let (mut files, _) = write(directory.path(), ["c.pem", "k.pem"], None);
        fs::write(&files.certificate, "").expect("written");
        let told = Certificates::load("api", files.clone()).err().expect("refused").to_string();
        assert!(told.contains("c.pem") && told.contains("no certificate"), "{told}");
        (files.certificate, files.key) =
            (directory.path().join("other.pem"), directory.path().join("none.pem"));
        let told = Certificates::load("api", files).err().expect("refused").to_string();
        assert!(told.contains("other.pem"), "{told}");
    }
}
