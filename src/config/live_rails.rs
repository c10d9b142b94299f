//! `[rails.r4]` and `[rails.wompi]`. A secret stands in its key, in a variable of the environment,
//! or in a file of its own that nobody else may read; in two of these places at once it is refused.
//! No message has a secret in it.

use super::keys::Keys;
use super::pins::pins;
use super::values::{path, text_if};
use super::{Secret, ValueError};
use crate::network::network;
use crate::rails::http::BaseUrl;
use crate::rails::r4::{self, CreditBy, PathFamily, SignatureCase};
use crate::rails::wompi;
use domain::resources::banks::Catalogue;
use domain::values::venezuela::{BankCode, MobilePhone};
use ipnet::IpNet;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;
use uuid::Uuid;
use zeroize::Zeroizing;

const SECRET_CHARACTERS_MAX: usize = 1_024;
/// Encrypted keys are the longest.
const FILE_BYTES_MAX: u64 = 8_192;
const BESIDE: (&str, &str) = ("", "is required beside base_url");
/// Lets others than the owner do something.
const OTHERS: u32 = 0o077;
const TIMEOUT_SECONDS: u64 = 25;
/// Stands for the address of a rail that has none: its other keys are read all the same.
const NOWHERE: &str = "https://localhost";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct R4 {
    pub settings: r4::Settings,
    pub commerce_phone: Option<MobilePhone>,
    pub otp_banks: Vec<BankCode>,
    pub callback_uuid: Option<Secret>,
    pub callback_sources: Vec<IpNet>,
    pub notice_wait_seconds: i64,
}

impl R4 {
    /// `None` without a `base_url`. Without a feed of banks every bank is in the catalogue that the program has.
    pub(super) fn read(mut keys: Keys<'_>, poll_seconds: u64, has_bank_feed: bool) -> Option<R4> {
        let (base_url, is_given) = base_url(&mut keys)?;
        let r4 = R4 {
            settings: r4::Settings {
                commerce_token: needed(&mut keys, "commerce_token", token, is_given.then_some(BESIDE)),
                path_family: keys.one_of("path_family", PathFamily::Mb, &PathFamily::ALL),
                signature_case: keys.one_of("signature_case", SignatureCase::Lower, &SignatureCase::ALL),
                c2p_leading_space: keys.boolean("c2p_leading_space", false),
                credit_by: keys.one_of("credit_by", CreditBy::Vuelto, &CreditBy::ALL),
                timeout: timeout(&mut keys, is_given, poll_seconds),
                idle: idle(&mut keys),
                base_url,
            },
            commerce_phone: keys
                .optional("commerce_phone", |text| MobilePhone::parse(text).map_err(ValueError::from)),
            otp_banks: keys.list("otp_banks", otp_banks(), |text| otp_bank(text, has_bank_feed)),
            callback_uuid: secret(&mut keys, "callback_uuid", uuid),
            callback_sources: keys
                .list("callback_sources", Vec::new(), |text| network(text).map_err(ValueError::from)),
            notice_wait_seconds: keys.integer("notice_wait_seconds", 0, 0..=86_400),
        };
        let is_used = is_given && !keys.is_unread;
        keys.done();
        is_used.then_some(r4)
    }
}

/// `None` without a `base_url`.
pub(super) fn wompi(mut keys: Keys<'_>, poll_seconds: u64) -> Option<wompi::Settings> {
    let (base_url, is_given) = base_url(&mut keys)?;
    let wompi = wompi::Settings {
        public_key: needed(&mut keys, "public_key", public_key, is_given.then_some(BESIDE)),
        private_key: needed(&mut keys, "private_key", token, is_given.then_some(BESIDE)),
        events_secret: needed(&mut keys, "events_secret", token, is_given.then_some(BESIDE)),
        integrity_secret: needed(&mut keys, "integrity_secret", token, is_given.then_some(BESIDE)),
        customer_email: keys.optional("customer_email", email),
        timeout: timeout(&mut keys, is_given, poll_seconds),
        idle: idle(&mut keys),
        base_url,
    };
    let is_used = is_given && !keys.is_unread;
    keys.done();
    is_used.then_some(wompi)
}

fn base_url(keys: &mut Keys<'_>) -> Option<(BaseUrl, bool)> {
    let given = keys.optional("base_url", |text| BaseUrl::parse(text).map_err(ValueError::from));
    let pins = pins(keys, given.as_ref());
    let is_given = given.is_some();
    // The secrets of a rail that is not used need not be there.
    keys.is_unread = !is_given;
    Some((given.or_else(|| BaseUrl::parse(NOWHERE).ok())?.pinned(&pins), is_given))
}

/// Without a word of the secret in the refusal.
pub(super) type Parse = fn(&str) -> Result<Secret, ValueError>;

/// What is not read is an empty secret, which nobody gets to see.
pub(super) fn secret(keys: &mut Keys<'_>, name: &str, parse: Parse) -> Option<Secret> {
    let value = keys.optional(name, parse);
    let Some(file) = keys.optional(&format!("{name}_file"), path) else { return value };
    if value.is_some() {
        keys.bad(name, format!("{name}_file is there too: give one of them"));
    } else if keys.is_unread || !keys.source.reads_secrets {
        keys.is_unread = true;
    } else {
        match private_text(&file).and_then(|text| parse(&text)) {
            Ok(secret) => return Some(secret),
            Err(why) => keys.bad(&format!("{name}_file"), format!("{}: {why}", file.display())),
        }
    }
    Some(Secret::new(""))
}

/// `missing` is what is said of one that has to be there, if it has to, after an ending of its name.
pub(super) fn needed(
    keys: &mut Keys<'_>,
    name: &str,
    parse: Parse,
    missing: Option<(&str, &'static str)>,
) -> Secret {
    let secret = secret(keys, name, parse);
    if let (None, Some((ending, why))) = (&secret, missing) {
        keys.bad(&format!("{name}{ending}"), why);
    }
    secret.unwrap_or_else(|| Secret::new(""))
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
    text_if(fits, text, "must have 1 to 1024 visible characters of ASCII").map(Secret::new)
}

fn public_key(text: &str) -> Result<Secret, ValueError> {
    let fits = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    text_if(fits, text, "must have letters, digits, dashes and underscores").and_then(|text| token(&text))
}

fn uuid(text: &str) -> Result<Secret, ValueError> {
    let fits = text.len() == 36 && Uuid::try_parse(text).is_ok();
    text_if(fits, text, "must be a UUID of 36 characters").map(Secret::new)
}

fn email(text: &str) -> Result<String, ValueError> {
    let is_plain = text.len() <= 254 && text.bytes().all(|byte| byte.is_ascii_graphic());
    let parts = text.split_once('@');
    let fits = is_plain && parts.is_some_and(|(name, host)| !name.is_empty() && host.contains('.'));
    text_if(fits, text, "must be an e-mail address")
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
fn timeout(keys: &mut Keys<'_>, is_configured: bool, poll_seconds: u64) -> Duration {
    let seconds = keys.integer("timeout_seconds", TIMEOUT_SECONDS, 1..=3_600);
    if is_configured && seconds >= poll_seconds {
        keys.bad("timeout_seconds", "must be below rails.poll_seconds, after which the rail is asked");
    }
    Duration::from_secs(seconds)
}

/// Shorter than banks keep their connections, so that no order is written into one that is being closed.
fn idle(keys: &mut Keys<'_>) -> Duration {
    Duration::from_millis(keys.integer("idle_ms", 1_000, 0..=60_000))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, ConfigError};
    use crate::rails::http::IDLE;
    use std::fs::{self, OpenOptions};
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    use std::path::PathBuf;

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
        let settings = r4::Settings {
            base_url: BaseUrl::parse("http://127.0.0.1:9170").expect("an address"),
            commerce_token: Secret::new("hunter2"),
            path_family: PathFamily::Mb,
            signature_case: SignatureCase::Lower,
            c2p_leading_space: false,
            credit_by: CreditBy::Vuelto,
            timeout: Duration::from_secs(25),
            idle: IDLE,
        };
        assert_eq!((&r4.settings, r4.notice_wait_seconds, &r4.callback_uuid), (&settings, 0, &None));
        assert_eq!(r4.otp_banks, otp_banks());
        let given = format!(
            "{R4_LINES}path_family = \"R4\"\nsignature_case = \"upper\"\nc2p_leading_space = true\n\
             credit_by = \"credito_inmediato\"\ntimeout_seconds = 7\nidle_ms = 250\n"
        );
        let expected = r4::Settings {
            path_family: PathFamily::R4,
            signature_case: SignatureCase::Upper,
            c2p_leading_space: true,
            credit_by: CreditBy::CreditoInmediato,
            timeout: Duration::from_secs(7),
            idle: Duration::from_millis(250),
            ..settings
        };
        assert_eq!(parse(&given).expect("valid").rails.r4.expect("configured").settings, expected);
        let wompi = parse(&format!("{WOMPI_LINES}customer_email = \"e@f.example\"\n")).expect("valid");
        let expected = wompi::Settings {
            base_url: BaseUrl::parse("https://sandbox.wompi.co/v1").expect("an address"),
            public_key: Secret::new("pub_test_1"),
            private_key: Secret::new("prv_1"),
            events_secret: Secret::new("ev_1"),
            integrity_secret: Secret::new("in_1"),
            customer_email: Some("e@f.example".to_owned()),
            timeout: Duration::from_secs(25),
            idle: IDLE,
        };
        assert_eq!(wompi.rails.wompi, Some(expected));
    }

    #[test]
    fn a_secret_that_is_given_twice_is_not_missing() {
        let error =
            parse(&format!("{R4_LINES}commerce_token_file = \"/x\"\n")).expect_err("twice").to_string();
        assert!(error.contains("give one of them") && !error.contains(BESIDE.1), "{error}");
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
        assert_eq!(r4.settings.commerce_token.expose(), "from-outside");
    }

    #[test]
    fn files_of_secrets_are_read_when_they_are_private() {
        let folder = tempfile::tempdir().expect("a folder");
        let source = |path: PathBuf| {
            let lines =
                format!("[rails.r4]\nbase_url = \"http://localhost:1\"\ncommerce_token_file = {path:?}\n");
            let config = folder.path().join("config.toml");
            fs::write(&config, lines).expect("written");
            let read = Config::load(Some(&config), true);
            read.map(|config| config.rails.r4.expect("configured").settings.commerce_token)
        };
        for (mode, text) in [(0o600, "hunter2\n"), (0o400, "hunter2\r\n"), (0o600, "hunter2")] {
            let read = source(file(&folder, mode, text)).expect("readable");
            assert_eq!(read.expose(), "hunter2");
            let _ = fs::remove_file(folder.path().join(format!("secret-{mode:o}")));
        }
        for (mode, text) in
            [(0o640, "hunter2"), (0o604, "hunter2"), (0o600, ""), (0o600, "hunter2\n\n"), (0o600, "a b")]
        {
            let error = source(file(&folder, mode, text)).expect_err("refused").to_string();
            assert!(
                error.contains(": rails.r4.commerce_token_file: ") && !error.contains("hunter2"),
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
        let config = folder.path().join("config.toml");
        fs::write(&config, lines).expect("written");
        let rails = |reads_secrets| Config::load(Some(&config), reads_secrets).map(|config| config.rails.r4);
        assert_eq!(
            rails(true).expect("readable").expect("configured").settings.commerce_token.expose(),
            "hunter2"
        );
        fs::remove_file(&kept).expect("removed");
        assert_eq!(rails(false).expect("nothing is read"), None);
        assert!(rails(true).expect_err("gone").to_string().contains("rails.r4.commerce_token_file: "));
    }
}
