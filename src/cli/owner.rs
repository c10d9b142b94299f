//! Commands that write into a data directory have to be run as its owner: files that root leaves
//! there keep the service from starting.

use super::Failure;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A directory that is not there is made by whoever makes it.
pub fn must_be_ours(data: &Path) -> Result<(), Failure> {
    let ours = rustix::process::geteuid().as_raw();
    match fs::metadata(data) {
        Ok(found) if found.uid() != ours => Err(Failure::Other(refused(data, &name_of(found.uid())))),
        _ => Ok(()),
    }
}

fn refused(data: &Path, owner: &str) -> String {
    let data = data.display();
    format!(
        "{data}: this directory belongs to {owner}, who could not read what this command would leave there, \
         so nothing was done; run it as {owner}: runuser -u {owner} -- pasarela …"
    )
}

fn name_of(uid: u32) -> String {
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let named = users.lines().find_map(|line| {
        let mut words = line.split(':');
        let name = words.next()?;
        (words.nth(1)? == uid.to_string()).then(|| name.to_owned())
    });
    named.unwrap_or_else(|| format!("#{uid}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_of_another_user_is_refused_with_the_user_to_run_as() {
        let directory = tempfile::tempdir().expect("a directory");
        assert!(must_be_ours(directory.path()).is_ok());
        assert!(must_be_ours(&directory.path().join("nowhere")).is_ok());
        if !rustix::process::geteuid().is_root() {
            return;
        }
        std::os::unix::fs::chown(directory.path(), Some(4_321), None).expect("root may");
        let why = must_be_ours(directory.path()).expect_err("it is another's").to_string();
        assert!(why.contains("runuser -u #4321 -- pasarela") && why.lines().count() == 1, "{why}");
        assert_eq!(name_of(0), "root");
    }
}
