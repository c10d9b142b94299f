//! The directories of a node's further partitions, which are in that of the first, and have its secrets.

use super::admission::ClusterError;
use super::directory::Belongs;
use crate::config::Config;
use crate::recovery::at;
use crate::recovery::directory;
use std::fs::File;

/// All of it but the log.
pub(super) fn prepare(node: &Config, own: &Config, cluster: &str) -> Result<(), ClusterError> {
    let data = own.storage.path.as_path();
    wal::make_directory(data).map_err(at(data))?;
    directory::copy_keys(&node.storage.path, data)?;
    let belongs = Belongs::read(data)?;
    if belongs.is_none_or(|belongs| belongs.cluster != cluster || belongs.barred) {
        Belongs::new(cluster, &own.cluster.partition)?.write(data)?;
    }
    Ok(File::open(data).and_then(|data| data.sync_all()).map_err(at(data))?)
}
