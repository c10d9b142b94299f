//! Directories whose names survive a power cut: POSIX does not promise a name before its parent is synced.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;

/// Makes a directory and its missing parents. One that is there may be what a start left that died
/// before this: its name is made durable too.
pub fn make_directory(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let was_there = path.is_dir();
    if !was_there {
        if !parent.is_dir() {
            make_directory(parent)?;
        }
        match fs::create_dir(path) {
            // Another process was faster.
            Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_dir() => {}
            made => made?,
        }
    }
    match File::open(parent).and_then(|parent| parent.sync_all()) {
        // Whoever made it for this process keeps its parent to himself, and has to see to it.
        Err(error) if was_there && error.kind() == ErrorKind::PermissionDenied => Ok(()),
        synced => synced,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_made_with_those_above_them_and_again() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("one/two/three");
        make_directory(&path).expect("made");
        make_directory(&path).expect("made again");
        assert!(path.is_dir());
        fs::write(place.path().join("file"), "").expect("written");
        assert!(make_directory(&place.path().join("file")).is_err());
        assert!(make_directory(&place.path().join("file/two")).is_err());
    }
}
