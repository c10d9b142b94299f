//! TLS on the operators' listener of a real server: the command line reaches it, and a renewed
//! certificate is shown after SIGHUP (`config.toml`, `[admin.tls]`).

use crate::harness::server::Server;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The time that a signal may take to have its effect.
const PATIENCE: Duration = Duration::from_secs(90);

fn write(directory: &Path) {
    let made =
        rcgen::generate_simple_self_signed(vec!["pasarela.example".to_owned()]).expect("a certificate");
    std::fs::write(directory.join("certificate.pem"), made.cert.pem()).expect("written");
    std::fs::write(directory.join("key.pem"), made.signing_key.serialize_pem()).expect("written");
}

fn reaches(server: &Server) -> bool {
    server.command(&["admin", "status", "--json"]).status.success()
}

#[track_caller]
fn eventually(server: &Server) {
    let deadline = Instant::now() + PATIENCE;
    while !reaches(server) {
        assert!(Instant::now() < deadline, "the new certificate is not shown: {}", server.log_tail());
        sleep(Duration::from_millis(20));
    }
}

#[test]
fn operators_are_reached_over_tls_and_certificates_are_renewed() {
    let files = tempfile::tempdir().expect("a directory");
    write(files.path());
    let path = |name: &str| files.path().join(name).display().to_string();
    let server = Server::start_with(&[
        ("PASARELA__ADMIN__TLS__CERTIFICATE", &path("certificate.pem")),
        ("PASARELA__ADMIN__TLS__KEY", &path("key.pem")),
    ]);
    eventually(&server);
    assert!(server.admin().try_get("/metrics").is_err(), "it still speaks plain HTTP");
    // The command trusts the certificate in the file, which the server does not show yet.
    write(files.path());
    assert!(!reaches(&server), "another certificate was trusted");
    server.hang_up();
    eventually(&server);
    // A file that cannot be used leaves the last good one in force.
    let good = std::fs::read(path("key.pem")).expect("the key");
    std::fs::write(path("key.pem"), "no key").expect("written");
    server.hang_up();
    let deadline = Instant::now() + PATIENCE;
    while !server.log_tail().contains("the old ones stay") {
        assert!(Instant::now() < deadline, "nothing was told: {}", server.log_tail());
        sleep(Duration::from_millis(20));
    }
    assert!(reaches(&server));
    std::fs::write(path("key.pem"), good).expect("written");
}

#[test]
fn a_start_with_half_of_it_names_the_other_half() {
    let server = Server::shared();
    let told = |name: &str| {
        let config = server.data().join("half.toml");
        std::fs::write(
            &config,
            format!("[admin]\ninsecure_dev_token = true\n[server.tls]\n{name} = \"/nowhere.pem\"\n"),
        )
        .expect("written");
        let output = server.command(&["serve", "--config", config.to_str().expect("UTF-8")]);
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for (name, missing) in [("certificate", "server.tls.key"), ("key", "server.tls.certificate")] {
        let (code, line) = told(name);
        assert_eq!((code, line.lines().count()), (Some(2), 1), "{line}");
        assert!(line.contains(missing), "{line}");
    }
}
