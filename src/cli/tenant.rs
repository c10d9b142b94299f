//! `pasarela tenant …`: the move of a tenant to another partition, by the server that serves it, and to another
//! deployment, between directories that no server uses (`docs/contract.md, 22`). What those do is in
//! `src/recovery/moving/`.

use super::client::{JSON, Operators};
use super::progress::shown;
use super::{Failure, Settings, at, id, must_be_ours};
use crate::cluster::directory::Belongs;
use crate::config::Config;
use crate::recovery::moving;
use clap::Subcommand;
use domain::platform::settings::Deployment;
use domain::values::ids::Id;
use serde_json::json;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub enum Tenant {
    /// Print this deployment's name, which the export of a tenant asks for
    ///
    /// Example: pasarela tenant id --data-dir /srv/second/data
    Id {
        #[command(flatten)]
        settings: Settings,
    },
    /// Move a tenant to another partition of its cluster, while it is served
    ///
    /// Example: pasarela tenant move 01930a4b-5c6d-7e8f-9012-3456789a0000 --to 0
    Move {
        #[command(flatten)]
        settings: Settings,
        /// The tenant's id
        #[arg(value_name = "TENANT", value_parser = id)]
        tenant: Id,
        /// The partition that it goes to
        #[arg(long, value_name = "P", value_parser = clap::value_parser!(u8).range(0..=63))]
        to: u8,
    },
    /// Close a tenant here, and write it to a file that one other deployment can import
    ///
    /// No server may use the directory meanwhile. A tenant with anything under way is refused, and nothing
    /// happens. From the moment it is closed its calls are answered 503 tenant_moved here. The file holds
    /// personal data and is readable for its owner alone. A repeat writes the same file again.
    ///
    /// Example: pasarela tenant export 01930a4b-5c6d-7e8f-9012-3456789a0000 --to-deployment
    /// 5f0c2c1e8d7b4a69a1b2c3d4e5f60718 --to /srv/shop.tenant
    Export {
        #[command(flatten)]
        settings: Settings,
        /// The tenant's id
        #[arg(value_name = "TENANT", value_parser = id)]
        tenant: Id,
        /// The deployment that it goes to, as `pasarela tenant id` prints it there
        #[arg(long, value_name = "NAME", value_parser = deployment)]
        to_deployment: Deployment,
        /// The file to write; it must not exist
        #[arg(long, value_name = "FILE")]
        to: PathBuf,
    },
    /// Import a tenant from a file, whole or not at all
    ///
    /// No server may use the directory meanwhile. A file that was changed, that is for another deployment, or
    /// whose tenant is here already is refused, and nothing happens.
    ///
    /// Example: pasarela tenant import /srv/shop.tenant --data-dir /srv/second/data
    Import {
        #[command(flatten)]
        settings: Settings,
        /// The file that `pasarela tenant export` wrote
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Reopen a tenant that an export has closed
    ///
    /// If its file was imported anywhere, or is later, its money is in two places: nothing can notice that.
    /// Delete the file first.
    ///
    /// Example: pasarela tenant reopen 01930a4b-5c6d-7e8f-9012-3456789a0000 --not-imported
    Reopen {
        #[command(flatten)]
        settings: Settings,
        /// The tenant's id
        #[arg(value_name = "TENANT", value_parser = id)]
        tenant: Id,
        /// The operator's word that the file was not imported and will not be
        #[arg(long, required = true)]
        not_imported: bool,
    },
}

impl Tenant {
    pub fn run(self) -> Result<(), Failure> {
        match self {
            Tenant::Id { settings } => {
                let config = settings.load()?;
                let data = &config.storage.path;
                must_be_ours(data)?;
                // A record that is made here would be one that the others never agreed on.
                let name = if is_in_cluster(&config)? {
                    let why = "this deployment gets its name when its cluster first serves";
                    moving::named(data)?.ok_or_else(|| at(data, why))?
                } else {
                    moving::deployment(data)?
                };
                println!("{name}");
            }
            Tenant::Move { settings, tenant, to } => {
                let operators = Operators::new(&settings.load()?, None, None)?;
                let (path, body) = (format!("/admin/tenants/{tenant}/move"), json!({ "to": to }));
                println!("{}", operators.call(("POST", path.as_str()), JSON, Some(&body), None)?);
            }
            Tenant::Export { settings, tenant, to_deployment, to } => {
                let storage = alone(&settings)?.storage;
                let (data, card) = (&storage.path, storage.card_key_file.as_deref());
                let exported = shown(|tell| moving::export(data, card, tenant, to_deployment, &to, tell));
                let moving::Exported { name, records, bytes, digest } = exported?;
                let to = to.display();
                println!(
                    "ok: {name} is closed here; {records} records, {bytes} bytes in {to}, digest {digest}"
                );
            }
            Tenant::Import { settings, file } => {
                let storage = alone(&settings)?.storage;
                let (data, card) = (&storage.path, storage.card_key_file.as_deref());
                let moving::Imported { id, name, records, digest } =
                    shown(|tell| moving::import(data, card, &file, tell))?;
                println!("ok: {name} ({id}) is open here; {records} records, digest {digest}");
            }
            Tenant::Reopen { settings, tenant, not_imported: _ } => {
                let to = moving::reopen(&alone(&settings)?.storage.path, tenant)?;
                eprintln!("pasarela: warning: a file for {to} exists or existed; it must never be imported");
                println!("ok: {tenant} is open here again");
            }
        }
        Ok(())
    }
}

/// Of a directory that is not part of a cluster: what is written here is agreed on with nobody.
fn alone(settings: &Settings) -> Result<Config, Failure> {
    let config = settings.load()?;
    must_be_ours(&config.storage.path)?;
    if is_in_cluster(&config)? {
        let why = "this directory is in a cluster, whose log is agreed on; tenants move between directories of \
            one machine";
        return Err(at(&config.storage.path, why));
    }
    Ok(config)
}

fn is_in_cluster(config: &Config) -> Result<bool, Failure> {
    let belongs = Belongs::read(&config.storage.path)?;
    Ok(config.cluster.is_on() || belongs.is_some_and(|belongs| !belongs.barred))
}

fn deployment(text: &str) -> Result<Deployment, &'static str> {
    Deployment::parse(text).ok_or("is not 32 digits of hexadecimal")
}
