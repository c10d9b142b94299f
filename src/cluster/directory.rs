//! The file `CLUSTER` in a data directory: which cluster it belongs to, and under which name it is
//! known there.

use crate::recovery::directory::CLUSTER_FILE;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Belongs {
    pub cluster: String,
    pub partition: String,
    /// Tells two nodes of one name apart.
    pub id: String,
    /// Taken out to be one machine again, which bars it from the cluster for ever.
    #[serde(default)]
    pub barred: bool,
}

impl Belongs {
    pub fn new(cluster: &str, partition: &str) -> io::Result<Belongs> {
        Ok(Belongs {
            cluster: cluster.to_owned(),
            partition: partition.to_owned(),
            id: random_name()?,
            barred: false,
        })
    }

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

pub fn random_name() -> io::Result<String> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(hex::encode(bytes))
}
