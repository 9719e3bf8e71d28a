//! The files of the repository.

use crate::markdown::snippets;
use std::fs;
use std::path::{Path, PathBuf};

/// A text file, by its path from the root.
pub(crate) struct Source {
    pub path: String,
    pub text: String,
}

impl Source {
    fn ends_with(&self, ends: &[&str]) -> bool {
        ends.iter().any(|end| self.path.ends_with(end))
    }

    pub(crate) fn is_program(&self) -> bool {
        self.ends_with(&[".rs", ".py", ".sh", ".cu"])
    }
}

pub(crate) struct Tree {
    pub files: Vec<Source>,
}

impl Tree {
    pub(crate) fn read() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut files = Vec::new();
        let mut folders = vec![PathBuf::new()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(root.join(&folder)).expect("the repository can be read") {
                let name = entry.expect("the repository can be read").file_name();
                let path = folder.join(&name);
                if root.join(&path).is_dir() {
                    // `target`, and what tools keep for themselves.
                    let hidden = name.to_string_lossy().starts_with('.');
                    if name != "target" && (!hidden || name == ".github" || name == ".ci") {
                        folders.push(path);
                    }
                } else if let Ok(text) = fs::read_to_string(root.join(&path)) {
                    let path = path.to_string_lossy().replace('\\', "/");
                    files.push(Source { path, text });
                }
            }
        }
        Self { files }
    }

    /// The documents. What `cargo xtask report` makes a page of is read in that page.
    pub(crate) fn pages(&self) -> impl Iterator<Item = &Source> {
        let part = |file: &Source| file.path.starts_with("xtask/src/report/");
        self.files
            .iter()
            .filter(move |file| file.path.ends_with(".md") && !part(file))
    }

    pub(crate) fn text(&self, path: &str) -> String {
        let file = self.files.iter().find(|file| file.path == path);
        file.map(|file| file.text.clone()).unwrap_or_default()
    }

    pub(crate) fn below(&self, folder: &str) -> impl Iterator<Item = &String> {
        let paths = self.files.iter().map(|file| &file.path);
        paths.filter(move |path| path.starts_with(folder))
    }

    fn exists(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        self.files.iter().any(|file| file.path == path) || self.below(&folder).next().is_some()
    }

    /// `link` as the page `from` means it, if there is such a file or folder.
    pub(crate) fn resolve(&self, from: &str, link: &str) -> Option<String> {
        let mut parts: Vec<&str> = from.split('/').collect();
        parts.pop();
        for part in link.trim_end_matches('/').split('/') {
            match part {
                "." => {}
                ".." => drop(parts.pop()?),
                _ => parts.push(part),
            }
        }
        let path = parts.join("/");
        self.exists(&path).then_some(path)
    }

    /// Whether code in a text is the name of a file, or of a folder of this repository.
    pub(crate) fn looks_like_a_path(&self, code: &str) -> bool {
        let fits = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
        let named = |end: &str| code.len() > end.len() && code.ends_with(end);
        let file = [".rs", ".md", ".py", ".cu", ".toml", ".yml", ".txt"]
            .into_iter()
            .any(named);
        let first = code.split_once('/').map(|(first, _)| first);
        let folder = first.is_some_and(|first| self.exists(first));
        code.chars().all(fits) && (file || folder) && first != Some("target")
    }

    /// Whether the page `from` may name `path` so: from the root, from where it stands, from the sources of the kernels, or by
    /// the end of the path alone.
    pub(crate) fn knows(&self, from: &str, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        let end = format!("/{path}");
        self.exists(path)
            || self.resolve(from, path).is_some()
            || self.exists(&format!("kernels/src/{path}"))
            || self.files.iter().any(|file| file.path.ends_with(&end))
    }

    pub(crate) fn examples(&self) -> Vec<String> {
        self.in_folder(&["examples/", "kernels/examples/"])
    }

    /// The names of all targets of a kind, `test` or `bench`: those in the folder of that name, and those the manifests name.
    pub(crate) fn targets(&self, kind: &str) -> Vec<String> {
        let mut names = match kind {
            "bench" => self.in_folder(&["benches/"]),
            _ => self.in_folder(&[
                "tests/",
                "kernels/tests/",
                "protocol/tests/",
                "xtask/tests/",
            ]),
        };
        let head = format!("[[{kind}]]\nname = \"");
        for manifest in ["Cargo.toml", "kernels/Cargo.toml"] {
            let text = self.text(manifest);
            let sections = text.split(&head).skip(1);
            names.extend(sections.filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())));
        }
        names
    }

    /// Files in one of the folders, and folders in them that have a `main.rs`.
    fn in_folder(&self, folders: &[&str]) -> Vec<String> {
        let name = |path: &String| {
            let rest = folders.iter().find_map(|folder| path.strip_prefix(folder));
            let rest = rest?.strip_suffix(".rs")?;
            let name = rest.strip_suffix("/main").unwrap_or(rest);
            (!name.contains('/')).then(|| name.to_owned())
        };
        self.files
            .iter()
            .filter_map(|file| name(&file.path))
            .collect()
    }

    /// The names in a manifest's `[features]`.
    pub(crate) fn features(&self, manifest: &str) -> Vec<String> {
        let text = self.text(manifest);
        let section = text.split("[features]\n").nth(1).unwrap_or_default();
        let section = section.split("\n[").next().unwrap_or_default();
        let names = section.lines().filter_map(|line| line.split_once(" = "));
        names.map(|(name, _)| name.to_owned()).collect()
    }

    /// A feature by itself, or `package/feature`.
    pub(crate) fn has_feature(&self, name: &str) -> bool {
        let manifests = [
            ("burn-scan", "Cargo.toml"),
            ("cubecl-scan", "kernels/Cargo.toml"),
            ("xtask", "xtask/Cargo.toml"),
        ];
        let (package, name) = name.split_once('/').unwrap_or(("", name));
        let mut known = manifests
            .iter()
            .filter(|(of, _)| package.is_empty() || package == *of)
            .flat_map(|(_, manifest)| self.features(manifest));
        known.any(|feature| feature == name)
    }
}

/// The lines of a file that show a cargo command: code in documents and comments, and what continuous integration runs.
pub(crate) fn commands(file: &Source) -> Vec<String> {
    let text = if file.path.ends_with(".md") {
        file.text.clone()
    } else if file.path.ends_with(".rs") && !file.path.starts_with("xtask/tests/") {
        let comments = file.text.lines().map(|line| {
            let line = line.trim_start();
            let comment = ["//! ", "/// ", "// "]
                .iter()
                .find_map(|mark| line.strip_prefix(mark));
            comment.unwrap_or_default()
        });
        comments.collect::<Vec<_>>().join("\n")
    } else if file.path.starts_with(".ci/") || file.path.starts_with(".github/") {
        format!("```\n{}\n```", file.text)
    } else {
        return Vec::new();
    };
    let code = snippets(&text).into_iter().map(|snippet| snippet.text);
    let code = code.map(|line| line.split(" # ").next().unwrap_or_default().to_owned());
    code.filter(|line| line.contains("cargo ")).collect()
}
