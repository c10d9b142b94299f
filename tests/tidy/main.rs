//! The rules that the compiler does not keep: who may import whom, which words names use, that documents point at what exists, that nothing is left unfinished, that every
//! dependency may be used, that the SDKs say what the description says, and that everything has one version.

mod circles;
mod citations;
mod documents;
mod faults;
mod files;
mod layers;
mod licences;
mod rooms;
mod runner;
mod sdks;
mod stored;
mod versions;
mod words;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The folder that cargo starts tests in. One that is compiled in is another's where checkouts share what
/// they build.
fn root() -> &'static Path {
    Path::new(".")
}

fn rust_files(folder: &str) -> Vec<PathBuf> {
    files_with(folder, "rs")
}

fn files_with(folder: &str, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    assert!(folders[0].is_dir(), "there is no {folder}");
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == ending) {
                found.push(path);
            }
        }
    }
    found
}

/// Lines of code, without comments: what may be imported is said in code.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("a readable file");
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// What a script of the repository said; nothing where there is no Python and there need not be.
fn python(folder: &Path, command: &[&str]) -> Option<Output> {
    let output = Command::new("python3").args(command).current_dir(folder).output();
    let is_required = std::env::var_os("PASARELA_PYTHON").is_some();
    assert!(
        output.is_ok() || !is_required,
        "python3 is not here, and PASARELA_PYTHON says that it has to be"
    );
    if output.is_err() {
        eprintln!("skipped: python3 is not here");
    }
    output.ok()
}
