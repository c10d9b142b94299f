//! Tests of what a directory is taken for, after a death at each step.

use super::*;
use tempfile::TempDir;

fn directory() -> TempDir {
    tempfile::tempdir().expect("a directory")
}

/// Has a copy made with these parts, which are a node's.
fn copied(data: &Path) {
    let folder = &data.join(FOLDER);
    seed::arrive(folder, || {
        for part in [LOG_DIRECTORY, "rates"] {
            fs::create_dir(folder.join(part)).map_err(at(folder))?;
            fs::write(folder.join(part).join("CURRENT"), part).map_err(at(folder))?;
        }
        fs::write(folder.join(MARK_KEY_FILE), "secret").map_err(at(folder))?;
        Ok::<(), ClusterError>(Belongs::new("a cluster", "main")?.write(folder)?)
    })
    .expect("a copy");
}

const IN_CLUSTER: &str = "this directory is in a cluster already: start it with pasarela serve";

fn refused(data: &Path) -> String {
    left(data).expect_err("it is refused").to_string()
}

fn sorted(directory: &Path) -> Vec<String> {
    let names = seed::names(directory).expect("names").into_iter();
    let mut names: Vec<String> = names.map(|name| name.into_string().expect("text")).collect();
    names.sort();
    names
}

#[test]
fn a_whole_copy_comes_into_its_place_after_a_death_at_any_step() {
    let parts = [CLUSTER_FILE, MARK_KEY_FILE, "rates", LOG_DIRECTORY];
    for moved in 0..=parts.len() {
        let data = directory();
        let data = data.path();
        copied(data);
        for part in &parts[..moved] {
            fs::rename(data.join(FOLDER).join(part), data.join(part)).expect("it moves");
        }
        let expected = if moved == 0 { Left::Copy } else { Left::Moving };
        assert_eq!(left(data).expect("it goes on"), expected, "after {moved} parts");
        finish(data).expect("it goes on");
        assert_eq!(sorted(data), ["CLUSTER", "log", "mark.key", "rates"]);
        assert!(refused(data).ends_with(IN_CLUSTER));
    }
}

#[test]
fn the_log_is_the_last_part_that_moves() {
    let data = directory();
    let data = data.path();
    copied(data);
    // What stands in the way of the log stops it there.
    fs::create_dir_all(data.join(LOG_DIRECTORY).join("of another")).expect("a folder");
    assert!(refused(data).ends_with("there is something in this directory"));
    finish(data).expect_err("there is something in the place of the log");
    assert_eq!(sorted(data), ["CLUSTER", "join", "log", "mark.key", "rates"]);
    assert!(refused(data).ends_with(IN_CLUSTER), "nothing is written over");
}

#[test]
fn what_broke_off_goes_and_what_is_somebody_elses_stays() {
    let data = directory();
    let data = data.path();
    assert_eq!(left(data).expect("it is empty"), Left::Nothing);
    let folder = &data.join(FOLDER);
    let broken = seed::arrive(folder, || {
        fs::write(folder.join("mark.key"), "secret").map_err(at(folder))?;
        assert_eq!(left(data).expect("it is taken anew"), Left::Nothing);
        Err(ClusterError::Refused("the stream broke off".to_owned()))
    });
    assert_eq!(broken.map_err(|why| why.to_string()), Err("the stream broke off".to_owned()));
    assert_eq!(sorted(data), Vec::<String>::new());
    fs::create_dir(folder).expect("a folder");
    assert_eq!(left(data).expect("a call that was ended at once"), Left::Nothing);
    fs::write(folder.join("of somebody"), "").expect("a file");
    assert!(refused(data).ends_with("there is something in this directory"));
}
