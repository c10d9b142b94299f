//! Which pages there are, in the order in which they are read, each in both languages under one name.

use crate::language::Language;

/// The first is that of who says nothing.
pub const LANGUAGES: [Language; 2] = [Language::Spanish, Language::English];

pub struct Source {
    pub name: &'static str,
    spanish: &'static str,
    english: &'static str,
}

impl Source {
    pub fn document(&self, language: Language) -> &'static str {
        language.say(self.spanish, self.english)
    }

    pub fn path(&self, language: Language) -> String {
        if self.name == INDEX {
            return format!("/docs/{}", language.code());
        }
        format!("/docs/{}/{}", language.code(), self.name)
    }
}

pub struct Group {
    pub title: (&'static str, &'static str),
    pub pages: &'static [Source],
}

pub const INDEX: &str = "index";

macro_rules! pages {
    ($($name:literal),+) => {
        &[$(Source {
            name: $name,
            spanish: include_str!(concat!("../../docs/es/", $name, ".md")),
            english: include_str!(concat!("../../docs/en/", $name, ".md")),
        }),+]
    };
}

pub static GROUPS: [Group; 7] = [
    Group {
        title: ("Empezar", "Start"),
        pages: pages!["index", "quick-start", "sdks", "mcp", "agent-budget", "concepts"],
    },
    Group {
        title: ("Cobrar", "Collect"),
        pages: pages!["c2p", "card", "debit", "pago-movil", "cop", "usdt", "checkout", "links"],
    },
    Group {
        title: ("Pagar y convertir", "Pay and convert"),
        pages: pages!["payouts", "batches", "sellers", "conversions"],
    },
    Group {
        title: ("Seguir el dinero", "Follow the money"),
        pages: pages!["webhooks", "statements", "finding"],
    },
    Group {
        title: ("Hacerlo bien", "Build it well"),
        pages: pages!["authentication", "idempotency", "pagination", "amounts", "limits", "versions", "pci"],
    },
    Group {
        title: ("A mano", "At hand"),
        pages: pages!["errors", "error-codes", "testing", "going-live", "glossary"],
    },
    Group {
        title: ("Sin programar", "Without a program"),
        pages: pages!["portal", "support", "treasury", "accounting"],
    },
];

pub fn pages() -> impl Iterator<Item = &'static Source> {
    GROUPS.iter().flat_map(|group| group.pages)
}

/// The names of the pages, and their documents in a language as they are written.
pub fn documents(language: Language) -> impl Iterator<Item = (&'static str, &'static str)> {
    pages().map(move |page| (page.name, page.document(language)))
}
