//! Feeds that work by their name alone: `preset = "binance_p2p_buy"` (`docs/contract.md, 14.1`).
//! Public sources of others, none of them official; a preset is the whole feed, but for how often
//! it is asked and where.

#[derive(Clone, Copy, Debug)]
pub(super) struct Preset {
    pub name: &'static str,
    pub pair: &'static str,
    pub source: &'static str,
    pub side: &'static str,
    pub url: &'static str,
    /// Empty: asked with GET.
    pub body: &'static str,
    pub pointer: &'static str,
    pub as_of_pointer: Option<&'static str>,
    pub every_seconds: u64,
}

const BINANCE: &str = "https://p2p.binance.com/bapi/c2c/v2/friendly/c2c/adv/search";
const CRIPTOYA: &str = "https://criptoya.com/api/binancep2p/usdt/ves/1";

const fn binance(name: &'static str, side: &'static str, body: &'static str) -> Preset {
    Preset { name, side, url: BINANCE, body, pointer: "/data/*/adv/price", ..P2P }
}

const fn criptoya(name: &'static str, side: &'static str, pointer: &'static str) -> Preset {
    Preset { name, side, url: CRIPTOYA, pointer, as_of_pointer: Some("/time"), ..P2P }
}

const P2P: Preset = Preset {
    name: "",
    pair: "USDT/VES",
    source: "p2p",
    side: "",
    url: "",
    body: "",
    pointer: "",
    as_of_pointer: None,
    every_seconds: 60,
};

/// Binance's sides are the taker's; of its offers the median counts.
pub(super) const PRESETS: [Preset; 5] = [
    binance(
        "binance_p2p_buy",
        "BUY",
        concat!(
            r#"{"asset":"USDT","fiat":"VES","tradeType":"BUY","page":1,"rows":10,"payTypes":[],"#,
            r#""publisherType":"merchant"}"#,
        ),
    ),
    binance(
        "binance_p2p_sell",
        "SELL",
        concat!(
            r#"{"asset":"USDT","fiat":"VES","tradeType":"SELL","page":1,"rows":10,"payTypes":[],"#,
            r#""publisherType":"merchant"}"#,
        ),
    ),
    criptoya("criptoya_buy", "BUY", "/totalAsk"),
    criptoya("criptoya_sell", "SELL", "/totalBid"),
    Preset {
        name: "dolarapi_oficial",
        pair: "USD/VES",
        source: "bcv",
        side: "OFFICIAL",
        url: "https://ve.dolarapi.com/v1/dolares/oficial",
        pointer: "/promedio",
        as_of_pointer: Some("/fechaActualizacion"),
        every_seconds: 900,
        ..P2P
    },
];
