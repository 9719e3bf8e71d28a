//! The files of the repository, and the packages that cargo finds there.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use walkdir::WalkDir;

use crate::markdown::snippets;

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
    /// The packages as `cargo metadata` describes them.
    pub packages: Vec<Value>,
}

impl Tree {
    pub(crate) fn read() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        // `target` is left out, and so is what tools keep for themselves.
        let is_kept = |name: &str| match name {
            ".." | ".github" | ".ci" => true,
            _ => name != "target" && !name.starts_with('.'),
        };
        let entries = WalkDir::new(&root).into_iter();
        let entries = entries.filter_entry(|entry| {
            !entry.file_type().is_dir() || is_kept(&entry.file_name().to_string_lossy())
        });
        let source = |entry: walkdir::DirEntry| {
            let path = entry.path().strip_prefix(&root).ok()?;
            Some(Source {
                path: path.to_string_lossy().replace('\\', "/"),
                // A picture of pixels has no text.
                text: String::from_utf8(fs::read(entry.path()).ok()?).unwrap_or_default(),
            })
        };
        let metadata = Command::new(env!("CARGO"))
            .args(["metadata", "--no-deps", "--format-version", "1"])
            .current_dir(&root)
            .output()
            .expect("cargo starts");
        let mut metadata: Value =
            serde_json::from_slice(&metadata.stdout).expect("cargo writes JSON");
        Self {
            files: entries
                .map(|entry| entry.expect("the repository can be read"))
                .filter_map(source)
                .collect(),
            packages: match metadata["packages"].take() {
                Value::Array(packages) => packages,
                _ => panic!("cargo lists packages"),
            },
        }
    }

    /// The documents.
    pub(crate) fn pages(&self) -> impl Iterator<Item = &Source> {
        self.files.iter().filter(|file| file.path.ends_with(".md"))
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

    /// The file or folder that `link` means in the page `from`, if it exists.
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

    /// Whether code in a text looks like the name of a file, or of a folder of this repository.
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

    /// Whether the page `from` may name `path` like this: from the root, from the page, from the sources of the
    /// kernels, or by the end of the path alone.
    pub(crate) fn knows(&self, from: &str, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        let end = format!("/{path}");
        self.exists(path)
            || self.resolve(from, path).is_some()
            || self.exists(&format!("kernels/src/{path}"))
            || self.files.iter().any(|file| file.path.ends_with(&end))
    }

    pub(crate) fn examples(&self) -> Vec<String> {
        self.targets("example")
    }

    /// The names of all targets of a kind: `test`, `bench` or `example`.
    pub(crate) fn targets(&self, kind: &str) -> Vec<String> {
        let targets = self.packages.iter().map(|package| &package["targets"]);
        let targets = targets.flat_map(|targets| targets.as_array().into_iter().flatten());
        targets
            .filter(|target| target["kind"][0] == kind)
            .filter_map(|target| Some(target["name"].as_str()?.to_owned()))
            .collect()
    }

    /// The version of `dependency` of which a package admits patches.
    pub(crate) fn pin(&self, dependency: &str) -> String {
        let all = self.packages.iter().map(|package| &package["dependencies"]);
        let all = all.flat_map(|all| all.as_array().into_iter().flatten());
        let pins = all.filter(|of| of["name"] == dependency);
        let mut pins = pins.filter_map(|of| of["req"].as_str()?.strip_prefix('~'));
        pins.next().unwrap_or_default().to_owned()
    }

    /// The features of a package.
    pub(crate) fn features(&self, package: &str) -> Vec<String> {
        let packages = self.packages.iter().filter(|of| of["name"] == package);
        let features = packages.filter_map(|package| package["features"].as_object());
        features.flat_map(|all| all.keys().cloned()).collect()
    }

    /// Whether a package has the feature: `package/feature`, or a feature of any package.
    pub(crate) fn has_feature(&self, name: &str) -> bool {
        let (package, name) = name.split_once('/').unwrap_or(("", name));
        self.packages
            .iter()
            .filter(|of| package.is_empty() || of["name"] == package)
            .any(|of| of["features"].get(name).is_some())
    }
}

/// The lines of a file that show a cargo command: code in documents and comments, and the steps of continuous
/// integration.
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
