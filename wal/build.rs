//! Refuses to link a RocksDB that is not the one the bindings were made for: `.cargo/rocksdb.toml`
//! outlives a change of `Cargo.lock` until `wal/rocksdb/build` runs again.

use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-env-changed=ROCKSDB_LIB_DIR");
    println!("cargo:rerun-if-changed=../Cargo.lock");
    let Some(library) = env::var_os("ROCKSDB_LIB_DIR") else { return };
    if Path::new(&library).components().any(|part| part.as_os_str() == "pasarela-rocksdb")
        && !Path::new(&library).join("librocksdb.a").exists()
    {
        println!("cargo::error=there is no RocksDB in {}: run wal/rocksdb/build", library.display());
        return;
    }
    // Only libraries of wal/rocksdb/build say of which crate they are.
    let Ok(built) = fs::read_to_string(Path::new(&library).join("crate-version")) else { return };
    let lock = fs::read_to_string("../Cargo.lock").unwrap_or_default();
    let wanted =
        lock.split("name = \"librocksdb-sys\"\nversion = \"").nth(1).and_then(|rest| rest.split('"').next());
    if wanted.is_some_and(|wanted| wanted != built.trim()) {
        println!(
            "cargo::error=the RocksDB in {} is {}, and Cargo.lock has {}: run wal/rocksdb/build",
            library.display(),
            built.trim(),
            wanted.unwrap_or_default()
        );
    }
}
