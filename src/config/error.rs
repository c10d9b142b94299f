//! The reason why there is no configuration, in one line for the operator: the file or the
//! variable, the key, and what its value must be. Values are never quoted: some of them are
//! secrets.

use super::TOKEN_CHARACTERS_MIN;
use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// The rule that a value breaks, such as "must be a path"; the reader of the key adds its name.
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

/// A key whose value cannot be accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadKey {
    /// The key's dotted path, or the variable that stands for it.
    pub key: String,
    /// The reason why its value is refused.
    pub error: ValueError,
    /// The variable that the value came from, unless it came from the file.
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

/// The reason why there is no configuration: one line that names the key.
#[derive(Debug)]
pub enum ConfigError {
    /// The file cannot be read.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A variable is not UTF-8.
    NotUtf8 { variable: String },
    /// The text is not TOML.
    Syntax {
        /// The line, from 1.
        line: usize,
        /// The parser's error.
        source: toml::de::Error,
    },
    /// Values that cannot be accepted, all of them at once.
    BadKeys(Vec<BadKey>),
    /// The errors of a file.
    InFile {
        /// The file.
        path: PathBuf,
        /// The reason why its content is refused.
        source: Box<ConfigError>,
    },
    /// The operators' access is not configured.
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

/// The reason why the operators' token is refused: the key `admin.token` is said before it.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// No token is set.
    #[error(
        "is required; set it here or in PASARELA__ADMIN__TOKEN, or have one made with admin.generate_token = \
         true \
         (or, for local work, admin.insecure_dev_token = true)"
    )]
    Missing,
    /// No token is set, and other machines reach a listener that it opens.
    #[error("is required because {listener} is no loopback address; insecure_dev_token does not count there")]
    MissingBeyondLoopback {
        /// The key of the listener.
        listener: &'static str,
    },
    /// The token is so short that other machines could guess it.
    #[error("must have at least {TOKEN_CHARACTERS_MIN} characters because {listener} is no loopback address")]
    Short {
        /// The key of the listener.
        listener: &'static str,
    },
    /// The file of a generated one cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file of a generated one is empty.
    #[error("{}: is empty; remove it, or write a token into it", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The text in that file is no token.
    #[error("{}: {source}", path.display())]
    Bad {
        /// The file.
        path: PathBuf,
        /// The rule that a token must keep.
        source: ValueError,
    },
}

impl From<TokenError> for ConfigError {
    fn from(error: TokenError) -> ConfigError {
        ConfigError::Token(error)
    }
}
