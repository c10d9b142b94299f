//! `[rails.evm.POLYGON]`, `.BEP20` and `.ERC20`: USDT on Ethereum-like networks. Nothing of a
//! network has a default that could send money to the wrong place: what is missing stops the start
//! and is named.

use super::keys::Keys;
use super::live_rails::needed;
use super::values::text_if;
use super::{Secret, ValueError};
use crate::rails::http::BaseUrl;
use std::collections::{BTreeMap, BTreeSet};
use url::Url;

pub const EVM_NETWORKS: [&str; 3] = ["POLYGON", "BEP20", "ERC20"];
const KEYSTORE_CHARACTERS_MAX: usize = 8_192;
const WORDS_CHARACTERS_MAX: usize = 1_024;
const MISSING: &str = "is required for this network";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evm {
    pub network: &'static str,
    pub rpc_url: Secret,
    pub chain_id: u64,
    pub usdt_contract: String,
    pub usdt_decimals: u32,
    pub keystore: Secret,
    pub keystore_password: Secret,
    pub confirmations: u64,
    pub max_fee_gwei: u64,
    pub deposit_seed: Secret,
    /// Of the further partitions that serve the network: a wallet has one sequence of nonces, so each has its own.
    pub wallet_of: BTreeMap<u8, Wallet>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wallet {
    pub keystore: Secret,
    pub keystore_password: Secret,
}

impl Evm {
    pub(super) fn read(mut keys: Keys<'_>) -> Vec<Evm> {
        let all = EVM_NETWORKS.into_iter().filter_map(|network| Evm::one(network, keys.section(network)));
        let all = all.collect();
        keys.done();
        all
    }

    fn one(network: &'static str, mut keys: Keys<'_>) -> Option<Evm> {
        let is_given = keys.is_given();
        let [missing, in_file] = ["", "_file"].map(|ending| is_given.then_some((ending, MISSING)));
        let evm = Evm {
            network,
            rpc_url: needed(&mut keys, "rpc_url", rpc_url, missing),
            chain_id: number(&mut keys, "chain_id", is_given, 1..=i64::MAX as u64),
            usdt_contract: if is_given { keys.required("usdt_contract", contract) } else { String::new() },
            usdt_decimals: number(&mut keys, "usdt_decimals", is_given, 2..=18),
            keystore: needed(&mut keys, "keystore", keystore, in_file),
            keystore_password: needed(&mut keys, "keystore_password", words, in_file),
            confirmations: keys.integer("confirmations", 12, 1..=10_000),
            max_fee_gwei: number(&mut keys, "max_fee_gwei", is_given, 1..=1_000_000),
            deposit_seed: needed(&mut keys, "deposit_seed", words, in_file),
            wallet_of: keys.nested("wallet_of", wallets),
        };
        let mut known = BTreeSet::from([evm.keystore.expose()]);
        let mut of_others = evm.wallet_of.values().map(|wallet| wallet.keystore.expose());
        if !keys.is_unread && !of_others.all(|keystore| known.insert(keystore)) {
            keys.bad(
                "wallet_of",
                "two partitions have the same keystore, and a wallet has one sequence of nonces",
            );
        }
        let is_used = is_given && !keys.is_unread;
        keys.done();
        is_used.then_some(evm)
    }
}

impl Evm {
    /// As a further partition has it; `None` where that has no wallet.
    pub(super) fn of_partition(&self, partition: u8) -> Option<Evm> {
        let Wallet { keystore, keystore_password } = self.wallet_of.get(&partition)?.clone();
        Some(Evm { keystore, keystore_password, wallet_of: BTreeMap::new(), ..self.clone() })
    }

    pub fn of_further_partitions(&self) -> impl Iterator<Item = (u8, Evm)> {
        self.wallet_of.keys().filter_map(|partition| Some((*partition, self.of_partition(*partition)?)))
    }
}

fn wallets(mut keys: Keys<'_>) -> BTreeMap<u8, Wallet> {
    let mut wallets = BTreeMap::new();
    for partition in 1..=63 {
        let mut of = keys.section(&partition.to_string());
        if of.is_given() {
            let missing = Some(("_file", MISSING));
            let wallet = Wallet {
                keystore: needed(&mut of, "keystore", keystore, missing),
                keystore_password: needed(&mut of, "keystore_password", words, missing),
            };
            wallets.insert(partition, wallet);
        }
        of.done();
    }
    keys.done();
    wallets
}

/// Must be there once anything of its network is.
fn number<T>(keys: &mut Keys<'_>, name: &str, is_given: bool, range: std::ops::RangeInclusive<T>) -> T
where
    T: TryFrom<i64> + PartialOrd + std::fmt::Display + Default,
{
    if is_given && !keys.has(name) {
        keys.bad(name, MISSING);
    }
    keys.integer(name, T::default(), range)
}

/// What follows a question mark may be the provider's key.
fn rpc_url(text: &str) -> Result<Secret, ValueError> {
    let mut bare = Url::parse(text).map_err(|_| ValueError::from("must be a URL"))?;
    bare.set_query(None);
    BaseUrl::parse(bare.as_str())?;
    Ok(Secret::new(text))
}

fn contract(text: &str) -> Result<String, ValueError> {
    let digits = text.strip_prefix("0x").filter(|digits| digits.len() == 40);
    let fits = digits.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    text_if(fits, text, "must be 0x and 40 hexadecimal digits")
}

fn keystore(text: &str) -> Result<Secret, ValueError> {
    let fits = text.len() <= KEYSTORE_CHARACTERS_MAX && text.trim_start().starts_with('{');
    text_if(fits, text, "must be an encrypted key of Web3 Secret Storage, in JSON").map(Secret::new)
}

fn words(text: &str) -> Result<Secret, ValueError> {
    let fits = (1..=WORDS_CHARACTERS_MAX).contains(&text.len()) && !text.contains(['\n', '\r', '\0']);
    text_if(fits, text, "must be one line of 1 to 1024 bytes").map(Secret::new)
}

#[cfg(test)]
mod tests {
    use crate::config::Config;

    const LINES: &str = "[rails.evm.POLYGON]\nrpc_url = \"http://127.0.0.1:8545/hunter2?key=hunter2\"\n\
        chain_id = 137\nusdt_contract = \"0xc2132D05D31c914a87C6611C10748AEb04B58e8F\"\nusdt_decimals = 6\n\
        keystore_file = \"/k\"\nkeystore_password_file = \"/p\"\nmax_fee_gwei = 500\n\
        deposit_seed_file = \"/s\"\n";

    #[test]
    fn a_network_and_its_defaults() {
        assert_eq!(Config::parse("", []).expect("defaults").rails.evm, []);
        assert_eq!(Config::parse(LINES, []).expect("valid").rails.evm, [], "its files are not read");
        let secrets = ["keystore_file = \"/k\"", "password_file = \"/p\"", "seed_file = \"/s\""];
        let lines = ["keystore = \"{}\"", "password = \"hunter2\"", "seed = \"hunter2\""];
        let text = secrets
            .into_iter()
            .zip(lines)
            .fold(LINES.to_owned(), |text, (file, value)| text.replace(file, value));
        let rails = Config::parse(&text, []).expect("valid").rails;
        let [polygon] = rails.evm.as_slice() else { panic!("{rails:?}") };
        assert!(!format!("{polygon:?}").contains("hunter2"));
        assert_eq!((polygon.network, polygon.chain_id, polygon.confirmations), ("POLYGON", 137, 12));
        assert_eq!((polygon.usdt_decimals, polygon.max_fee_gwei), (6, 500));
        assert_eq!((polygon.keystore.expose(), polygon.deposit_seed.expose()), ("{}", "hunter2"));
    }

    #[test]
    fn a_further_partition_has_a_wallet_of_its_own_or_no_network() {
        let of = |partition: &str, keystore: &str| {
            format!(
                "[rails.evm.POLYGON.wallet_of.{partition}]\nkeystore = '{keystore}'\nkeystore_password = \"p\"\n"
            )
        };
        let text = LINES
            .replace("keystore_file = \"/k\"", "keystore = \"{}\"")
            .replace("password_file = \"/p\"", "password = \"p\"")
            .replace("seed_file = \"/s\"", "seed = \"s\"");
        let config = Config::parse(&format!("{text}{}", of("2", "{\"a\":1}")), []).expect("valid");
        assert_eq!(config.of_partition(0).rails.evm[0].keystore.expose(), "{}");
        assert_eq!(config.of_partition(1).rails.evm, []);
        let [polygon] = &config.of_partition(2).rails.evm[..] else { panic!("it is served there") };
        assert_eq!((polygon.keystore.expose(), polygon.deposit_seed.expose()), ("{\"a\":1}", "s"));
        for (more, key) in [
            (of("2", "{}"), "POLYGON.wallet_of: "),
            (of("1", "{1}") + &of("2", "{1}"), "POLYGON.wallet_of: "),
            (of("0", "{1}"), "POLYGON.wallet_of.0: "),
            (of("64", "{1}"), "POLYGON.wallet_of.64: "),
            ("[rails.evm.POLYGON.wallet_of.1]\nkeystore = '{1}'\n".to_owned(), "1.keystore_password_file: "),
        ] {
            let error = Config::parse(&format!("{text}{more}"), []).expect_err(&more).to_string();
            assert!(error.contains(key), "{error}");
        }
    }

    #[test]
    fn variables_of_the_environment_may_give_everything() {
        let variable =
            |name: &str, value: &str| (format!("PASARELA__RAILS__EVM__BEP20__{name}"), value.to_owned());
        let rails = Config::parse(
            "",
            [
                variable("RPC_URL", "https://node.example"),
                variable("CHAIN_ID", "56"),
                variable("USDT_CONTRACT", "0x55d398326f99059fF775485246999027B3197955"),
                variable("USDT_DECIMALS", "18"),
                variable("KEYSTORE", "{}"),
                variable("KEYSTORE_PASSWORD", "a password"),
                variable("MAX_FEE_GWEI", "5"),
                variable("DEPOSIT_SEED", "test test"),
            ],
        );
        let rails = rails.expect("valid").rails;
        assert_eq!((rails.evm[0].network, rails.evm[0].usdt_decimals), ("BEP20", 18));
        assert_eq!(rails.evm[0].keystore_password.expose(), "a password");
    }

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        let complaint = |text: &str| {
            let error = Config::parse(text, []).expect_err(text).to_string();
            assert!(!error.contains("hunter2"), "{error}");
            error
        };
        for key in [
            "rpc_url",
            "chain_id",
            "usdt_contract",
            "usdt_decimals",
            "keystore_file",
            "keystore_password_file",
            "max_fee_gwei",
            "deposit_seed_file",
        ] {
            let kept: Vec<&str> =
                LINES.lines().filter(|line| !line.starts_with(&format!("{key} "))).collect();
            let error = complaint(&kept.join("\n"));
            assert!(error.starts_with(&format!("rails.evm.POLYGON.{key}: ")), "{key}: {error}");
        }
        for (line, by, key) in [
            ("http://127.0.0.1:8545/hunter2", "http://10.0.0.1/hunter2", "POLYGON.rpc_url: "),
            ("0xc2132D", "0xc2132", "POLYGON.usdt_contract: "),
            ("usdt_decimals = 6", "usdt_decimals = 1", "POLYGON.usdt_decimals: "),
            ("chain_id = 137", "chain_id = 0", "POLYGON.chain_id: "),
            ("max_fee_gwei = 500", "max_fee_gwei = 0", "POLYGON.max_fee_gwei: "),
            ("max_fee_gwei = 500", "max_fee_gwei = 500\nkeystore = \"{}\"", "POLYGON.keystore: "),
            ("POLYGON", "TRC20", "TRC20: "),
        ] {
            let error = complaint(&LINES.replace(line, by));
            assert!(error.contains(key), "{error}");
        }
    }
}
