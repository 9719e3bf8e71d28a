//! As much of Markdown as the documents here use.

/// Code in a text: a span between backticks, or a line of a fenced block.
#[derive(Debug, PartialEq)]
pub(crate) struct Snippet {
    pub text: String,
    pub inline: bool,
}

/// The lines of a text, each with whether it is inside a fenced block. Fences themselves are left out.
fn lines(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut fenced = false;
    text.lines().filter_map(move |line| {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            return None;
        }
        Some((line, fenced))
    })
}

/// The text outside of fenced blocks, paragraph by paragraph: a span may go on in the next line, but not in the next paragraph.
/// A heading, and a row of a table or a list, is a paragraph of its own where it begins a line.
fn paragraphs(text: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    for (line, fenced) in lines(text) {
        let begins = ["|", "#", "- ", ">"]
            .iter()
            .any(|mark| line.trim_start().starts_with(mark));
        if fenced || begins || line.trim().is_empty() {
            found.push(String::new());
        }
        if !fenced && let Some(last) = found.last_mut() {
            last.push_str(line);
            last.push(' ');
        }
    }
    found
}

/// All code of a text.
pub(crate) fn snippets(text: &str) -> Vec<Snippet> {
    let spans = paragraphs(text).into_iter().flat_map(|paragraph| {
        let spans = paragraph.split('`').skip(1).step_by(2);
        spans.map(str::to_owned).collect::<Vec<_>>()
    });
    let spans = spans.map(|text| Snippet { text, inline: true });
    let fenced = lines(text).filter(|(_, fenced)| *fenced);
    let fenced = fenced.map(|(line, _)| Snippet {
        text: line.to_owned(),
        inline: false,
    });
    spans.chain(fenced).collect()
}

/// The targets of all links and images, `[text](target)` and `[text]: target`.
pub(crate) fn links(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (line, _) in lines(text).filter(|(_, fenced)| !fenced) {
        let named = line
            .strip_prefix('[')
            .and_then(|rest| rest.split_once("]: "));
        found.extend(named.map(|(_, target)| target.to_owned()));
    }
    for paragraph in paragraphs(text) {
        // A bracket in a code span is no link, but a span may be the text of one.
        let outside: Vec<&str> = paragraph.split('`').step_by(2).collect();
        let outside = outside.join("`");
        let targets = outside.split("](").skip(1);
        found.extend(targets.filter_map(|rest| Some(rest.split_once(')')?.0.to_owned())));
    }
    found
}

/// The anchors of all headings, as code hosts derive them.
pub(crate) fn headings(text: &str) -> Vec<String> {
    let headings = lines(text).filter(|(line, fenced)| !fenced && line.starts_with('#'));
    headings
        .map(|(line, _)| {
            let title = line.trim_start_matches('#').trim().to_lowercase();
            let kept = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
            title.chars().filter(kept).collect::<String>()
        })
        .map(|title| title.replace(' ', "-"))
        .collect()
}

#[test]
fn a_text_is_taken_apart() {
    let text = "# A `b`, c!\n\nSee [`x`](y.md#z) and `one\ntwo`.\n```sh\n# no heading\n[no](link)\n```\n![i](j.svg)\n- `a[0](b)`\n";
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
        span("a[0](b)"),
        line("# no heading"),
        line("[no](link)"),
    ];
    assert_eq!(code, expected);
}
