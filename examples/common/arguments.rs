//! The command line of an example. Its usage line says what is accepted, in brackets.
//!
//! `name [--option VALUE] [--flag] [FILE..]`: an option takes a value if the usage line shows one, as the next
//! word or after `=`. Files are accepted if the last bracket ends in `..`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub struct Arguments {
    name: String,
    options: Vec<(String, String)>,
    pub files: Vec<PathBuf>,
}

impl Arguments {
    pub fn parse(usage: &str, given: Vec<OsString>) -> Result<Self, String> {
        let mut brackets = usage
            .split('[')
            .map(|part| part.trim_end_matches(['\n', ' ', ']']));
        let name = brackets.next().unwrap_or_default().to_string();
        let known: Vec<&str> = brackets.collect();
        // The usage line's word for the option's value. Empty for a flag.
        let value_of = |option: &str| {
            let value = |shown: &&str| match shown.split_once(' ') {
                Some((name, value)) => (name == option).then(|| value.to_string()),
                None => (*shown == option).then(String::new),
            };
            known.iter().find_map(value)
        };
        let mut parsed = Self {
            name,
            options: Vec::new(),
            files: Vec::new(),
        };
        let mut given = given.into_iter();
        while let Some(word) = given.next() {
            let Some(option) = word.to_str().filter(|word| word.starts_with('-')) else {
                if !known.iter().any(|shown| shown.ends_with("..")) {
                    return Err(format!("unexpected {}; usage: {usage}", word.display()));
                }
                parsed.files.push(word.into());
                continue;
            };
            let (option, joined) = match option.split_once('=') {
                Some((option, value)) => (option, Some(value.to_string())),
                None => (option, None),
            };
            let value = match (value_of(option).as_deref(), joined) {
                (None, _) => return Err(format!("unknown option {option}; usage: {usage}")),
                (Some(""), Some(_)) => {
                    return Err(format!("{option} takes no value; usage: {usage}"));
                }
                (Some(""), None) => String::new(),
                (Some(_), Some(value)) => value,
                (Some(shown), None) => given
                    .next()
                    .and_then(|value| value.into_string().ok())
                    .ok_or_else(|| format!("{option} needs a {shown}; usage: {usage}"))?,
            };
            parsed.options.push((option.to_string(), value));
        }
        Ok(parsed)
    }

    /// The value of an option. The last one counts.
    pub fn option(&self, name: &str) -> Option<&str> {
        let given = self.options.iter().rev().find(|(option, _)| option == name);
        given.map(|(_, value)| value.as_str())
    }

    pub fn flag(&self, name: &str) -> bool {
        self.option(name).is_some()
    }

    /// `--device NAME`.
    pub fn device(&self) -> Option<&str> {
        self.option("--device")
    }

    /// `--svg PATH`: the file of the picture.
    pub fn svg(&self) -> PathBuf {
        self.picture("svg")
    }

    /// `--png PATH`: the file of the picture.
    pub fn png(&self) -> PathBuf {
        self.picture("png")
    }

    fn picture(&self, form: &str) -> PathBuf {
        let default = || Path::new("target/plots").join(format!("{}.{form}", self.name));
        self.option(&format!("--{form}"))
            .map_or_else(default, PathBuf::from)
    }
}
