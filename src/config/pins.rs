//! `certificate_sha256` of a live rail: the fingerprints of the certificates that its bank may show.

use super::ValueError;
use super::keys::Keys;
use crate::rails::http::BaseUrl;

const PINS: &str = "certificate_sha256";

/// Plain HTTP has none.
pub(super) fn pins(keys: &mut Keys<'_>, base_url: Option<&BaseUrl>) -> Vec<[u8; 32]> {
    let pins = keys.list(PINS, Vec::new(), fingerprint);
    if base_url.is_some_and(|url| !url.is_https()) && !pins.is_empty() {
        keys.bad(PINS, "base_url must be https: over http no certificate is shown");
    }
    pins
}

fn fingerprint(text: &str) -> Result<[u8; 32], ValueError> {
    let is_parted = text.contains(':') && text.split(':').all(|byte| byte.len() == 2);
    let digits = if is_parted { text.replace(':', "") } else { text.to_owned() };
    let mut fingerprint = [0; 32];
    hex::decode_to_slice(digits, &mut fingerprint)
        .map_err(|_| "must be a SHA-256 of 64 hexadecimal digits, with or without colons between bytes")?;
    Ok(fingerprint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    const R4_LINES: &str = "[rails.r4]\nbase_url = \"http://127.0.0.1:9170/\"\ncommerce_token = \"t\"\n";
    const WOMPI_LINES: &str = "[rails.wompi]\nbase_url = \"https://sandbox.wompi.co/v1\"\npublic_key \
        = \"a\"\n\
        private_key = \"b\"\nevents_secret = \"c\"\nintegrity_secret = \"d\"\n";

    fn pin(fingerprint: &str) -> String {
        format!("certificate_sha256 = [\"{fingerprint}\"]\n")
    }

    #[test]
    fn fingerprints_are_read_as_programs_print_them() {
        let bare = "0a".repeat(32);
        let colons = ["FF"; 32].join(":");
        let address = BaseUrl::parse("https://sandbox.wompi.co/v1").expect("an address");
        let expected = address.clone().pinned(&[[0x0a; 32], [0xff; 32]]);
        let lines = format!("{WOMPI_LINES}certificate_sha256 = [\"{bare}\", \"{colons}\"]\n");
        let pinned = |config: Config| config.rails.wompi.expect("configured").base_url;
        assert_eq!(pinned(Config::parse(&lines, []).expect("valid")), expected);
        let variable = |text: String| ("PASARELA__RAILS__WOMPI__CERTIFICATE_SHA256".to_owned(), text);
        let outside = Config::parse(WOMPI_LINES, [variable(format!("{bare}, {colons}"))]).expect("valid");
        assert_eq!(pinned(outside), expected);
        let bolivares = format!("{R4_LINES}certificate_sha256 = [\"{bare}\"]\n").replace("http:", "https:");
        let of_r4 =
            Config::parse(&bolivares, []).expect("valid").rails.r4.expect("configured").settings.base_url;
        assert_eq!(
            of_r4,
            BaseUrl::parse("https://127.0.0.1:9170/").expect("an address").pinned(&[[0x0a; 32]])
        );
        let emptied = Config::parse(&lines, [variable(String::new())]).expect("valid");
        assert_eq!(pinned(emptied), address);
    }

    #[test]
    fn refusals_name_the_key() {
        for (lines, key) in [
            (format!("{R4_LINES}{}", pin(&"0".repeat(64))), "rails.r4.certificate_sha256: "),
            (format!("{WOMPI_LINES}{}", pin(&"0".repeat(63))), "rails.wompi.certificate_sha256[0]: "),
            (format!("{WOMPI_LINES}{}", pin(&"0".repeat(66))), "rails.wompi.certificate_sha256[0]: "),
            (format!("{WOMPI_LINES}{}", pin(&"g".repeat(64))), "rails.wompi.certificate_sha256[0]: "),
            (format!("{WOMPI_LINES}{}", pin(&"0:00".repeat(21))), "rails.wompi.certificate_sha256[0]: "),
            (format!("{WOMPI_LINES}{}", pin("")), "rails.wompi.certificate_sha256[0]: "),
        ] {
            let complaint = Config::parse(&lines, []).expect_err(&lines).to_string();
            assert!(complaint.contains(key), "{complaint} does not name {key}");
        }
    }
}
