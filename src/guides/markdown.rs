//! The guides as programs read them: a page as Markdown, whose links lead from any address; the page about a code of
//! errors; and the list of all pages for language models (llmstxt.org).

use crate::guides::contents::{GROUPS, Source, pages};
use crate::guides::render::{Form, address, options};
use crate::language::Language;
use api::codes::{self, Code, Tongue, Words};
use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use std::fmt::Write as _;

const ABOUT: &str = "# Pasarela\n\n> A payments gateway for Venezuela and Colombia, called over HTTP and JSON: it \
    collects bolívares, pesos and USDT, pays sellers out, converts, and tells what happened by webhooks.\n\nSend the \
    account's key in `x-api-key`; one that begins with `pk_test_` moves no real money. An error has in `docs` the \
    address of the page about its code. Every page here is also HTML for people, at its address without `.md`.\n";

/// A document with its links as addresses of this server, to Markdown too.
pub fn markdown(language: Language, document: &str) -> String {
    let mut out = String::with_capacity(document.len() + document.len() / 8);
    let mut written = 0;
    for (event, place) in Parser::new_ext(document, options()).into_offset_iter() {
        let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event else { continue };
        let Some(at) = document[place.clone()].rfind(&*dest_url) else { continue };
        let start = place.start + at;
        if start >= written {
            out.push_str(&document[written..start]);
            out.push_str(&address(language, &dest_url, Form::Markdown));
            written = start + dest_url.len();
        }
    }
    out.push_str(&document[written..]);
    out
}

/// The document about a code, as if it were a guide; none of what is no code.
pub fn explanation(language: Language, name: &str) -> Option<String> {
    let tongue = match language {
        Language::Spanish => Tongue::Spanish,
        Language::English => Tongue::English,
    };
    let mut rows = codes::all().filter(|code| code.name == name).peekable();
    let mut out = format!("# {name}\n");
    if rows.peek().is_none() {
        let Words { meaning, next } = tongue.of(codes::of_banks().find(|code| code.name == name)?);
        out.push_str(&bank_refusal(language, name, &sentence(meaning), &sentence(next)));
        return Some(out);
    }
    for code in rows {
        let words = tongue.of(code);
        let (status, next) =
            (language.say("Estado HTTP", "HTTP status"), language.say("Qué hacer", "What to do"));
        // Formatting a `String` does not fail.
        let _ = write!(
            out,
            "\n**{status} {}.** {}\n\n**{next}.** {}\n",
            statuses(code),
            sentence(words.meaning),
            sentence(words.next)
        );
    }
    out.push_str(&match language {
        Language::Spanish => format!(
            "\nQué trae todo error: [Errores](errors.md). Todos: [Códigos de error](error-codes.md). In English: \
             [{name}](../en/errors/{name}.md).\n"
        ),
        Language::English => format!(
            "\nWhat every error has: [Errors](errors.md). All of them: [Error codes](error-codes.md). En español: \
             [{name}](../es/errors/{name}.md).\n"
        ),
    });
    Some(out)
}

/// What a bank means that refused with a code, and what to tell the buyer, if there is something to tell.
fn bank_refusal(language: Language, name: &str, meaning: &str, next: &str) -> String {
    let tell = language.say("Dile al comprador", "Tell the buyer");
    let advice = if next == "." { String::new() } else { format!("\n**{tell}.** {next}\n") };
    match language {
        Language::Spanish => format!(
            "\n**Es la razón de un banco,** en `failureCode` de un cobro o pago que falló. {meaning}\n{advice}\nTodas: \
             [Lo que dicen los bancos](errors.md#lo-que-dicen-los-bancos). In English: [{name}](../en/errors/{name}.md).\n"
        ),
        Language::English => format!(
            "\n**It is a bank's reason,** in `failureCode` of a payment or payout that failed. {meaning}\n{advice}\nAll of \
             them: [What banks say](errors.md#what-banks-say). En español: [{name}](../es/errors/{name}.md).\n"
        ),
    }
}

fn statuses(code: &Code) -> String {
    code.statuses.iter().map(u16::to_string).collect::<Vec<_>>().join(", ")
}

fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).chain(['.']).collect()
}

pub fn missing(language: Language) -> String {
    let document = language.say(
        "# No se encontró\n\nEsa página no existe. Todas están en el [comienzo](index.md).\n",
        "# Not found\n\nThere is no such page. All of them are at the [beginning](index.md).\n",
    );
    markdown(language, document)
}

/// `/llms.txt`: a line for each page, of those in the other language under what may be left out.
pub fn list() -> String {
    let mut out = String::from(ABOUT);
    out.push_str(
        "\n## Reference\n\n\
         - [Every call](/openapi.json?view=compact): OpenAPI 3.1 with what calls take and give\n\
         - [Every call, at length](/openapi.json): with examples, refusals and webhooks\n\
         - [All guides in one file](/llms-full.txt)\n",
    );
    for group in &GROUPS {
        let _ = write!(out, "\n## {}\n\n", group.title.1);
        group.pages.iter().for_each(|page| list_page(&mut out, Language::English, page));
    }
    out.push_str("\n## Optional\n\n");
    pages().for_each(|page| list_page(&mut out, Language::Spanish, page));
    out
}

fn list_page(out: &mut String, language: Language, page: &Source) {
    let (title, about) = opening(page.document(language));
    let about = if about.is_empty() { about } else { format!(": {about}") };
    let _ = writeln!(out, "- [{title}]({}.md){about}", page.path(language));
}

/// A document's title and the first sentence below it, if one is there, as plain text.
fn opening(document: &str) -> (String, String) {
    let (mut texts, mut text) = (Vec::new(), String::new());
    for event in Parser::new_ext(document, options()) {
        match event {
            Event::Text(part) | Event::Code(part) => text.push_str(&part),
            Event::SoftBreak => text.push(' '),
            Event::End(TagEnd::Heading(_) | TagEnd::Paragraph) => texts.push(std::mem::take(&mut text)),
            Event::Start(Tag::Table(_) | Tag::List(_)) => break,
            _ if texts.len() == 2 => break,
            _ => {}
        }
    }
    let mut texts = texts.into_iter();
    let (title, about) = (texts.next().unwrap_or_default(), texts.next().unwrap_or_default());
    let end = about.find(". ").unwrap_or(about.len());
    (title, about[..end].trim_end_matches(['.', ':']).to_owned())
}

/// `/llms-full.txt`: the English guides one after the other.
pub fn full() -> String {
    let documents = pages().map(|page| markdown(Language::English, page.document(Language::English)));
    [ABOUT.to_owned()].into_iter().chain(documents).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_from_any_address() {
        let document = "# A\n\nSee [C2P](c2p.md#el-código), [start](index.md), [es](../es/card.md), [x](/docs), \
            `[a](card.md)`\n![p](../images/p.svg) [c2p.md](c2p.md)\n\n```md\n[a](card.md)\n```\n";
        let made = markdown(Language::English, document);
        let expected = format!(
            "# A\n\nSee [C2P](/docs/en/c2p.md#el-código), [start](/docs/en{}), [es](/docs/es/card.md), [x](/docs?lang=en), \
            `[a](card.md)`\n![p](/docs/images/p.svg) [c2p.md](/docs/en/c2p.md)\n\n```md\n[a](card.md)\n```\n",
            ".md"
        );
        assert_eq!(made, expected);
    }

    #[test]
    fn a_code_with_two_statuses_has_both_on_its_page() {
        let made = explanation(Language::English, "amount_below_minimum").expect("a code");
        assert!(
            made.starts_with("# amount_below_minimum\n\n**HTTP status 400.** Below the minimum amount"),
            "{made}"
        );
        assert!(made.contains("\n**HTTP status 422.** "), "{made}");
        assert!(markdown(Language::English, &made).contains("(/docs/es/errors/amount_below_minimum"));
        assert_eq!(explanation(Language::Spanish, "nothing"), None);
    }

    #[test]
    fn a_code_of_a_bank_has_a_page_too() {
        let made = explanation(Language::English, "AM04").expect("a code");
        assert!(
            made.contains("failed. Insufficient funds.\n\n**Tell the buyer.** Use another account.\n"),
            "{made}"
        );
        let made = explanation(Language::Spanish, "rejected").expect("a code");
        assert!(made.contains("El comprador lo rechazó.\n\nTodas: ") && !made.contains("Dile"), "{made}");
    }
}
