//! Everything that the documents name exists: links, images, headings, files, commands and their options, variables.
//!
//! The tests read every Markdown file, the comments of every source file, and the steps of continuous integration. They
//! do not follow links to other sites.

mod markdown;
mod tree;

use std::collections::BTreeSet;
use std::process::Command;

use markdown::{Snippet, headings, links, snippets};
use tree::Tree;

/// Fails with all complaints at once.
fn verdict(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn links_and_images_lead_somewhere() {
    let tree = Tree::read();
    let mut complaints = Vec::new();
    for page in tree.pages() {
        for link in links(&page.text) {
            if link.contains("://") {
                continue;
            }
            let (file, heading) = link.split_once('#').unwrap_or((&link, ""));
            let target = match file {
                "" => Some(page.path.clone()),
                _ => tree.resolve(&page.path, file),
            };
            let Some(target) = target else {
                complaints.push(format!("{}: no file {file}", page.path));
                continue;
            };
            let headings = || headings(&tree.text(&target));
            if !heading.is_empty() && !headings().iter().any(|known| known == heading) {
                complaints.push(format!("{}: no heading {link}", page.path));
            }
        }
    }
    verdict(complaints);
}

#[test]
fn files_named_in_code_exist() {
    let tree = Tree::read();
    let mut complaints = Vec::new();
    for page in tree.pages() {
        for Snippet { text, .. } in snippets(&page.text).iter().filter(|s| s.inline) {
            if tree.looks_like_a_path(text) && !tree.knows(&page.path, text) {
                complaints.push(format!("{}: no {text}", page.path));
            }
        }
    }
    verdict(complaints);
}

#[test]
fn commands_name_what_exists() {
    let tree = Tree::read();
    let help = help();
    let mut complaints = Vec::new();
    for source in &tree.files {
        for line in tree::commands(source) {
            if let Err(complaint) = check_command(&line, &help, &tree) {
                complaints.push(format!("{}: {complaint} in `{line}`", source.path));
            }
        }
    }
    verdict(complaints);
}

#[test]
fn variables_are_read_somewhere() {
    let tree = Tree::read();
    let prefix = "BURN_SCAN_";
    let names = |text: &str| -> BTreeSet<String> {
        let name = |rest: &str| {
            let end = rest.find(|c: char| !c.is_ascii_uppercase() && c != '_');
            rest[..end.unwrap_or(rest.len())].to_owned()
        };
        text.split(prefix).skip(1).map(name).collect()
    };
    let programs = tree.files.iter().filter(|file| file.is_program());
    let read: BTreeSet<String> = programs.flat_map(|file| names(&file.text)).collect();
    let mut complaints = Vec::new();
    for page in tree.pages() {
        for name in names(&page.text).difference(&read) {
            complaints.push(format!("{}: nothing reads {prefix}{name}", page.path));
        }
    }
    verdict(complaints);
}

#[test]
fn tables_of_compatibility_name_the_pinned_versions() {
    let tree = Tree::read();
    let [burn, cubecl] = ["burn", "cubecl"].map(|name| tree.pin(name));
    let mut complaints = Vec::new();
    for page in ["README.md", "docs/compatibility.md"] {
        if !tree.text(page).contains(&format!("| {burn} | {cubecl} |")) {
            complaints.push(format!("{page}: no row of Burn {burn} and CubeCL {cubecl}"));
        }
    }
    verdict(complaints);
}

#[test]
fn nothing_is_left_out() {
    let tree = Tree::read();
    let mut complaints = Vec::new();
    let listed = headings(&tree.text("examples/README.md"));
    for example in tree.examples() {
        if !listed.contains(&example) {
            complaints.push(format!(
                "examples/README.md has no section on the example {example}"
            ));
        }
    }
    let readme = tree.text("README.md");
    for feature in tree.features("burn-scan") {
        if feature != "default" && !readme.contains(&format!("`{feature}`")) {
            complaints.push(format!("README.md does not mention the feature {feature}"));
        }
    }
    let shown: BTreeSet<String> = tree
        .pages()
        .flat_map(|page| {
            let targets = links(&page.text);
            targets
                .into_iter()
                .filter_map(|link| tree.resolve(&page.path, &link))
        })
        .collect();
    for image in tree.below("docs/images/") {
        if !shown.contains(image) {
            complaints.push(format!("no page shows {image}"));
        }
    }
    verdict(complaints);
}

/// What `cargo xtask` prints. Each command has a paragraph. Its first line is indented by two, and options by six.
fn help() -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .output()
        .expect("xtask starts");
    String::from_utf8(output.stdout).expect("the help is text")
}

/// The paragraph of the help on one command.
fn help_on<'a>(help: &'a str, command: &str) -> Option<&'a str> {
    help.split("\n\n").find(|paragraph| {
        let first = paragraph.trim_start_matches('\n').split_whitespace().next();
        paragraph.starts_with("  ") && first == Some(command)
    })
}

fn check_command(line: &str, help: &str, tree: &Tree) -> Result<(), String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    if let Some(at) = words.windows(2).position(|pair| pair == ["cargo", "xtask"]) {
        let own = words[at + 2..].iter().take_while(|word| **word != "--");
        let own: Vec<&str> = own.copied().collect();
        if let Some((command, options)) = own.split_first()
            && is_name(command)
        {
            let help = help_on(help, command).ok_or(format!("no command {command}"))?;
            let unknown = options
                .iter()
                .find(|word| word.starts_with("--") && !help.contains(**word));
            if let Some(option) = unknown {
                return Err(format!("no option {option}"));
            }
        }
    }
    for pair in words.windows(2) {
        let [option, value] = [pair[0], pair[1].trim_matches(['"', '\''])];
        for name in value.split(',').filter(|name| is_name(name)) {
            let exists = match option {
                "--example" => tree.examples().iter().any(|known| known == name),
                "--bench" => tree.targets("bench").iter().any(|known| known == name),
                "--test" => tree.targets("test").iter().any(|known| known == name),
                "--features" => tree.has_feature(name),
                _ => true,
            };
            if !exists {
                return Err(format!("no {} {name}", option.trim_start_matches('-')));
            }
        }
    }
    Ok(())
}

/// Whether it is a name, and no placeholder such as `NAME` or `$feature`.
fn is_name(word: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-/".contains(c);
    word.starts_with(|c: char| c.is_ascii_lowercase()) && word.chars().all(fits)
}

#[test]
fn wrong_commands_are_noticed() {
    let (tree, help) = (Tree::read(), help());
    let check = |line| check_command(line, &help, &tree);
    for right in [
        "cargo xtask",
        "cargo xtask COMMAND",
        "cargo xtask test --driver lavapipe -- --test gradients",
        "cargo bench --bench scan",
        "cargo run -p cubecl-scan --features wgpu --example seeds",
        "cargo test --features cubecl-scan/wgpu,xtask/shared-dependencies",
    ] {
        assert_eq!(check(right), Ok(()), "{right}");
    }
    for wrong in [
        "cargo xtask tset",
        "cargo xtask features --driver lavapipe",
        "cargo xtask test -- --test gradient",
        "cargo run --example raged_batch",
        "cargo bench --bench scans",
        "cargo check --features wgpu,cudda",
    ] {
        assert!(check(wrong).is_err(), "{wrong}");
    }
}
