//! What runs the tests must not say that all is well where it is not: canaries for `tests/run`, over programs that behave
//! like tests, and for `pgo/found`, over files with names.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const OK: &str = "echo 'test a ... ok'; echo 'test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured'";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn script(path: &Path, does: &str) {
    fs::write(path, format!("#!/usr/bin/env bash\n{does}\n")).expect("written");
    fs::set_permissions(path, fs::Permissions::from_mode(0o700)).expect("set");
}

/// `tests/run` where these programs are what cargo builds.
fn runner(folder: &Path, programs: &[&str]) -> Command {
    let mut built = String::new();
    for (n, does) in programs.iter().enumerate() {
        let program = folder.join(format!("program-{n}"));
        script(&program, does);
        let told = serde_json::json!({
            "reason": "compiler-artifact", "profile": { "test": true }, "executable": program,
            "target": { "name": format!("program-{n}"), "kind": ["test"] },
            "manifest_path": folder.join("Cargo.toml"),
        });
        built += &format!("{told}\n");
    }
    fs::write(folder.join("built"), built).expect("written");
    let bin = folder.join("bin");
    fs::create_dir(&bin).expect("a folder");
    script(&bin.join("cargo"), &format!("cat {}", folder.join("built").display()));
    let mut command = Command::new(root().join("tests/run"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(bin).chain(std::env::split_paths(&path));
    command.env("PATH", std::env::join_paths(paths).expect("paths")).args(["--test", "any"]);
    command
}

/// Whether the run is well, and what it says.
fn run(programs: &[&str]) -> (bool, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let output = runner(folder.path(), programs).output().expect("it runs");
    (output.status.success(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

/// Fails so many tests beside others, and none alone.
fn crowded(tests: usize) -> String {
    let names: Vec<String> = (0..tests).map(|n| format!("echo 'test t{n} ... FAILED'")).collect();
    format!(
        "case \"$*\" in *--exact*) {OK}; exit;; esac; {}; \
        echo 'test result: FAILED. 0 passed; {tests} failed; 0 ignored'; exit 101",
        names.join("; ")
    )
}

#[test]
fn a_run_of_tests_is_well_only_if_all_of_them_ran_and_passed() {
    let none = "echo 'test result: ok. 0 passed; 0 failed; 0 ignored'";
    let failing =
        "echo 'test t ... FAILED'; echo 'test result: FAILED. 0 passed; 1 failed; 0 ignored'; exit 101";
    let (some, many) = (crowded(3), crowded(4));
    let killed = format!("{OK}; kill -KILL $$");
    let crashed = format!("{}; kill -SEGV $$", crowded(1).replace("exit 101", "true"));
    let odd = format!("{OK}; exit 3");
    // Another process wrote into the line that names it.
    let torn = "echo 'test t ... 2026 WARN'; echo FAILED; \
        echo 'test result: FAILED. 1 passed; 1 failed; 0 ignored'; exit 101";
    let cases: [(&[&str], bool, &str); 10] = [
        (&[OK, none], true, "== 1 passed, 0 failed"),
        (&[OK, failing], false, "t: FAILED"),
        (&[OK, &some], true, "skipped: passed alone: program-1: t2"),
        (&[OK, &many], false, "4 tests passed only alone"),
        (&[none, none], false, "no test ran"),
        (&[OK, &killed], false, "(died: 137): FAILED"),
        (&[OK, &crashed], false, "(died: 139): FAILED"),
        (&[OK, &odd], false, "(died: 3): FAILED"),
        (&[OK, torn], false, "(unnamed, of 1): FAILED"),
        (&[OK, "echo nothing; exit 101"], false, "(died: 101): FAILED"),
    ];
    for (programs, is_well, words) in cases {
        let (well, said) = run(programs);
        assert!(well == is_well && said.contains(words), "{programs:?}: {well}, {said}");
    }
    assert!(!run(&[]).0, "nothing was built");
}

#[test]
fn who_stops_a_run_of_tests_lets_its_programs_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let [begun, ended] = ["begun", "ended"].map(|name| folder.path().join(name));
    let does = format!(
        "trap 'touch {}; exit' TERM; touch {}; while true; do sleep 0.1; done",
        ended.display(),
        begun.display()
    );
    let mut running =
        runner(folder.path(), &[&does]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs");
    let until = |path: &PathBuf| {
        let since = Instant::now();
        while !path.exists() {
            assert!(since.elapsed() < Duration::from_secs(30), "no {}", path.display());
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    until(&begun);
    let pid = running.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().expect("kill runs").success());
    until(&ended);
    assert_eq!(running.wait().expect("it ended").code(), Some(130));
}

/// Symbols of as many functions as the profile has of ours; the first so many as it has them.
fn found(arguments: &[&str], same: usize) -> (bool, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let pgo = folder.path().join("pgo");
    fs::create_dir(&pgo).expect("a folder");
    fs::copy(root().join("pgo/found"), pgo.join("found")).expect("copied");
    let symbol = |n: usize, hash: char, path: &str| {
        let hash: String = std::iter::repeat_n(hash, 16).collect();
        format!("_ZN6domain{path}{n}17h{hash}E\n")
    };
    let counted: String = (0..100).map(|n| symbol(n, 'a', "4rule")).collect();
    let is_by_paths = arguments.contains(&"--paths");
    let other = |n: usize| if is_by_paths { symbol(n, 'a', "5other") } else { symbol(n, 'b', "4rule") };
    let built: String = (0..100).map(|n| if n < same { symbol(n, 'a', "4rule") } else { other(n) }).collect();
    fs::write(pgo.join("release.profdata"), counted).expect("written");
    let program = folder.path().join("program");
    fs::write(&program, built).expect("written");
    let (before, after): (Vec<&str>, Vec<&str>) = arguments.iter().partition(|word| word.starts_with("--"));
    let output = Command::new(pgo.join("found")).args(before).arg(&program).args(after).output();
    let output = output.expect("it runs");
    (output.status.success(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

#[test]
fn a_profile_that_ages_is_told_and_one_that_is_old_fails() {
    for (arguments, same, is_well, words) in [
        (&[][..], 95, true, "95 are in the program, 5 are there under another name"),
        (&[], 80, true, "pgo/found: 80 % of what the profile knows"),
        (&[], 74, false, "pgo/found: 74 %"),
        (&["90"], 89, false, "pgo/found: 89 %"),
        (&["90"], 90, true, "10 are there under another name"),
        (&["--paths"], 95, true, "5 are gone"),
        (&["--paths"], 80, true, "skipped: pgo/found: 80 %"),
        (&["--paths"], 70, false, "skipped: pgo/found: 70 %"),
    ] {
        let (well, said) = found(arguments, same);
        assert!(well == is_well && said.contains(words), "{arguments:?}, {same}: {well}, {said}");
        assert_eq!(same < 90, said.contains("pgo/train"), "{said}");
    }
}
