//! The translation of live rails from the configuration's words to those of their clients.

use super::StartupError;
use crate::config::{self, SecretSource};
use crate::gateway::rail_calls;
use crate::rails::checking::Finding;
use crate::rails::evm::keystore::KeystoreError;
use crate::rails::evm::units::Units;
use crate::rails::evm::{self, DepositKeys, Evm, WalletKey, keystore, rpc};
use crate::rails::http::{BaseUrl, NoClient};
use crate::rails::live::LiveRail;
use crate::rails::r4::{self, CreditBy, PathFamily, R4, SignatureCase};
use crate::rails::secret::ApiSecret;
use crate::rails::wompi::{self, Wompi};
use domain::values::address::Network;
use std::sync::Arc;
use std::time::Duration;

pub type Networks = Vec<Arc<Evm>>;

pub fn all(rails: &config::Rails) -> Result<Vec<Arc<dyn LiveRail>>, LiveRailError> {
    let mut live: Vec<Arc<dyn LiveRail>> = Vec::new();
    if let Some(configured) = &rails.r4 {
        live.push(Arc::new(R4::new(r4(configured)?)?));
    }
    if let Some(configured) = &rails.wompi {
        live.push(Arc::new(Wompi::new(wompi(configured)?)?));
    }
    Ok(live)
}

/// Settings that a rail can do without and that some of its work needs: what is missing of them,
/// each with the rail's name. The start and `pasarela check` say it; neither refuses anything for
/// it.
pub fn omissions(rails: &config::Rails) -> Vec<(&'static str, Finding)> {
    let mut missing = Vec::new();
    if rails.r4.as_ref().is_some_and(|r4| matches!(r4.callback_uuid, SecretSource::None)) {
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

pub fn r4(r4: &config::R4) -> Result<r4::Settings, BadSetting> {
    Ok(r4::Settings {
        base_url: address("rails.r4.base_url", &r4.base_url)?.pinned(&r4.certificate_sha256),
        commerce_token: secret("rails.r4.commerce_token", &r4.commerce_token)?,
        path_family: named(&PathFamily::ALL, r4.path_family),
        signature_case: named(&SignatureCase::ALL, r4.signature_case),
        c2p_leading_space: r4.c2p_leading_space,
        credit_by: named(&CreditBy::ALL, r4.credit_by),
        timeout: Duration::from_secs(r4.timeout_seconds),
        idle: Duration::from_millis(r4.idle_ms),
    })
}

pub fn wompi(wompi: &config::Wompi) -> Result<wompi::Settings, BadSetting> {
    Ok(wompi::Settings {
        base_url: address("rails.wompi.base_url", &wompi.base_url)?.pinned(&wompi.certificate_sha256),
        public_key: secret("rails.wompi.public_key", &wompi.public_key)?,
        private_key: secret("rails.wompi.private_key", &wompi.private_key)?,
        events_secret: secret("rails.wompi.events_secret", &wompi.events_secret)?,
        integrity_secret: secret("rails.wompi.integrity_secret", &wompi.integrity_secret)?,
        customer_email: wompi.customer_email.clone(),
        timeout: Duration::from_secs(wompi.timeout_seconds),
        idle: Duration::from_millis(wompi.idle_ms),
    })
}

/// The networks of USDT that are configured, with their keys decrypted: once, before anything is opened,
/// as what is wrong with them is the configuration's.
pub fn networks(rails: &config::Rails) -> Result<Networks, LiveRailError> {
    let stuck_after = Duration::from_secs(rails.poll_seconds);
    rails.evm.iter().map(|network| Ok(Arc::new(Evm::new(evm(network, stuck_after)?)?))).collect()
}

const GWEI: u64 = 1_000_000_000;

/// A network of USDT as its connector needs it. The key is decrypted, which takes a second or so.
pub fn evm(evm: &config::Evm, stuck_after: Duration) -> Result<evm::Settings, BadSetting> {
    let key = |name: &str| format!("rails.evm.{}.{name}", evm.network);
    let bad = |name: &str, rule| BadSetting::rule(key(name), rule);
    let network =
        Network::NAMES.into_iter().find(|(name, _)| *name == evm.network).map(|(_, network)| network);
    let network = network
        .ok_or_else(|| BadSetting::rule(format!("rails.evm.{}", evm.network), "there is no such network"))?;
    network.check(&evm.usdt_contract).map_err(|rule| bad("usdt_contract", rule))?;
    let contract = evm::read_hex(&evm.usdt_contract.to_ascii_lowercase());
    let rpc_url = secret(&key("rpc_url"), &evm.rpc_url)?;
    let keystore = secret(&key("keystore_file"), &evm.keystore)?;
    let password = secret(&key("keystore_password_file"), &evm.keystore_password)?;
    let seed = secret(&key("deposit_seed_file"), &evm.deposit_seed)?;
    let decrypted = keystore::decrypt(keystore.expose(), password.expose())
        .map_err(|why| BadSetting { key: key("keystore_file"), fault: Fault::Keystore(why) })?;
    Ok(evm::Settings {
        network,
        endpoint: rpc::Endpoint::parse(rpc_url.expose()).map_err(|rule| bad("rpc_url", rule))?,
        chain_id: evm.chain_id,
        contract: contract.ok_or_else(|| bad("usdt_contract", "is no address"))?,
        units: Units::with_decimals(evm.usdt_decimals)
            .ok_or_else(|| bad("usdt_decimals", "must be from 2 to 18"))?,
        wallet: WalletKey::new(&decrypted).ok_or_else(|| bad("keystore_file", "holds no key"))?,
        deposits: DepositKeys::read(seed.expose()).ok_or_else(|| {
            bad("deposit_seed_file", "must be the words of BIP-39, or a seed in hexadecimal")
        })?,
        confirmations: evm.confirmations,
        max_fee_per_gas: evm.max_fee_gwei.saturating_mul(GWEI),
        stuck_after,
    })
}

pub fn callers(config: &config::Config) -> Result<rail_calls::Settings, StartupError> {
    let read = |key, source: &SecretSource| secret(key, source).map_err(LiveRailError::from);
    let r4 = config.rails.r4.as_ref().map(|r4| {
        let callback_uuid = match &r4.callback_uuid {
            SecretSource::None => None,
            source => Some(read("rails.r4.callback_uuid", source)?),
        };
        let (callback_sources, commerce_phone) = (r4.callback_sources.clone(), r4.commerce_phone);
        Ok::<_, LiveRailError>(rail_calls::R4Settings { callback_uuid, callback_sources, commerce_phone })
    });
    let wompi = config.rails.wompi.as_ref();
    let events_secret = wompi.map(|wompi| read("rails.wompi.events_secret", &wompi.events_secret));
    Ok(rail_calls::Settings { r4: r4.transpose()?, wompi_events_secret: events_secret.transpose()? })
}

fn address(key: &str, text: &str) -> Result<BaseUrl, BadSetting> {
    BaseUrl::parse(text).map_err(|rule| BadSetting::rule(key, rule))
}

fn secret(key: &str, source: &SecretSource) -> Result<ApiSecret, BadSetting> {
    let read = source.secret().ok_or_else(|| BadSetting::rule(key, "its file was not read"))?;
    Ok(ApiSecret::new(read.expose()))
}

/// The value that stands beside a name; the configuration has checked that it is there.
pub(super) fn named<T: Copy + Default>(choices: &[(&str, T)], name: &str) -> T {
    choices.iter().find(|(known, _)| *known == name).map(|(_, choice)| *choice).unwrap_or_default()
}

#[derive(Debug, thiserror::Error)]
pub enum LiveRailError {
    #[error(transparent)]
    Setting(#[from] BadSetting),
    #[error(transparent)]
    Client(#[from] NoClient),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {fault}")]
pub struct BadSetting {
    pub key: String,
    /// The reason why it cannot be used, which holds nothing of its value.
    pub fault: Fault,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("{0}")]
    Rule(&'static str),
    #[error(transparent)]
    Keystore(KeystoreError),
}

impl BadSetting {
    pub fn rule(key: impl Into<String>, rule: &'static str) -> BadSetting {
        BadSetting { key: key.into(), fault: Fault::Rule(rule) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::rails::http::IDLE;

    #[test]
    fn the_pins_are_those_of_the_rail() {
        let text = format!(
            "[rails.r4]\nbase_url = \"https://bank.example\"\ncommerce_token = \"t\"\ncertificate_sha256 = \
             [\"{}\"]\n\
             [rails.wompi]\nbase_url = \"https://pesos.example\"\npublic_key = \"a\"\nprivate_key = \"b\"\n\
             events_secret = \"c\"\nintegrity_secret = \"d\"\ncertificate_sha256 = [\"{}\"]\n",
            "01".repeat(32),
            "02".repeat(32)
        );
        let rails = Config::parse(&text, []).expect("valid").rails;
        let pinned = |address, byte| BaseUrl::parse(address).expect("an address").pinned(&[[byte; 32]]);
        let bolivares = r4(&rails.r4.expect("configured")).expect("settings");
        assert_eq!(bolivares.base_url, pinned("https://bank.example", 1));
        let pesos = wompi(&rails.wompi.expect("configured")).expect("settings");
        assert_eq!(pesos.base_url, pinned("https://pesos.example", 2));
    }

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

    #[test]
    fn what_is_configured_is_what_the_clients_get() {
        let text = "[rails.r4]\nbase_url = \"https://bank.example\"\ncommerce_token = \"t\"\npath_family \
            = \"R4\"\n\
            signature_case = \"upper\"\nc2p_leading_space = true\ncredit_by \
            = \"credito_inmediato\"\ntimeout_seconds = 7\nidle_ms = 250\n\
            [rails.wompi]\nbase_url = \"http://localhost:1/v1\"\npublic_key = \"a\"\nprivate_key = \"b\"\n\
            events_secret = \"c\"\nintegrity_secret = \"d\"\ncustomer_email = \"e@f.example\"\n";
        let rails = Config::parse(text, []).expect("valid").rails;
        let secret = ApiSecret::new;
        let expected = r4::Settings {
            base_url: BaseUrl::parse("https://bank.example").expect("an address"),
            commerce_token: secret("t"),
            path_family: PathFamily::R4,
            signature_case: SignatureCase::Upper,
            c2p_leading_space: true,
            credit_by: CreditBy::CreditoInmediato,
            timeout: Duration::from_secs(7),
            idle: Duration::from_millis(250),
        };
        assert_eq!(r4(&rails.r4.expect("configured")), Ok(expected));
        let expected = wompi::Settings {
            base_url: BaseUrl::parse("http://localhost:1/v1").expect("an address"),
            public_key: secret("a"),
            private_key: secret("b"),
            events_secret: secret("c"),
            integrity_secret: secret("d"),
            customer_email: Some("e@f.example".to_owned()),
            timeout: Duration::from_secs(25),
            idle: IDLE,
        };
        assert_eq!(wompi(&rails.wompi.expect("configured")), Ok(expected));
    }

    #[test]
    fn a_secret_whose_file_was_not_read_is_none() {
        let text = "[rails.r4]\nbase_url = \"https://bank.example\"\ncommerce_token_file = \"/t\"\n";
        let configured = Config::parse(text, []).expect("valid").rails.r4.expect("configured");
        let refused = r4(&configured).expect_err("its file was not read");
        assert_eq!(refused.key, "rails.r4.commerce_token");
    }
}
