//! The parts of a Markdown text that name something: code, links, headings.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// Code in a text: a span between backticks, or a line of a fenced block.
#[derive(Debug, PartialEq)]
pub(crate) struct Snippet {
    pub text: String,
    pub inline: bool,
}

fn events(text: &str) -> Parser<'_> {
    Parser::new_ext(text, Options::ENABLE_TABLES)
}

/// All code of a text.
pub(crate) fn snippets(text: &str) -> Vec<Snippet> {
    let snippet = |text: &str, inline| Snippet {
        text: text.to_owned(),
        inline,
    };
    let mut found = Vec::new();
    let mut in_block = false;
    for event in events(text) {
        match event {
            Event::Code(code) => found.push(snippet(&code, true)),
            Event::Start(Tag::CodeBlock(_)) => in_block = true,
            Event::End(TagEnd::CodeBlock) => in_block = false,
            Event::Text(code) if in_block => {
                found.extend(code.lines().map(|line| snippet(line, false)));
            }
            _ => {}
        }
    }
    found
}

/// The targets of all links and images.
pub(crate) fn links(text: &str) -> Vec<String> {
    let target = |event| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
            Some(dest_url.into_string())
        }
        _ => None,
    };
    events(text).filter_map(target).collect()
}

/// The anchors of all headings, as code hosts derive them.
pub(crate) fn headings(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut title = None;
    for event in events(text) {
        match event {
            Event::Start(Tag::Heading { .. }) => title = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => found.extend(title.take()),
            Event::Text(part) | Event::Code(part) => {
                let kept = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
                let part = part.to_lowercase().replace(' ', "-");
                title
                    .iter_mut()
                    .for_each(|title| title.extend(part.chars().filter(kept)));
            }
            _ => {}
        }
    }
    found
}

#[test]
fn a_text_is_taken_apart() {
    let text = "# A `b`, c!\n\nSee [`x`](y.md#z) and `one\ntwo`.\n\
        ```sh\n# no heading\n[no](link)\n```\n![i](j.svg)\n- `a[0](b)`\n\n|`d`|\n|-|\n|`e`|\n";
    assert_eq!(headings(text), ["a-b-c"]);
    assert_eq!(links(text), ["y.md#z", "j.svg"]);
    let code: Vec<(String, bool)> = snippets(text)
        .into_iter()
        .map(|s| (s.text, s.inline))
        .collect();
    let span = |text: &str| (text.to_owned(), true);
    let line = |text: &str| (text.to_owned(), false);
    let expected = [
        span("b"),
        span("x"),
        span("one two"),
        line("# no heading"),
        line("[no](link)"),
        span("a[0](b)"),
        span("d"),
        span("e"),
    ];
    assert_eq!(code, expected);
}
