//! The limit of open files: every connection is one, and so is every file of the log.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files beside the connections: those of the log and of the runtime.
const OTHER_FILES: u64 = 1_024;

/// Raises the limit as far as it may be raised, and warns if that is too little for so many connections.
pub fn raise_for(connections_max: usize) {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let allowed = if setrlimit(Resource::Nofile, raised).is_ok() { limit.maximum } else { limit.current };
    let needed = connections_max as u64 + OTHER_FILES;
    if let Some(allowed) = allowed.filter(|allowed| *allowed < needed) {
        tracing::warn!(allowed, needed, "the limit of open files is low for server.max_connections");
    }
}
