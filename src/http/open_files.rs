//! The limit of open files: every connection is one, and so is every file of the log.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

const OTHER_FILES: u64 = 1_024;
const FILES_MIN: u64 = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the limit of open files (ulimit -n) is {allowed}; at least {FILES_MIN} are needed, and {OTHER_FILES} \
     beside server.max_connections"
)]
pub struct OpenFilesError {
    pub allowed: u64,
}

/// Raises the limit as far as it may be raised; an error if next to no connection fits.
pub fn connections_allowed(configured: usize) -> Result<usize, OpenFilesError> {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let allowed = if setrlimit(Resource::Nofile, raised).is_ok() { limit.maximum } else { limit.current };
    let connections = fitting(configured, allowed)?;
    if connections < configured {
        tracing::warn!(
            open_files = allowed,
            connections,
            configured,
            "the limit of open files (ulimit -n) is too low for server.max_connections, which is lowered to \
             what fits"
        );
    }
    Ok(connections)
}

/// Beside the other files. Where little is allowed, half is for connections.
fn fitting(configured: usize, allowed: Option<u64>) -> Result<usize, OpenFilesError> {
    let Some(allowed) = allowed else { return Ok(configured) };
    if allowed < FILES_MIN {
        return Err(OpenFilesError { allowed });
    }
    let room = allowed - OTHER_FILES.min(allowed / 2);
    Ok(usize::try_from(room).unwrap_or(usize::MAX).min(configured))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_fit_beside_the_files_of_the_log() {
        for (configured, allowed, fits) in [
            (10_000, None, 10_000),
            (10_000, Some(65_536), 10_000),
            (10_000, Some(11_024), 10_000),
            (10_000, Some(11_023), 9_999),
            (10_000, Some(1_024), 512),
            (10_000, Some(256), 128),
            (50, Some(256), 50),
        ] {
            assert_eq!(fitting(configured, allowed), Ok(fits), "{configured} of {allowed:?}");
        }
        assert!(fitting(1, Some(255)).expect_err("too few").to_string().contains("ulimit -n"));
    }
}
