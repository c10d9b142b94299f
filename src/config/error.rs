//! Why there is no configuration, in one line for the operator: the file or the variable, the key,
//! and what its value must be. Values are never quoted: some of them are secrets.

use super::TOKEN_CHARACTERS_MIN;
use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// Such as "must be a path"; the reader of the key adds its name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ValueError(Cow<'static, str>);

impl From<&'static str> for ValueError {
    fn from(rule: &'static str) -> ValueError {
        ValueError(Cow::Borrowed(rule))
    }
}

impl From<String> for ValueError {
    fn from(rule: String) -> ValueError {
        ValueError(Cow::Owned(rule))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadKey {
    /// Its dotted path, or the variable that stands for it.
    pub key: String,
    pub error: ValueError,
    pub variable: Option<String>,
}

impl fmt::Display for BadKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.error)?;
        match &self.variable {
            Some(variable) => write!(f, " (in {variable})"),
            None => Ok(()),
        }
    }
}

#[derive(Debug)]
pub enum ConfigError {
    Unreadable { path: PathBuf, source: io::Error },
    NotUtf8 { variable: String },
    Syntax { line: usize, source: toml::de::Error },
    BadKeys(Vec<BadKey>),
    InFile { path: PathBuf, source: Box<ConfigError> },
    Token(TokenError),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            ConfigError::Unreadable { path, source } => format!("{}: {source}", path.display()),
            ConfigError::NotUtf8 { variable } => format!("{variable}: must be UTF-8"),
            ConfigError::Syntax { line, source } => format!("line {line}: {}", source.message()),
            ConfigError::BadKeys(keys) => keys.iter().map(BadKey::to_string).collect::<Vec<_>>().join("; "),
            ConfigError::InFile { path, source } => format!("{}: {source}", path.display()),
            ConfigError::Token(error) => format!("admin.token: {error}"),
        };
        // The message is one line, whatever a file name or a parser's error contains.
        f.write_str(&text.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

impl Error for ConfigError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            ConfigError::Unreadable { source, .. } => Some(source),
            ConfigError::Syntax { source, .. } => Some(source),
            ConfigError::InFile { source, .. } => Some(source),
            ConfigError::Token(error) => error.source(),
            ConfigError::NotUtf8 { .. } | ConfigError::BadKeys(_) => None,
        }
    }
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
    #[error("{}: {source}", path.display())]
    Bad { path: PathBuf, source: ValueError },
}

impl From<TokenError> for ConfigError {
    fn from(error: TokenError) -> ConfigError {
        ConfigError::Token(error)
    }
}
