//! Configuration: the first line of an input is a variable of the environment, the rest the file.
//!
//! It is taken or refused in one line of bounded length; what is taken has secrets that its Debug
//! output does not show.

use crate::bytes::first_line;
use pasarela::config::Config;

pub fn run(input: &[u8]) {
    let (variable, file) = first_line(input);
    let (Ok(variable), Ok(file)) = (std::str::from_utf8(variable), std::str::from_utf8(file)) else { return };
    let environment = variable.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    match Config::parse(file, environment) {
        Ok(config) => {
            let shown = format!("{config:?}");
            for tenant in &config.bootstrap_tenants {
                for key in [&tenant.test_key, &tenant.live_key].into_iter().flatten() {
                    let hidden = key.expose().len() < 8 || !shown.contains(key.expose());
                    assert!(hidden, "Debug output shows a key");
                }
            }
        }
        Err(error) => {
            let line = error.to_string();
            assert!(!line.is_empty() && !line.contains(['\n', '\r']), "not one line: {line:?}");
            assert!(line.len() < 1024 + 16 * (input.len() + 64), "{} bytes of complaint", line.len());
        }
    }
}
