//! The modules of a crate, and which of them names which. Read from the tokens of its files, so macros count as well.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A module's path from the root of its crate.
pub type Module = Vec<String>;

/// The modules that each module names. Left out: tests, and the modules that contain it.
pub fn uses(root: &Path) -> BTreeMap<Module, BTreeSet<Module>> {
    let mut files = BTreeMap::new();
    collect(Vec::new(), &root.join("lib.rs"), root, &mut files);
    let uses = |(module, tokens): (&Module, &TokenStream)| {
        let mut paths = Vec::new();
        paths_of(tokens.clone(), &mut paths);
        let used = paths
            .iter()
            .filter_map(|path| resolve(module, path, &files));
        (
            module.clone(),
            used.filter(|used| !module.starts_with(used)).collect(),
        )
    };
    files.iter().map(uses).collect()
}

/// Reads a module and those that it declares. `folder` is where their files are.
fn collect(path: Module, file: &Path, folder: &Path, files: &mut BTreeMap<Module, TokenStream>) {
    let text = fs::read_to_string(file).unwrap();
    let tokens: TokenStream = text.parse().unwrap();
    let mut all = tokens.clone().into_iter().peekable();
    while let Some(token) = all.next() {
        let (TokenTree::Ident(word), Some(TokenTree::Ident(name))) = (&token, all.peek()) else {
            continue;
        };
        let name = name.to_string();
        if word != "mod" || name == "tests" {
            continue;
        }
        let inner = folder.join(&name);
        let candidates = [folder.join(format!("{name}.rs")), inner.join("mod.rs")];
        if let Some(file) = candidates.iter().find(|file| file.exists()) {
            collect([path.clone(), vec![name]].concat(), file, &inner, files);
        }
    }
    files.insert(path, tokens);
}

/// The paths in `tokens`. A path of a `use` tree counts once for each of its ends.
fn paths_of(tokens: TokenStream, paths: &mut Vec<Vec<String>>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Ident(word) if word == "tests" => at += 2,
            TokenTree::Ident(_) => at = path_from(&tokens, at, &[], paths),
            TokenTree::Group(group) => {
                paths_of(group.stream(), paths);
                at += 1;
            }
            _ => at += 1,
        }
    }
}

fn is_comma(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',')
}

/// Reads a path that begins at `at`, after `before`. Returns where it ends.
fn path_from(
    tokens: &[TokenTree],
    mut at: usize,
    before: &[String],
    paths: &mut Vec<Vec<String>>,
) -> usize {
    let is_colon =
        |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == ':');
    let mut path = before.to_vec();
    loop {
        match tokens.get(at) {
            Some(TokenTree::Ident(word)) => path.push(word.to_string()),
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                let mut start = 0;
                while start < inner.len() {
                    if is_comma(&inner[start]) {
                        start += 1;
                        continue;
                    }
                    start = path_from(&inner, start, &path, paths).max(start + 1);
                }
                return at + 1;
            }
            _ => break,
        }
        at += 1;
        if !(is_colon(at) && is_colon(at + 1)) {
            break;
        }
        at += 2;
    }
    paths.push(path);
    at
}

/// The module that a path in `module` leads into.
fn resolve(
    module: &Module,
    path: &[String],
    files: &BTreeMap<Module, TokenStream>,
) -> Option<Module> {
    let ups = path.iter().take_while(|word| *word == "super").count();
    let mut target = match path.first()?.as_str() {
        "crate" => path[1..].to_vec(),
        "self" => [module, &path[1..]].concat(),
        "super" => [module.get(..module.len().checked_sub(ups)?)?, &path[ups..]].concat(),
        _ if path.len() > 1 => [module, path].concat(),
        _ => return None,
    };
    let is_child = |target: &Module| target.len() > module.len() && target.starts_with(module);
    let is_relative = !["crate", "self", "super"].contains(&path[0].as_str());
    while !files.contains_key(&target) {
        target.pop()?;
    }
    (!is_relative || is_child(&target)).then_some(target)
}
