//! Options that both banks have, and the listener that they lead to.

use clap::Args;
use std::net::SocketAddr;
use std::path::PathBuf;
use tokio::net::TcpListener;

/// The options of every bank: its address, its data and its faults.
#[derive(Args)]
pub struct CommonOptions {
    /// Address to listen on (R4: 127.0.0.1:9170, Wompi: 127.0.0.1:9171)
    #[arg(long)]
    listen: Option<SocketAddr>,
    /// Take an address to listen on that is not this machine's own
    #[arg(long)]
    allow_remote: bool,
    /// Folder of the books
    #[arg(long, value_name = "DIR", default_value = "data/sandbox")]
    pub data: PathBuf,
    /// File with faults, as POST /sandbox/faults takes them
    #[arg(long, value_name = "FILE")]
    pub faults: Option<PathBuf>,
    /// Where Pasarela listens: http://127.0.0.1:8080; without it nothing is sent
    #[arg(long, value_name = "URL")]
    pub gateway: Option<hyper::Uri>,
}

impl CommonOptions {
    /// Listens, on loopback unless another address is allowed.
    ///
    /// # Errors
    /// Why that address is none to listen on.
    pub async fn listener(&self, default: &str) -> Result<TcpListener, String> {
        let address = self.listen.unwrap_or_else(|| default.parse().expect("an address"));
        if !address.ip().is_loopback() && !self.allow_remote {
            return Err(format!("--listen {address} is no loopback address; --allow-remote takes it"));
        }
        TcpListener::bind(address).await.map_err(|error| format!("--listen {address}: {error}"))
    }

    /// The address of the gateway without a slash at its end.
    ///
    /// # Errors
    /// When it is no `http://` address: the sandbox speaks no TLS.
    pub fn gateway(&self) -> Result<Option<String>, String> {
        let Some(uri) = &self.gateway else { return Ok(None) };
        let is_http = uri.scheme_str() == Some("http") && uri.authority().is_some();
        let text = uri.to_string();
        is_http
            .then(|| Some(text.trim_end_matches('/').to_owned()))
            .ok_or_else(|| format!("--gateway {text}: an address that begins with http:// is needed"))
    }
}

/// A credential as the sandbox prints it: its default in full, another one not at all.
pub fn shown(value: &str, default: &str) -> String {
    let is_default = value == default;
    if is_default { default.to_owned() } else { "(the one that the sandbox was given)".to_owned() }
}

/// Prints a section of Pasarela's config.toml, to be pasted there.
pub fn say_configuration(section: &str, keys: &[(&str, String)]) {
    let lines: String = keys.iter().map(|(key, value)| format!("\n{key} = \"{value}\"")).collect();
    crate::site::say(&format!("[{section}]{lines}"));
}
