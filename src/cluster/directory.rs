//! The file `CLUSTER` in a data directory: which cluster it belongs to, and under which name it is
//! known there.

use crate::recovery::directory::{self, CLUSTER_FILE};
use crate::recovery::{Failed, at};
use serde::{Deserialize, Serialize};
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
    /// Of the cluster, as far as this node knows.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub partitions: u8,
}

fn one() -> u8 {
    1
}

fn is_one(number: &u8) -> bool {
    *number == 1
}

impl Belongs {
    pub fn new(cluster: &str, partition: &str) -> Result<Belongs, Failed> {
        let (cluster, partition) = (cluster.to_owned(), partition.to_owned());
        Ok(Belongs { cluster, partition, id: random_name()?, barred: false, partitions: 1 })
    }

    pub fn read(data: &Path) -> Result<Option<Belongs>, Failed> {
        // A path that is no directory belongs to no cluster; whoever opens it says what is wrong with it.
        if !data.is_dir() {
            return Ok(None);
        }
        let path = data.join(CLUSTER_FILE);
        let Some(bytes) = directory::read(&path)? else { return Ok(None) };
        serde_json::from_slice(&bytes).map(Some).map_err(|error| at(&path)(error.into()))
    }

    pub fn write(&self, data: &Path) -> Result<(), Failed> {
        let path = data.join(CLUSTER_FILE);
        let mut bytes = serde_json::to_vec(self).map_err(|error| at(&path)(error.into()))?;
        bytes.push(b'\n');
        directory::write_whole(&path, directory::PLAIN, &bytes)
    }
}

pub fn random_name() -> Result<String, Failed> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(directory::no_randomness)?;
    Ok(hex::encode(bytes))
}
