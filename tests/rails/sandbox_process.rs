//! The program of the sandbox, `pasarela-sandbox`, running as a bank in place of one of the test's own.

use crate::harness::client::Api;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A running sandbox; it is killed when it is dropped.
pub struct SandboxProcess {
    child: Child,
    /// Where it listens.
    pub url: String,
}

impl Drop for SandboxProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl SandboxProcess {
    /// One of a bank, `r4` or `wompi`, with its books in a folder.
    pub fn start(bank: &str, arguments: &[&str], data: &Path) -> SandboxProcess {
        let mut child = Command::new(program())
            .args([bank, "--listen", "127.0.0.1:0"])
            .args(arguments)
            .arg("--data")
            .arg(data)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the sandbox starts");
        let mut lines = BufReader::new(child.stdout.take().expect("its terminal")).lines();
        let url = loop {
            let line = lines.next().expect("a line with its address").expect("text");
            if let Some((_, after)) = line.split_once("listens on http://") {
                break format!("http://{}", after.split(';').next().expect("an address"));
            }
        };
        std::thread::spawn(move || lines.for_each(drop));
        SandboxProcess { child, url }
    }

    /// The calls of developers.
    pub fn developers(&self) -> Api {
        Api::new(&self.url, &[])
    }

    /// Sets its faults.
    pub fn faults(&self, faults: &Value) {
        self.developers().post("/sandbox/faults", &json!({ "faults": faults })).expect(200);
    }
}

/// The program beside the gateway's; built if nothing has built it.
fn program() -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_pasarela")).with_file_name("pasarela-sandbox");
    if !program.exists() {
        let profile = program.parent().and_then(Path::file_name).expect("a profile");
        let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        build.args(["build", "--offline", "--quiet", "-p", "sandbox"]);
        if profile == "release" {
            build.arg("--release");
        }
        assert!(build.status().expect("cargo runs").success(), "the sandbox does not build");
    }
    program
}
