//! Why there is no configuration, in one line for the operator: the file or the variable, the key,
//! and what its value must be. Values are never quoted: some of them are secrets.

use super::TOKEN_CHARACTERS_MIN;
use std::borrow::Cow;
use std::io;
use std::path::PathBuf;

/// Such as "must be a path"; the reader of the key adds its name.
pub type ValueError = Cow<'static, str>;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {error}{}", variable.as_ref().map(|variable| format!(" (in {variable})")).unwrap_or_default())]
pub struct BadKey {
    /// Its dotted path, or the variable that stands for it.
    pub key: String,
    pub error: ValueError,
    pub variable: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("{}", one_line(&format!("{}: {source}", path.display())))]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{}", one_line(&format!("{variable}: must be UTF-8")))]
    NotUtf8 { variable: String },
    #[error("{}", one_line(&format!("line {line}: {}", source.message())))]
    Syntax { line: usize, source: toml::de::Error },
    #[error("{}", one_line(&.0.iter().map(BadKey::to_string).collect::<Vec<_>>().join("; ")))]
    BadKeys(Vec<BadKey>),
    #[error("{}", one_line(&format!("{}: {source}", path.display())))]
    InFile { path: PathBuf, source: Box<ConfigError> },
    #[error("{}", one_line(&format!("admin.token: {}", .0)))]
    Token(#[from] TokenError),
}

/// Whatever a file name or a parser's error contains.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `admin.token` is said before it.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    #[error(
        "is required; set it here or in PASARELA__ADMIN__TOKEN, or have one made with admin.generate_token = \
         true \
         (or, for local work, admin.insecure_dev_token = true)"
    )]
    Missing,
    #[error("is required because {listener} is no loopback address; insecure_dev_token does not count there")]
    MissingBeyondLoopback { listener: &'static str },
    #[error("must have at least {TOKEN_CHARACTERS_MIN} characters because {listener} is no loopback address")]
    Short { listener: &'static str },
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("{}: is empty; remove it, or write a token into it", path.display())]
    Empty { path: PathBuf },
    #[error("{}: {why}", path.display())]
    Bad { path: PathBuf, why: ValueError },
}
