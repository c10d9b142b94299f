//! The bytes of records and snapshots: bincode, behind this one module, so that another encoding
//! can take its place (RUSTSEC-2025-0141: it is no longer maintained).
//!
//! A version byte comes first; golden files of every version stay readable for ever
//! (`tests/golden/`).

use bincode::config::{Configuration, standard};
use bincode::{Decode, Encode};

/// The version that is written.
pub const VERSION: u8 = 1;

const CONFIG: Configuration = standard();

/// `value` as bytes.
pub fn encode<T: Encode>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(512);
    bytes.push(VERSION);
    match bincode::encode_into_std_write(value, &mut bytes, CONFIG) {
        Ok(_) => bytes,
        // Writing to memory does not fail, and no type here refuses to be encoded.
        Err(error) => unreachable!("a value could not be encoded: {error}"),
    }
}

/// The value that `bytes` hold, all of them.
pub fn decode<T: Decode<()>>(bytes: &[u8]) -> Result<T, String> {
    let (version, rest) = bytes.split_first().ok_or("no bytes at all")?;
    if *version != VERSION {
        return Err(format!(
            "version {version} of the encoding is not known here; this program writes {VERSION}"
        ));
    }
    let (value, read) = bincode::decode_from_slice(rest, CONFIG).map_err(|error| error.to_string())?;
    if read == rest.len() { Ok(value) } else { Err(format!("{} bytes too many", rest.len() - read)) }
}
