//! `[rails.r4]` and `[rails.wompi]`. A secret stands in its key, in a variable of the environment,
//! or in a file of its own that nobody else may read; in two of these places at once it is refused.
//! Files are read when a server starts and not when the configuration is parsed. No message has a
//! secret in it.

use super::error::BadKey;
use super::keys::Keys;
use super::pins::pins;
use super::values::path;
use super::{ConfigError, Secret, ValueError};
use crate::network::Network;
use domain::resources::banks::Catalogue;
use domain::values::venezuela::{BankCode, MobilePhone};
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use url::{Host, Url};
use uuid::Uuid;
use zeroize::Zeroizing;

const SECRET_CHARACTERS_MAX: usize = 1_024;
/// Encrypted keys are the longest.
const FILE_BYTES_MAX: u64 = 8_192;
const BESIDE: &str = "is required beside base_url";
/// Lets others than the owner do something.
const OTHERS: u32 = 0o077;
const TIMEOUT_SECONDS: u64 = 25;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SecretSource {
    #[default]
    None,
    Value(Secret),
    File(PathBuf),
}

/// `None` without a `base_url`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct R4 {
    pub base_url: String,
    pub certificate_sha256: Vec<[u8; 32]>,
    pub commerce_token: SecretSource,
    pub commerce_phone: Option<MobilePhone>,
    pub path_family: &'static str,
    pub signature_case: &'static str,
    pub c2p_leading_space: bool,
    pub credit_by: &'static str,
    pub otp_banks: Vec<BankCode>,
    pub callback_uuid: SecretSource,
    pub callback_sources: Vec<Network>,
    pub notice_wait_seconds: u64,
    pub timeout_seconds: u64,
    pub idle_ms: u64,
}

/// `None` without a `base_url`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wompi {
    pub base_url: String,
    pub certificate_sha256: Vec<[u8; 32]>,
    pub public_key: SecretSource,
    pub private_key: SecretSource,
    pub events_secret: SecretSource,
    pub integrity_secret: SecretSource,
    pub customer_email: Option<String>,
    pub timeout_seconds: u64,
    pub idle_ms: u64,
}

impl R4 {
    /// Without a feed of banks every bank is in the catalogue that the program has.
    pub(super) fn read(mut keys: Keys<'_>, poll_seconds: u64, has_bank_feed: bool) -> Option<R4> {
        let base_url = keys.optional("base_url", base_url);
        let r4 = R4 {
            commerce_token: secret(&mut keys, "commerce_token", token),
            commerce_phone: keys
                .optional("commerce_phone", |text| MobilePhone::parse(text).map_err(ValueError::from)),
            path_family: keys.one_of("path_family", "MB", &[("MB", "MB"), ("R4", "R4")]),
            signature_case: keys.one_of("signature_case", "lower", &[("lower", "lower"), ("upper", "upper")]),
            c2p_leading_space: keys.boolean("c2p_leading_space", false),
            credit_by: keys.one_of(
                "credit_by",
                "vuelto",
                &[("vuelto", "vuelto"), ("credito_inmediato", "credito_inmediato")],
            ),
            otp_banks: keys.list("otp_banks", otp_banks(), |text| otp_bank(text, has_bank_feed)),
            callback_uuid: secret(&mut keys, "callback_uuid", uuid),
            callback_sources: keys
                .list("callback_sources", Vec::new(), |text| text.parse().map_err(ValueError::from)),
            notice_wait_seconds: keys.integer("notice_wait_seconds", 0, 0..=86_400),
            timeout_seconds: timeout(&mut keys, base_url.is_some(), poll_seconds),
            idle_ms: idle(&mut keys),
            certificate_sha256: pins(&mut keys, base_url.as_deref()),
            base_url: base_url.clone().unwrap_or_default(),
        };
        let configured = base_url.map(|_| {
            required(&keys, "commerce_token", &r4.commerce_token, BESIDE);
            r4
        });
        keys.done();
        configured
    }

    fn resolve(&mut self) -> Result<(), ConfigError> {
        self.commerce_token.resolve("rails.r4.commerce_token", token)?;
        self.callback_uuid.resolve("rails.r4.callback_uuid", uuid)
    }
}

impl Wompi {
    pub(super) fn read(mut keys: Keys<'_>, poll_seconds: u64) -> Option<Wompi> {
        let base_url = keys.optional("base_url", base_url);
        let wompi = Wompi {
            public_key: secret(&mut keys, "public_key", public_key),
            private_key: secret(&mut keys, "private_key", token),
            events_secret: secret(&mut keys, "events_secret", token),
            integrity_secret: secret(&mut keys, "integrity_secret", token),
            customer_email: keys.optional("customer_email", email),
            timeout_seconds: timeout(&mut keys, base_url.is_some(), poll_seconds),
            idle_ms: idle(&mut keys),
            certificate_sha256: pins(&mut keys, base_url.as_deref()),
            base_url: base_url.clone().unwrap_or_default(),
        };
        let configured = base_url.map(|_| {
            for (name, source) in [
                ("public_key", &wompi.public_key),
                ("private_key", &wompi.private_key),
                ("events_secret", &wompi.events_secret),
                ("integrity_secret", &wompi.integrity_secret),
            ] {
                required(&keys, name, source, BESIDE);
            }
            wompi
        });
        keys.done();
        configured
    }

    fn resolve(&mut self) -> Result<(), ConfigError> {
        self.public_key.resolve("rails.wompi.public_key", public_key)?;
        self.private_key.resolve("rails.wompi.private_key", token)?;
        self.events_secret.resolve("rails.wompi.events_secret", token)?;
        self.integrity_secret.resolve("rails.wompi.integrity_secret", token)
    }
}

pub(super) fn read_secrets(r4: &mut Option<R4>, wompi: &mut Option<Wompi>) -> Result<(), ConfigError> {
    r4.as_mut().map_or(Ok(()), R4::resolve)?;
    wompi.as_mut().map_or(Ok(()), Wompi::resolve)
}

impl SecretSource {
    /// None before its file was read.
    pub fn secret(&self) -> Option<&Secret> {
        match self {
            SecretSource::Value(secret) => Some(secret),
            SecretSource::None | SecretSource::File(_) => None,
        }
    }

    pub(super) fn resolve(&mut self, key: &str, parse: Parse) -> Result<(), ConfigError> {
        if let SecretSource::File(file) = self {
            let failed = |why: ValueError| {
                ConfigError::BadKeys(vec![BadKey {
                    key: format!("{key}_file"),
                    error: format!("{}: {why}", file.display()).into(),
                    variable: None,
                }])
            };
            let text = private_text(file).map_err(failed)?;
            *self = SecretSource::Value(parse(&text).map_err(failed)?);
        }
        Ok(())
    }
}

/// Without a word of the secret in the refusal.
pub(super) type Parse = fn(&str) -> Result<Secret, ValueError>;

pub(super) fn secret(keys: &mut Keys<'_>, name: &str, parse: Parse) -> SecretSource {
    let value = keys.optional(name, parse);
    let file = keys.optional(&format!("{name}_file"), path);
    match (value, file) {
        (Some(value), Some(_)) => {
            keys.bad(name, format!("{name}_file is there too: give one of them"));
            SecretSource::Value(value)
        }
        (Some(value), None) => SecretSource::Value(value),
        (None, Some(file)) => SecretSource::File(file),
        (None, None) => SecretSource::None,
    }
}

pub(super) fn required(keys: &Keys<'_>, name: &str, source: &SecretSource, why: &'static str) {
    if *source == SecretSource::None {
        keys.bad(name, why);
    }
}

/// Its owner alone can read the file; the last line end is left out.
fn private_text(path: &Path) -> Result<Zeroizing<String>, ValueError> {
    let is_file = |metadata: &std::fs::Metadata| metadata.is_file();
    // Checked before the file is opened: opening a pipe waits for a writer.
    if !std::fs::metadata(path).map_err(|error| error.to_string())?.is_file() {
        return Err("must be a file".into());
    }
    let file = File::open(path).map_err(|error| error.to_string())?;
    let metadata = file.metadata().map_err(|error| error.to_string())?;
    if !is_file(&metadata) {
        return Err("must be a file".into());
    }
    if metadata.mode() & OTHERS != 0 {
        return Err(format!(
            "others than its owner may use it: its mode must be 0600 or stricter, and is {:04o}",
            metadata.mode() & 0o7777
        )
        .into());
    }
    let mut text = Zeroizing::new(String::new());
    file.take(FILE_BYTES_MAX + 3).read_to_string(&mut text).map_err(|error| error.to_string())?;
    let cut = text.strip_suffix('\n').map_or(text.as_str(), |text| text.strip_suffix('\r').unwrap_or(text));
    Ok(Zeroizing::new(cut.to_owned()))
}

fn token(text: &str) -> Result<Secret, ValueError> {
    let fits =
        (1..=SECRET_CHARACTERS_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
    if fits {
        Ok(Secret::new(text))
    } else {
        Err(format!("must have 1 to {SECRET_CHARACTERS_MAX} visible characters of ASCII").into())
    }
}

fn public_key(text: &str) -> Result<Secret, ValueError> {
    let fits = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    if fits { token(text) } else { Err("must have letters, digits, dashes and underscores".into()) }
}

fn uuid(text: &str) -> Result<Secret, ValueError> {
    match Uuid::try_parse(text) {
        Ok(_) if text.len() == 36 => Ok(Secret::new(text)),
        _ => Err("must be a UUID of 36 characters".into()),
    }
}

fn email(text: &str) -> Result<String, ValueError> {
    let is_plain = text.len() <= 254 && text.bytes().all(|byte| byte.is_ascii_graphic());
    match text.split_once('@') {
        Some((name, host)) if is_plain && !name.is_empty() && host.contains('.') => Ok(text.to_owned()),
        _ => Err("must be an e-mail address".into()),
    }
}

/// Its customers wait for an SMS: of a bank that is not there nobody would ask for it.
fn otp_bank(text: &str, has_bank_feed: bool) -> Result<BankCode, ValueError> {
    let code = BankCode::parse(text)?;
    if has_bank_feed || Catalogue::embedded().get(code).is_some() {
        Ok(code)
    } else {
        Err("there is no such bank; `pasarela admin bank list` has them all".into())
    }
}

fn otp_banks() -> Vec<BankCode> {
    BankCode::parse("0102").into_iter().collect()
}

/// Shorter than the time to the first question: nobody is asked about an order that may still be on
/// its way. What is not configured makes no calls.
fn timeout(keys: &mut Keys<'_>, is_configured: bool, poll_seconds: u64) -> u64 {
    let seconds = keys.integer("timeout_seconds", TIMEOUT_SECONDS, 1..=3_600);
    if is_configured && seconds >= poll_seconds {
        keys.bad("timeout_seconds", "must be below rails.poll_seconds, after which the rail is asked");
    }
    seconds
}

/// Shorter than banks keep their connections, so that no order is written into one that is being closed.
fn idle(keys: &mut Keys<'_>) -> u64 {
    keys.integer("idle_ms", 1_000, 0..=60_000)
}

pub(super) fn base_url(text: &str) -> Result<String, ValueError> {
    let fits = Url::parse(text).is_ok_and(|url| {
        let is_loopback = match url.host() {
            Some(Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        };
        let is_safe = url.scheme() == "https" && url.has_host() || url.scheme() == "http" && is_loopback;
        let is_bare = url.username().is_empty() && url.password().is_none();
        is_safe && is_bare && url.query().is_none() && url.fragment().is_none()
    });
    if fits {
        Ok(text.trim_end_matches('/').to_owned())
    } else {
        Err("must be an https URL without user, query and fragment; http goes to loopback only".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use std::fs::{self, OpenOptions};
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;

    const R4_LINES: &str =
        "[rails.r4]\nbase_url = \"http://127.0.0.1:9170/\"\ncommerce_token = \"hunter2\"\n";
    const WOMPI_LINES: &str = "[rails.wompi]\nbase_url = \"https://sandbox.wompi.co/v1\"\npublic_key \
        = \"pub_test_1\"\n\
        private_key = \"prv_1\"\nevents_secret = \"ev_1\"\nintegrity_secret = \"in_1\"\n";

    fn parse(text: &str) -> Result<Config, ConfigError> {
        Config::parse(text, [])
    }

    fn complaint(text: &str) -> String {
        let error = parse(text).expect_err(text).to_string();
        assert!(!error.contains("hunter2") && !error.contains('\n'), "{error}");
        error
    }

    fn file(folder: &tempfile::TempDir, mode: u32, text: &str) -> PathBuf {
        let path = folder.path().join(format!("secret-{mode:o}"));
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(mode)
            .open(&path)
            .expect("a file");
        file.write_all(text.as_bytes()).expect("written");
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
        fs::set_permissions(&path, permissions).expect("its mode");
        path
    }

    #[test]
    fn without_an_address_nothing_is_configured() {
        let rails = parse("").expect("defaults").rails;
        assert_eq!((rails.r4, rails.wompi, rails.poll_seconds, rails.probe_seconds), (None, None, 60, 5));
        assert_eq!(parse("[rails.r4]\nbase_url = \"\"\n").expect("empty").rails.r4, None);
    }

    #[test]
    fn defaults_and_what_was_given() {
        let r4 = parse(R4_LINES).expect("valid").rails.r4.expect("configured");
        let shown = format!("{r4:?}");
        assert!(!shown.contains("hunter2"), "{shown}");
        assert_eq!(
            (r4.base_url.as_str(), r4.path_family, r4.signature_case),
            ("http://127.0.0.1:9170", "MB", "lower")
        );
        assert_eq!((r4.credit_by, r4.timeout_seconds, r4.notice_wait_seconds), ("vuelto", 25, 0));
        assert_eq!(r4.idle_ms, 1_000);
        assert_eq!((r4.otp_banks, r4.c2p_leading_space), (otp_banks(), false));
        assert_eq!(r4.callback_uuid, SecretSource::None);
        let wompi = parse(WOMPI_LINES).expect("valid").rails.wompi.expect("configured");
        assert_eq!((wompi.base_url.as_str(), wompi.timeout_seconds), ("https://sandbox.wompi.co/v1", 25));
        assert_eq!(wompi.private_key.secret().map(Secret::expose), Some("prv_1"));
    }

    #[test]
    fn a_secret_that_is_given_twice_is_not_missing() {
        let error =
            parse(&format!("{R4_LINES}commerce_token_file = \"/x\"\n")).expect_err("twice").to_string();
        assert!(error.contains("give one of them") && !error.contains(BESIDE), "{error}");
    }

    #[test]
    fn refusals_name_the_key() {
        for (lines, key) in [
            ("[rails.r4]\nbase_url = \"http://127.0.0.1:1\"\n".to_owned(), "rails.r4.commerce_token: "),
            (R4_LINES.replace("127.0.0.1", "10.0.0.1"), "rails.r4.base_url: "),
            (format!("{R4_LINES}commerce_token_file = \"/x\"\n"), "rails.r4.commerce_token: "),
            (R4_LINES.replace("hunter2", "hunter2 hunter2"), "rails.r4.commerce_token: "),
            (format!("{R4_LINES}timeout_seconds = 60\n"), "rails.r4.timeout_seconds: "),
            (format!("[rails]\npoll_seconds = 25\n{R4_LINES}"), "rails.r4.timeout_seconds: "),
            (format!("{R4_LINES}idle_ms = 60001\n"), "rails.r4.idle_ms: "),
            (format!("{R4_LINES}path_family = \"mb\"\n"), "rails.r4.path_family: "),
            (format!("{R4_LINES}callback_uuid = \"7\"\n"), "rails.r4.callback_uuid: "),
            (format!("{R4_LINES}callback_sources = [\"bank\"]\n"), "rails.r4.callback_sources[0]: "),
            (format!("{R4_LINES}otp_banks = [\"102\"]\n"), "rails.r4.otp_banks[0]: "),
            (format!("{R4_LINES}commerce_phone = \"1\"\n"), "rails.r4.commerce_phone: "),
            (format!("{R4_LINES}secret = 1\n"), "rails.r4.secret: "),
            (WOMPI_LINES.replace("events_secret = \"ev_1\"\n", ""), "rails.wompi.events_secret: "),
            (WOMPI_LINES.replace("pub_test_1", "../x"), "rails.wompi.public_key: "),
            (format!("{WOMPI_LINES}customer_email = \"x\"\n"), "rails.wompi.customer_email: "),
            (format!("{WOMPI_LINES}private_key_file = \"/x\"\n"), "rails.wompi.private_key: "),
            ("[rails]\npoll_seconds = 0\n".to_owned(), "rails.poll_seconds: "),
            ("[rails]\nprobe_seconds = 301\n".to_owned(), "rails.probe_seconds: "),
        ] {
            let complaint = complaint(&lines);
            assert!(complaint.contains(key), "{complaint} does not name {key}");
        }
    }

    #[test]
    fn a_variable_is_a_secret_too() {
        let variable = ("PASARELA__RAILS__R4__COMMERCE_TOKEN".to_owned(), "from-outside".to_owned());
        let config = Config::parse("[rails.r4]\nbase_url = \"http://[::1]:1\"\n", [variable]).expect("valid");
        let r4 = config.rails.r4.expect("configured");
        assert_eq!(r4.commerce_token.secret().map(Secret::expose), Some("from-outside"));
    }

    #[test]
    fn files_of_secrets_are_read_when_they_are_private() {
        let folder = tempfile::tempdir().expect("a folder");
        let source = |path: PathBuf| {
            let mut source = SecretSource::File(path);
            source.resolve("rails.r4.commerce_token", token).map(|()| source)
        };
        for (mode, text) in [(0o600, "hunter2\n"), (0o400, "hunter2\r\n"), (0o600, "hunter2")] {
            let read = source(file(&folder, mode, text)).expect("readable");
            assert_eq!(read.secret().map(Secret::expose), Some("hunter2"));
            let _ = fs::remove_file(folder.path().join(format!("secret-{mode:o}")));
        }
        for (mode, text) in
            [(0o640, "hunter2"), (0o604, "hunter2"), (0o600, ""), (0o600, "hunter2\n\n"), (0o600, "a b")]
        {
            let error = source(file(&folder, mode, text)).expect_err("refused").to_string();
            assert!(
                error.starts_with("rails.r4.commerce_token_file: ") && !error.contains("hunter2"),
                "{error}"
            );
        }
        for path in [folder.path().to_owned(), folder.path().join("none")] {
            assert!(source(path).is_err());
        }
        let long = "x".repeat(SECRET_CHARACTERS_MAX + 1);
        assert!(source(file(&folder, 0o600, &long)).is_err());
    }

    #[test]
    fn files_are_read_when_a_server_starts() {
        let folder = tempfile::tempdir().expect("a folder");
        let kept = file(&folder, 0o600, "hunter2\n");
        let lines =
            format!("[rails.r4]\nbase_url = \"http://localhost:1\"\ncommerce_token_file = {kept:?}\n");
        assert!(matches!(
            parse(&lines).expect("valid").rails.r4.map(|r4| r4.commerce_token),
            Some(SecretSource::File(_))
        ));
        let config = folder.path().join("config.toml");
        fs::write(&config, lines).expect("written");
        let mut rails = Config::load(Some(&config)).expect("valid").rails;
        rails.read_secrets().expect("readable");
        let read = rails.r4.expect("configured");
        assert_eq!(read.commerce_token.secret().map(Secret::expose), Some("hunter2"));
    }
}
