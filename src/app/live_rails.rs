//! The rails of live mode that are configured, and what is missing of their settings.

use super::StartupError;
use crate::config;
use crate::rails::checking::Finding;
use crate::rails::evm::units::Units;
use crate::rails::evm::{self, DepositKeys, Evm, WalletKey, keystore, rpc};
use crate::rails::http::NoClient;
use crate::rails::live::LiveRail;
use crate::rails::r4::{self, R4};
use crate::rails::wompi::{self, Wompi};
use domain::values::address::Network;
use std::sync::Arc;
use std::time::Duration;

pub type Networks = Vec<Arc<Evm>>;

pub fn all(rails: &config::Rails) -> Result<Vec<Arc<dyn LiveRail>>, NoClient> {
    let mut live: Vec<Arc<dyn LiveRail>> = Vec::new();
    if let Some(r4) = &rails.r4 {
        live.push(Arc::new(R4::new(r4.settings.clone())?));
    }
    if let Some(wompi) = &rails.wompi {
        live.push(Arc::new(Wompi::new(wompi.clone())?));
    }
    Ok(live)
}

/// What some of a rail's work needs and is not there. The start and `pasarela check` say it; neither refuses
/// anything for it.
pub fn omissions(rails: &config::Rails) -> Vec<(&'static str, Finding)> {
    let mut missing = Vec::new();
    if rails.r4.as_ref().is_some_and(|r4| r4.callback_uuid.is_none()) {
        let text = "callback_uuid is not set, so the bank's notices are refused and no Pago Móvil is found: \
            set it, and give it to the bank";
        missing.push((r4::NAME, Finding::unknown("notices", text)));
    }
    if rails.wompi.as_ref().is_some_and(|wompi| wompi.customer_email.is_none()) {
        let text = "customer_email is not set, so a payment in pesos without buyer.email fails: set it, or \
            always send buyer.email";
        missing.push((wompi::NAME, Finding::unknown("e-mail", text)));
    }
    missing
}

/// The networks of USDT that are configured, with their keys decrypted: once, before anything is opened,
/// as what is wrong with them is the configuration's.
pub fn networks(rails: &config::Rails) -> Result<Networks, StartupError> {
    let stuck_after = Duration::from_secs(rails.poll_seconds);
    rails.evm.iter().map(|network| Ok(Arc::new(Evm::new(evm(network, stuck_after)?)?))).collect()
}

const GWEI: u64 = 1_000_000_000;

/// The key is decrypted, which takes a second or so.
pub fn evm(evm: &config::Evm, stuck_after: Duration) -> Result<evm::Settings, BadSetting> {
    let bad = |name: &str, why: &str| BadSetting {
        key: format!("rails.evm.{}.{name}", evm.network),
        why: why.to_owned(),
    };
    let network = Network::NAMES.into_iter().find(|(name, _)| *name == evm.network);
    let (_, network) = network.ok_or_else(|| bad("network", "there is no such network"))?;
    network.check(&evm.usdt_contract).map_err(|rule| bad("usdt_contract", rule))?;
    let contract = evm::read_hex(&evm.usdt_contract.to_ascii_lowercase());
    let decrypted = keystore::decrypt(evm.keystore.expose(), evm.keystore_password.expose())
        .map_err(|why| bad("keystore_file", &why.to_string()))?;
    Ok(evm::Settings {
        network,
        endpoint: rpc::Endpoint::parse(evm.rpc_url.expose()).map_err(|rule| bad("rpc_url", rule))?,
        chain_id: evm.chain_id,
        contract: contract.ok_or_else(|| bad("usdt_contract", "is no address"))?,
        units: Units::with_decimals(evm.usdt_decimals)
            .ok_or_else(|| bad("usdt_decimals", "must be from 2 to 18"))?,
        wallet: WalletKey::new(&decrypted).ok_or_else(|| bad("keystore_file", "holds no key"))?,
        deposits: DepositKeys::read(evm.deposit_seed.expose()).ok_or_else(|| {
            bad("deposit_seed_file", "must be the words of BIP-39, or a seed in hexadecimal")
        })?,
        confirmations: evm.confirmations,
        max_fee_per_gas: evm.max_fee_gwei.saturating_mul(GWEI),
        stuck_after,
    })
}

#[derive(Debug, thiserror::Error)]
#[error("{key}: {why}")]
pub struct BadSetting {
    pub key: String,
    pub why: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn what_some_of_the_work_needs_is_missed_until_it_is_there() {
        let missed = |uuid: &str, email: &str| {
            let text = format!(
                "[rails.r4]\nbase_url = \"https://bank.example\"\ncommerce_token = \"t\"\n{uuid}\
                 [rails.wompi]\nbase_url = \"https://pesos.example\"\npublic_key = \"a\"\nprivate_key \
                 = \"b\"\n\
                 events_secret = \"c\"\nintegrity_secret = \"d\"\n{email}"
            );
            let rails = Config::parse(&text, []).expect("valid").rails;
            omissions(&rails).iter().map(|(rail, finding)| (*rail, finding.what)).collect::<Vec<_>>()
        };
        let (uuid, email) = (
            "callback_uuid = \"4f1c2a9e-7b3d-4e8a-9c55-0d6f1b2a3c4d\"\n",
            "customer_email = \"e@f.example\"\n",
        );
        assert_eq!(missed("", ""), [("r4", "notices"), ("wompi", "e-mail")]);
        assert_eq!(missed(uuid, ""), [("wompi", "e-mail")]);
        assert_eq!(missed(uuid, email), []);
    }
}
