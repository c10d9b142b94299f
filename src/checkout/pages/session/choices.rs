//! The choices that a page offers: banks, documents, networks.

use super::*;

#[derive(Default)]
pub(super) struct Choosable {
    pub(super) code: String,
    pub(super) name: String,
    pub(super) help: &'static str,
    pub(super) sends: bool,
    pub(super) chosen: bool,
}

pub(super) fn bank_options(
    banks: &Catalogue,
    service: Service,
    typed: &str,
    sends: &dyn Fn(BankCode) -> bool,
    language: Language,
) -> Vec<Choosable> {
    let option = |code: BankCode, name: &str| {
        let code_text = code.to_string();
        Choosable {
            chosen: code_text == typed,
            help: key_help(code, language),
            sends: sends(code),
            name: format!("{name} ({code_text})"),
            code: code_text,
        }
    };
    let mut options: Vec<Choosable> = banks
        .shown()
        .filter(|bank| banks.offers(bank.code, service))
        .map(|bank| option(bank.code, &bank.name))
        .collect();
    options.sort_by(|a, b| a.name.cmp(&b.name));
    options
}

pub(super) fn document_options(
    channel: Option<Channel>,
    livemode: bool,
    typed: &str,
    language: Language,
) -> Vec<Choosable> {
    let documents = channel.unwrap_or(Channel::Push).documents(livemode);
    let w = language.words();
    let option = |document: &DocumentType| {
        let name = match document {
            DocumentType::Cc => w.document_cc,
            DocumentType::Ce => w.document_ce,
            DocumentType::Ti => w.document_ti,
            DocumentType::Nit => w.document_nit,
            DocumentType::Pp => w.document_pp,
        };
        Choosable {
            code: document.name().to_owned(),
            name: name.to_owned(),
            chosen: document.name() == typed,
            ..Choosable::default()
        }
    };
    documents.iter().map(option).collect()
}

pub(super) const fn network_name(network: Network) -> &'static str {
    match network {
        Network::Trc20 => "TRON (TRC20)",
        Network::Erc20 => "Ethereum (ERC20)",
        Network::Bep20 => "BNB Smart Chain (BEP20)",
        Network::Polygon => "Polygon",
    }
}

pub(super) struct UsdtPanel {
    pub(super) networks: Vec<Choosable>,
    pub(super) assets: Vec<Choosable>,
}

pub(super) fn usdt_panel(
    chosen: Option<(Network, Asset)>,
    served: &[Network],
    livemode: bool,
    language: Language,
) -> UsdtPanel {
    let w = language.words();
    let network = chosen.map(|(network, _)| network).or_else(|| served.first().copied());
    let asset = chosen.map_or(Asset::Usdt, |(_, asset)| asset);
    let option = |code: &str, name: &str, chosen| Choosable {
        code: code.to_owned(),
        name: name.to_owned(),
        chosen,
        ..Choosable::default()
    };
    UsdtPanel {
        networks: served
            .iter()
            .map(|one| option(one.name(), network_name(*one), Some(*one) == network))
            .collect(),
        assets: Asset::NAMES
            .into_iter()
            .filter(|(_, one)| *one == Asset::Usdt || !livemode)
            .map(|(code, one)| {
                option(code, if one == Asset::Usdt { w.asset_usdt } else { w.asset_usdc }, one == asset)
            })
            .collect(),
    }
}
