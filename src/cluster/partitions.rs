//! The directories of a node's further partitions, which are in that of the first, and have its secrets.

use super::admission::ClusterError;
use super::directory::Belongs;
use super::founding;
use crate::config::Config;
use crate::recovery::at;
use crate::recovery::directory::{self, LOG_DIRECTORY};
use std::fs::File;

/// Makes a partition's directory where there is none: its log is empty, and goes on from the agreed one as that of a
/// node that was away does, by a copy of another node's where etcd has no longer all of it. A death at any step leaves
/// what the next call goes on from. `node` is the configuration of the whole node.
pub fn make(node: &Config, partition: u8) -> Result<(), ClusterError> {
    let own = node.of_partition(partition);
    let data = own.storage.path.as_path();
    if data.join(LOG_DIRECTORY).join("CURRENT").is_file() && Belongs::read(data)?.is_some() {
        return Ok(());
    }
    let Some(belongs) = Belongs::read(&node.storage.path)? else { return Ok(()) };
    prepare(node, &own, &belongs.cluster)?;
    founding::open(&own).map(drop)
}

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
