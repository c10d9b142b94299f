//! The shadow itself: what is left of a few commands after a power cut is what POSIX promises of
//! them and nothing else.

use super::disk::{Chance, Disk, Kept};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Runs commands on a disk; `sync` of coreutils syncs the file or folder that it is given.
fn run(disk: &Disk, commands: &str, more: &[(&str, &str)]) -> Output {
    let mut shell = Command::new("sh");
    shell.arg("-ec").arg(commands).current_dir(disk.root()).envs(disk.environment());
    shell.envs(more.iter().copied()).output().expect("it runs")
}

#[track_caller]
fn runs(disk: &Disk, commands: &str, more: &[(&str, &str)]) {
    let output = run(disk, commands, more);
    assert!(output.status.success(), "{commands}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The files of a folder and their content, as one text.
fn shown(folder: &Path) -> String {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("a folder").flatten() {
            let name = entry.path().strip_prefix(folder).expect("inside").display().to_string();
            if entry.path().is_dir() {
                found.insert(format!("{name}/"), String::new());
                folders.push(entry.path());
            } else {
                found.insert(name, fs::read_to_string(entry.path()).expect("readable"));
            }
        }
    }
    found
        .into_iter()
        .map(|(name, text)| format!("{name} {text}").trim().to_owned())
        .collect::<Vec<_>>()
        .join(", ")
}

#[track_caller]
fn leaves(commands: &str, expected: &str) {
    let disk = Disk::new();
    runs(&disk, commands, &[]);
    disk.cut(Kept::Nothing);
    assert_eq!(shown(&disk.root()), expected, "after: {commands}");
}

#[test]
fn nothing_is_durable_but_what_was_synced() {
    leaves("printf a >f", "");
    leaves("printf a >f; sync f", "");
    leaves("printf a >f; sync .", "f");
    leaves("printf a >f; sync f; sync .", "f a");
    leaves("printf a >f; sync -d f; sync .; printf b >>f", "f a");
    leaves("printf a >f; sync f; sync .; printf b >>f; sync f", "f ab");
    leaves("printf ab >f; sync f; sync .; printf c >f", "f ab");
    leaves("printf ab >f; sync f; sync .; printf c >f; sync f", "f c");
    leaves("printf ab >f; sync f .; printf X | dd of=f conv=notrunc status=none; sync f", "f Xb");
}

#[test]
fn a_name_is_what_its_folder_had_at_the_last_sync() {
    leaves("printf a >f; sync f .; mv f g", "f a");
    leaves("printf a >f; sync f .; mv f g; sync .", "g a");
    leaves("printf a >f; sync f .; rm f", "f a");
    leaves("printf a >f; sync f .; rm f; sync .", "");
    // The old file comes back with its own content, not with that of the file in its place.
    leaves("printf a >f; sync f .; rm f; printf b >f; sync f", "f a");
    leaves("printf a >f; sync f .; printf b >g; sync g; mv g f", "f a");
    leaves("printf a >f; sync f .; printf b >g; sync g; mv g f; sync .", "f b");
    // Two names of one file.
    leaves("printf a >f; sync f .; ln f g; printf b >>f; sync f", "f ab");
    leaves("printf a >f; sync f .; ln f g; printf b >>g; sync .; sync f; rm f; sync .", "g ab");
}

#[test]
fn folders_are_names_too() {
    leaves("mkdir d; printf a >d/f; sync d/f d", "");
    leaves("mkdir d; sync .; printf a >d/f; sync d/f", "d/");
    leaves("mkdir d; printf a >d/f; sync d/f d .", "d/, d/f a");
    leaves("mkdir d; printf a >d/f; sync d/f d .; mv d e", "d/, d/f a");
    leaves("mkdir d e; sync .; printf a >d/f; sync d/f d; mv d/f e/f; sync e", "d/, d/f a, e/, e/f a");
    leaves("mkdir d; printf a >d/f; sync d/f d .; rm -r d; mkdir d; sync .", "d/");
}

#[test]
fn a_large_file_that_grew_and_one_that_shrank_are_copied() {
    let disk = Disk::new();
    runs(&disk, "head -c 5000000 /dev/zero >f; sync f .; printf end >>f; sync f; printf more >>f", &[]);
    disk.cut(Kept::Nothing);
    let kept = fs::read(disk.root().join("f")).expect("there");
    assert!(kept.len() == 5_000_003 && kept.ends_with(b"end"), "{} bytes", kept.len());
    runs(&disk, "truncate -s 4500000 f; sync f", &[]);
    disk.cut(Kept::Nothing);
    assert_eq!(fs::metadata(disk.root().join("f")).expect("there").len(), 4_500_000);
}

#[test]
fn what_a_cut_left_is_durable() {
    let disk = Disk::new();
    runs(&disk, "mkdir d; printf a >d/f; ln d/f d/g; sync d/f d .", &[]);
    disk.cut(Kept::Nothing);
    disk.cut(Kept::Nothing);
    runs(&disk, "rm d/f; printf b >>d/g", &[]);
    disk.cut(Kept::Nothing);
    assert_eq!(shown(&disk.root()), "d/, d/f a, d/g a");
}

#[test]
fn a_disk_may_keep_more_and_never_less() {
    let (mut seen, mut chance) = (BTreeMap::new(), Chance(1));
    for _ in 0..60 {
        let disk = Disk::new();
        runs(&disk, "printf a >f; sync f .; printf b >>f; printf c >g", &[]);
        disk.cut(Kept::Some(&mut chance));
        *seen.entry(shown(&disk.root())).or_insert(0) += 1;
    }
    for expected in ["f a", "f ab", "f a, g c"] {
        assert!(seen.contains_key(expected), "never {expected}: {seen:?}");
    }
    assert!(seen.keys().all(|left| left.starts_with("f a")), "{seen:?}");
}

#[test]
fn the_power_goes_right_after_a_sync() {
    let disk = Disk::new();
    // The second sync kills the `sync` that made it, and the shell says so.
    let output = run(&disk, "printf a >f; sync f .; printf b >>f; sync f", &[("POWER_OFF_AT", "2")]);
    assert_eq!(output.status.code(), Some(137), "{}", String::from_utf8_lossy(&output.stderr));
    disk.cut(Kept::Nothing);
    assert_eq!(shown(&disk.root()), "f a");
}

#[test]
fn a_lying_disk_ignores_the_syncs_that_it_is_told_to() {
    for (ignored, left) in [("f", "f"), (".", ""), ("g:f", "f"), ("d/*", "f a")] {
        let disk = Disk::new();
        runs(&disk, "printf a >f; sync f .", &[("POWER_IGNORE", ignored)]);
        disk.cut(Kept::Nothing);
        assert_eq!(shown(&disk.root()), left, "{ignored} is ignored");
    }
}

#[test]
fn what_the_shadow_does_not_know_ends_the_process() {
    let disk = Disk::new();
    let output = run(&disk, "dd if=/dev/zero of=f bs=1 count=1 oflag=dsync", &[]);
    let why = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && why.contains("opened with O_SYNC or O_DSYNC"), "{why}");
}
