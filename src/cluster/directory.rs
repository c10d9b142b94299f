//! The file `CLUSTER` in a data directory: which cluster it belongs to, and under which name it is
//! known there.

use crate::recovery::directory::CLUSTER_FILE;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// The content of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Belongs {
    /// The random name of the cluster.
    pub cluster: String,
    /// The partition whose log this is.
    pub partition: String,
    /// A random name of this directory: two nodes of one name are told apart by it.
    pub id: String,
    /// Whether it was taken out to be one machine again, which bars it from the cluster for ever.
    #[serde(default)]
    pub barred: bool,
}

impl Belongs {
    /// A directory that is new in a cluster.
    pub fn new(cluster: &str, partition: &str) -> io::Result<Belongs> {
        Ok(Belongs {
            cluster: cluster.to_owned(),
            partition: partition.to_owned(),
            id: random_name()?,
            barred: false,
        })
    }

    /// The content of a directory's file; `None` if there is none.
    pub fn read(data: &Path) -> io::Result<Option<Belongs>> {
        match fs::read(data.join(CLUSTER_FILE)) {
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes).map_err(io::Error::other)?)),
            // A path that is no directory belongs to no cluster; whoever opens it says what is
            // wrong with it.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Writes the file, whole or not at all.
    pub fn write(&self, data: &Path) -> io::Result<()> {
        let part = data.join(format!("{CLUSTER_FILE}.new"));
        let mut file = File::create(&part)?;
        file.write_all(&serde_json::to_vec(self).map_err(io::Error::other)?)?;
        file.write_all(b"\n")?;
        file.sync_all()?;
        fs::rename(&part, data.join(CLUSTER_FILE))?;
        File::open(data)?.sync_all()
    }
}

/// Sixteen random characters.
pub fn random_name() -> io::Result<String> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(hex::encode(bytes))
}
