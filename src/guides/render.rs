//! A page made of a document: Markdown as HTML, headings with the anchors that GitHub gives them,
//! links to documents as links to pages, and an example in several languages as one block that
//! opens.

use crate::language::Language;
use pulldown_cmark::{CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};
use std::collections::BTreeSet;

#[derive(Debug)]
pub struct Section {
    pub title: String,
    pub anchor: String,
    pub prose: String,
    pub code: String,
    /// Whether the page's own table of contents has it.
    pub is_main: bool,
}

#[derive(Debug)]
pub struct Rendered {
    pub html: String,
    pub sections: Vec<Section>,
}

impl Rendered {
    pub fn title(&self) -> &str {
        self.sections.first().map_or("", |section| &section.title)
    }
}

const EXAMPLES: [(&str, &str); 4] =
    [("sh", "curl"), ("php", "PHP"), ("js", "JavaScript"), ("python", "Python")];

pub fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS
}

pub fn page(language: Language, document: &str) -> Rendered {
    let mut writer = Writer {
        language,
        sections: Vec::new(),
        anchors: BTreeSet::new(),
        examples: Vec::new(),
        is_program: false,
        is_typed: false,
    };
    let mut events = Vec::new();
    let mut parser = Parser::new_ext(document, options());
    while let Some(event) = parser.next() {
        match event {
            Event::Start(Tag::CodeBlock(kind)) => {
                let code = text_until(&mut parser, |end| matches!(end, TagEnd::CodeBlock));
                events.extend(writer.block(&marks_of(kind), code).map(raw));
                continue;
            }
            _ => events.extend(writer.gathered().map(raw)),
        }
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                let title = text_until(&mut parser, |end| matches!(end, TagEnd::Heading(_)));
                events.push(raw(writer.heading(level, title)));
            }
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                let dest_url = address(language, &dest_url, Form::Html).into();
                events.push(Event::Start(Tag::Link { link_type, dest_url, title, id }));
            }
            Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
                let dest_url = address(language, &dest_url, Form::Html).into();
                events.push(Event::Start(Tag::Image { link_type, dest_url, title, id }));
            }
            // A table may be wider than a phone: it scrolls by itself.
            Event::Start(Tag::Table(alignments)) => {
                events.push(raw("<div class=\"wide\" tabindex=\"0\">".to_owned()));
                events.push(Event::Start(Tag::Table(alignments)));
            }
            Event::End(TagEnd::Table) => {
                events.push(event);
                events.push(raw("</div>\n".to_owned()));
            }
            // Documents have no HTML of their own: what looks like it is shown as it is written.
            Event::Html(text) | Event::InlineHtml(text) => {
                writer.read(&text);
                events.push(Event::Text(text));
            }
            // A box to tick on paper: one that cannot be ticked here is no form.
            Event::TaskListMarker(_) => events.push(Event::Text("☐ ".into())),
            Event::Text(ref text) | Event::Code(ref text) => {
                writer.read(text);
                events.push(event);
            }
            _ => {
                writer.read(" ");
                events.push(event);
            }
        }
    }
    events.extend(writer.gathered().map(raw));
    let mut html = String::with_capacity(document.len() * 2);
    html::push_html(&mut html, events.into_iter());
    Rendered { html, sections: writer.sections }
}

fn marks_of(kind: CodeBlockKind<'_>) -> CowStr<'_> {
    match kind {
        CodeBlockKind::Fenced(marks) => marks,
        CodeBlockKind::Indented => CowStr::Borrowed(""),
    }
}

fn raw(html: String) -> Event<'static> {
    Event::Html(html.into())
}

fn text_until(parser: &mut Parser<'_>, is_end: impl Fn(&TagEnd) -> bool) -> String {
    let mut text = String::new();
    for event in parser.by_ref() {
        match event {
            Event::End(end) if is_end(&end) => break,
            Event::Text(part) | Event::Code(part) => text.push_str(&part),
            _ => {}
        }
    }
    text
}

fn anchor(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    heading.trim().to_lowercase().chars().filter(kept).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// What a link's reader reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Html,
    Markdown,
}

/// As documents stand beside each other, so do pages.
pub fn address(language: Language, target: &str, form: Form) -> String {
    let ending = match form {
        Form::Html => "",
        Form::Markdown => ".md",
    };
    let (file, anchor) = target.split_once('#').map_or((target, None), |(file, at)| (file, Some(at)));
    let (language, file) = match (file.strip_prefix("../es/"), file.strip_prefix("../en/")) {
        (Some(file), _) => (Language::Spanish, file),
        (_, Some(file)) => (Language::English, file),
        (None, None) => (language, file),
    };
    let path = match file.strip_suffix(".md") {
        Some(super::contents::INDEX) => format!("/docs/{}{ending}", language.code()),
        Some(name) => format!("/docs/{}/{name}{ending}", language.code()),
        None if file == "/docs" => format!("/docs?lang={}", language.code()),
        None => file.replacen("../images/", "/docs/images/", 1),
    };
    anchor.map_or_else(|| path.clone(), |at| format!("{path}#{at}"))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

struct Writer {
    language: Language,
    sections: Vec<Section>,
    anchors: BTreeSet<String>,
    examples: Vec<(&'static str, &'static str, String)>,
    /// Whether the blocks of a language, from its client on, are one program; and whether these are lines for a shell.
    is_program: bool,
    is_typed: bool,
}

impl Writer {
    fn read(&mut self, text: &str) {
        if let Some(section) = self.sections.last_mut() {
            section.prose.push_str(text);
        }
    }

    fn heading(&mut self, level: HeadingLevel, title: String) -> String {
        let title_html = escaped(&title);
        let mut id = anchor(&title);
        while !self.anchors.insert(id.clone()) {
            id.push_str("-1");
        }
        let is_title = level == HeadingLevel::H1;
        let anchor = if is_title { String::new() } else { id.clone() };
        let is_main = level == HeadingLevel::H2;
        self.sections.push(Section { title, anchor, prose: String::new(), code: String::new(), is_main });
        if is_title {
            return format!("<h1>{title_html}</h1>\n");
        }
        format!("<{level} id=\"{id}\"><a href=\"#{id}\">{title_html}</a></{level}>\n")
    }

    /// One of an example waits for the languages that follow.
    fn block(&mut self, marks: &str, code: String) -> Option<String> {
        if let Some(section) = self.sections.last_mut() {
            section.code.push_str(&code);
        }
        // `console php` is what a reader of that language types.
        let kind =
            marks.strip_prefix("console ").unwrap_or(marks).split_whitespace().next().unwrap_or_default();
        let example = EXAMPLES.into_iter().find(|(known, _)| *known == kind && !marks.ends_with(" setup"));
        if let Some((kind, label)) = example {
            let label = if kind == "sh" && !code.contains("curl ") { "Shell" } else { label };
            self.is_typed = marks.starts_with("console ");
            self.is_program |= marks.ends_with(" helper");
            self.examples.push((kind, label, code));
            return None;
        }
        let caption = match marks {
            "json" => self.language.say("Respuesta", "Answer"),
            "json event" => self.language.say("Lo que recibe tu webhook", "What your webhook receives"),
            _ => "",
        };
        let caption =
            if caption.is_empty() { "".to_owned() } else { format!("<figcaption>{caption}</figcaption>") };
        let code = escaped(&code);
        let before = self.gathered().unwrap_or_default();
        Some(format!(
            "{before}<figure class=\"code\">{caption}<pre tabindex=\"0\"><code>{code}</code></pre></figure>\n"
        ))
    }

    fn gathered(&mut self) -> Option<String> {
        if self.examples.is_empty() {
            return None;
        }
        let class = if self.is_program && !self.is_typed { "example program" } else { "example" };
        let mut html = format!("<div class=\"{class}\">");
        for (at, (kind, label, code)) in self.examples.drain(..).enumerate() {
            let open = if at == 0 { " open" } else { "" };
            let code = escaped(&code);
            html.push_str(&format!(
                "<details data-language=\"{kind}\"{open}><summary>{label}</summary><pre \
                 tabindex=\"0\"><code>{code}</code></pre></details>"
            ));
        }
        html.push_str("</div>\n");
        Some(html)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "# Cobrar\n\nUn `cobro` <b>.\n\n## Débito inmediato\n\nVe a \
        [C2P](c2p.md#el-código), [English](../en/index.md).\n\n```sh\ncurl 1 < \
        2\n```\n\n```php\npasarela();\n```\n\n```json\n{}\n```\n\n### Débito inmediato\n";

    #[test]
    fn a_document_becomes_a_page() {
        let page = page(Language::Spanish, DOCUMENT);
        assert_eq!(page.title(), "Cobrar");
        for part in [
            "<h1>Cobrar</h1>",
            "&lt;b&gt;",
            "<h2 id=\"débito-inmediato\"><a href=\"#débito-inmediato\">",
            "<h3 id=\"débito-inmediato-1\">",
            "href=\"/docs/en\"",
            "<details data-language=\"sh\" open><summary>curl</summary><pre tabindex=\"0\"><code>curl 1 &lt; \
             2\n",
            "<details data-language=\"php\"><summary>PHP</summary>",
            "</details></div>\n<figure class=\"code\"><figcaption>Respuesta</figcaption>",
        ] {
            assert!(page.html.contains(part), "{part}: {}", page.html);
        }
        assert!(!page.html.contains("<b>"), "{}", page.html);
        let sections: Vec<(&str, bool)> =
            page.sections.iter().map(|section| (section.anchor.as_str(), section.is_main)).collect();
        assert_eq!(sections, [("", false), ("débito-inmediato", true), ("débito-inmediato-1", false)]);
        assert!(page.sections[1].code.contains("curl 1 < 2"));
    }
}
