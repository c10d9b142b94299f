//! Keys and tokens of a rail's API: not in Debug output, and zeroed when they go.

use std::fmt;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

#[derive(Clone)]
pub struct ApiSecret(Zeroizing<String>);

impl ApiSecret {
    pub fn new(text: impl Into<String>) -> ApiSecret {
        ApiSecret(Zeroizing::new(text.into()))
    }

    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// In constant time.
impl PartialEq for ApiSecret {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_bytes().ct_eq(other.0.as_bytes()).into()
    }
}

impl Eq for ApiSecret {}

impl fmt::Debug for ApiSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiSecret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_compared_and_not_shown() {
        let secret = ApiSecret::new("hunter2");
        assert_eq!((format!("{secret:?}").as_str(), secret.expose()), ("ApiSecret", "hunter2"));
        assert!(secret == ApiSecret::new("hunter2") && secret != ApiSecret::new("hunter"));
    }
}
