//! Why there is no configuration, in one line for the operator: the file or the variable, the key,
//! and what its value must be. Values are never quoted: some of them are secrets.

use std::borrow::Cow;
use std::fmt::Display;
use std::path::Path;

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
#[error("{0}")]
pub struct ConfigError(String);

impl ConfigError {
    /// One line, whatever a file name or a parser's error contains.
    pub(super) fn new(why: impl Display) -> ConfigError {
        ConfigError(why.to_string().split_whitespace().collect::<Vec<_>>().join(" "))
    }

    pub(super) fn in_file(path: &Path, why: impl Display) -> ConfigError {
        ConfigError::new(format_args!("{}: {why}", path.display()))
    }
}
