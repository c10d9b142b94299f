//! The protection of the process's files and memory from others on the machine: the modes of the
//! files that it makes, no core dumps, and a warning for what is open to others already.

use crate::config::Config;
use crate::recovery::directory::{CARD_KEY_FILE, LOG_DIRECTORY, MARK_KEY_FILE};
use rustix::fs::Mode;
use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit, umask};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const OTHERS_THAN_OWNER: u32 = 0o077;
/// Permissions of everybody who is not of the group: keys of TLS often belong to one.
const EVERYBODY: u32 = 0o007;

/// Data, backups, restored copies, exports, whatever makes them.
pub fn keep_new_files_private() {
    umask(Mode::RWXG | Mode::RWXO);
}

/// Keeps the kernel from writing a core of this process, and other processes of the same user from
/// reading its memory: it holds cards, codes and keys. A handler that the kernel pipes cores to
/// ignores the limit, so the process also says that it is not to be dumped.
pub fn forbid_core_dumps() -> std::io::Result<()> {
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    Ok(())
}

pub fn allow_tracing() -> std::io::Result<()> {
    Ok(set_dumpable_behavior(DumpableBehavior::Dumpable)?)
}

pub fn warn_of_open_files(config: &Config) {
    for (path, mode) in open_to_others(config) {
        tracing::warn!(path = %path.display(), mode = format_args!("{mode:04o}"), "others on this machine may read it; chmod go-rwx");
    }
}

fn open_to_others(config: &Config) -> Vec<(PathBuf, u32)> {
    let data = &config.storage.path;
    let mut private = vec![data.clone(), data.join(LOG_DIRECTORY)];
    private.extend([MARK_KEY_FILE, CARD_KEY_FILE, crate::config::TOKEN_FILE].map(|name| data.join(name)));
    private.extend(config.storage.card_key_file.clone());
    // Files inside a closed directory cannot be reached, whatever their own mode.
    if mode(data).is_some_and(|mode| mode & OTHERS_THAN_OWNER == 0) {
        private.retain(|path| !path.starts_with(data));
    }
    let keys = [&config.server.tls, &config.admin.tls].into_iter().flatten().map(|tls| tls.key.clone());
    let shared = keys.chain(config.file_with_token.clone());
    let private = private.into_iter().map(|path| (path, OTHERS_THAN_OWNER));
    private
        .chain(shared.map(|path| (path, EVERYBODY)))
        .filter_map(|(path, mask)| Some((mode(&path)?, path, mask)))
        .filter(|(mode, _, mask)| mode & mask != 0)
        .map(|(mode, path, _)| (path, mode))
        .collect()
}

fn mode(path: &Path) -> Option<u32> {
    fs::metadata(path).ok().map(|found| found.permissions().mode() & 0o7777)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_may_read_is_found() {
        let directory = tempfile::tempdir().expect("a directory");
        let chmod =
            |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("changed");
        let (data, key) = (directory.path().join("data"), directory.path().join("tls.pem"));
        fs::create_dir(&data).expect("a directory");
        for path in [&key, &data.join(MARK_KEY_FILE), &data.join(CARD_KEY_FILE)] {
            fs::write(path, "x").expect("written");
        }
        let text = format!(
            "[admin.tls]\ncertificate = \"c\"\nkey = \"{}\"\n[storage]\npath = \"{}\"",
            key.display(),
            data.display()
        );
        let config = Config::parse(&text, []).expect("valid");
        chmod(&data, 0o755);
        chmod(&data.join(MARK_KEY_FILE), 0o640);
        chmod(&data.join(CARD_KEY_FILE), 0o600);
        chmod(&key, 0o644);
        let found = open_to_others(&config);
        assert_eq!(found, [(data.clone(), 0o755), (data.join(MARK_KEY_FILE), 0o640), (key.clone(), 0o644)]);
        chmod(&data, 0o700);
        chmod(&key, 0o640);
        assert_eq!(open_to_others(&config), []);
    }
}
