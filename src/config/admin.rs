//! `[admin]`: the operators' listener, and who may use it.

use super::error::{ConfigError, ValueError};
use super::keys::{Keys, settings};
use super::server::tls;
use super::values::{address, text_if};
use super::{Secret, Tls};
use domain::entities::approval::Approvable;
use std::fmt::Display;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

pub const TOKEN_FILE: &str = "admin.token";
/// Where others than this machine can try it; a shorter token is worth a warning elsewhere.
pub const TOKEN_CHARACTERS_MIN: usize = 32;
const APPROVAL_SECONDS_MAX: u32 = 30 * 24 * 60 * 60;
const TOKEN_BYTES: usize = 32;
const NO_TOKEN: &str = "is required; set it here or in PASARELA__ADMIN__TOKEN, or have one made with \
    admin.generate_token = true (or, for local work, admin.insecure_dev_token = true)";

settings! {
    Admin {
        listen: SocketAddr = parsed(([127, 0, 0, 1], 9090).into(), address),
        token: Option<Secret> = optional(token),
        generate_token: bool = boolean(false),
        insecure_dev_token: bool = boolean(false),
        hosts: Vec<String> = list(Vec::new(), host),
        approvals: Vec<Approvable> = list(Vec::new(), approvable),
        approval_seconds: u32 = integer(24 * 60 * 60, 1..=APPROVAL_SECONDS_MAX),
        tls: Option<Tls> = nested(tls),
    }
}

impl Admin {
    /// The token that operators have to send; without one whoever reaches the loopback address is one.
    /// `exposed` is the key of a listener that the token opens to other machines, if there is one. A node of a
    /// cluster has one: the token opens its keys and its log.
    pub(super) fn access(
        &self,
        data: &Path,
        exposed: Option<&'static str>,
        is_node: bool,
    ) -> Result<Option<Secret>, ConfigError> {
        match (self.presented(data)?, exposed) {
            (Some(token), Some(listener)) if token.expose().len() < TOKEN_CHARACTERS_MIN => {
                Err(bad(format_args!(
                    "must have at least {TOKEN_CHARACTERS_MIN} characters because {listener} is no loopback address"
                )))
            }
            (None, Some(listener)) => Err(bad(format_args!(
                "is required because {listener} is no loopback address; insecure_dev_token does not count there"
            ))),
            (None, None) if is_node => Err(bad(
                "is required because cluster.etcd is set; insecure_dev_token is for one machine alone",
            )),
            (token, _) => Ok(token),
        }
    }

    /// The token that the command line sends: nothing is asked of its length.
    pub fn presented(&self, data: &Path) -> Result<Option<Secret>, ConfigError> {
        match &self.token {
            Some(token) => Ok(Some(token.clone())),
            None => match generated(&data.join(TOKEN_FILE))? {
                None if !self.insecure_dev_token => Err(bad(NO_TOKEN)),
                token => Ok(token),
            },
        }
    }

    pub fn generate(&self, data: &Path) -> Result<Option<PathBuf>, ConfigError> {
        let path = data.join(TOKEN_FILE);
        if !self.generate_token || self.token.is_some() || generated(&path)?.is_some() {
            return Ok(None);
        }
        write_token(data, &path).map_err(|error| bad(format_args!("{}: {error}", path.display())))?;
        Ok(Some(path))
    }
}

fn bad(why: impl Display) -> ConfigError {
    ConfigError::new(format_args!("admin.token: {why}"))
}

fn generated(path: &Path) -> Result<Option<Secret>, ConfigError> {
    let why: ValueError = match fs::read_to_string(path) {
        Ok(text) if text.trim().is_empty() => "is empty; remove it, or write a token into it".into(),
        Ok(text) => match token(text.trim()) {
            Ok(token) => return Ok(Some(token)),
            Err(why) => why,
        },
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => error.to_string().into(),
    };
    Err(bad(format_args!("{}: {why}", path.display())))
}

/// The file is whole from its first moment, and never replaces another.
fn write_token(data: &Path, path: &Path) -> std::io::Result<()> {
    wal::make_directory(data)?;
    let mut random = [0; TOKEN_BYTES];
    getrandom::fill(&mut random).map_err(std::io::Error::other)?;
    let part = data.join(format!("{TOKEN_FILE}.{}", std::process::id()));
    let written = (|| {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&part)?;
        writeln!(file, "{}", hex::encode(random))?;
        file.sync_all()?;
        match fs::hard_link(&part, path) {
            // Another start was first: its token counts.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            linked => linked,
        }
    })();
    let _ = fs::remove_file(&part);
    written?;
    File::open(data)?.sync_all()
}

fn token(text: &str) -> Result<Secret, ValueError> {
    let fits = text.bytes().all(|byte| byte.is_ascii_graphic());
    text_if(fits, text, "must be visible ASCII without spaces").map(Secret::new)
}

fn approvable(text: &str) -> Result<Approvable, ValueError> {
    Approvable::from_name(text).ok_or_else(|| {
        let names = Approvable::ALL.map(Approvable::name).join(", ");
        format!("must be one of {names}").into()
    })
}

fn host(text: &str) -> Result<String, ValueError> {
    let parsed = text.parse::<hyper::http::uri::Authority>();
    let fits = !text.is_empty() && parsed.is_ok_and(|authority| authority.host() == text);
    let why = "must be a host name or an address without a port, such as ops.example.com";
    text_if(fits, &text.to_ascii_lowercase(), why)
}
