//! A command line of `--flag`, `--option VALUE` (or `--option=VALUE`), plain words and `-- REST`.

use anyhow::{anyhow, bail};
use lexopt::{Arg, Parser, ValueExt};

use crate::Result;

/// What a command accepts: the names of its flags and of its options, with their dashes.
#[derive(Default)]
pub(crate) struct Spec {
    pub(crate) flags: &'static [&'static str],
    pub(crate) options: &'static [&'static str],
}

/// A parsed command line.
#[derive(Debug, Default)]
pub(crate) struct Args {
    flags: Vec<String>,
    options: Vec<(String, String)>,
    /// Words that belong to no option.
    pub(crate) words: Vec<String>,
    /// Everything after the first `--`.
    pub(crate) rest: Vec<String>,
}

impl Args {
    pub(crate) fn parse(args: &[String], spec: &Spec) -> Result<Self> {
        // The parser would not tell the words before `--` from those after it.
        let end = args.iter().position(|arg| arg == "--");
        let end = end.unwrap_or(args.len());
        let mut parsed = Self {
            rest: args.iter().skip(end + 1).cloned().collect(),
            ..Self::default()
        };
        let mut parser = Parser::from_args(&args[..end]);
        while let Some(arg) = parser.next()? {
            let name = match arg {
                Arg::Value(word) => {
                    parsed.words.push(word.string()?);
                    continue;
                }
                Arg::Long(name) => format!("--{name}"),
                Arg::Short(letter) => format!("-{letter}"),
            };
            if spec.flags.contains(&name.as_str()) {
                parsed.flags.push(name);
            } else if spec.options.contains(&name.as_str()) {
                let value = parser.value();
                let value = value.map_err(|_| anyhow!("{name} needs a value"))?;
                parsed.options.push((name, value.string()?));
            } else {
                let known = [spec.flags, spec.options].concat().join(" ");
                bail!("no option `{name}` here; there are: {known}");
            }
        }
        Ok(parsed)
    }

    /// Refuses plain words. `hint` says where they belong.
    pub(crate) fn no_words(&self, hint: &str) -> Result<()> {
        match self.words.first() {
            Some(word) => bail!("unexpected `{word}`{hint}"),
            None => Ok(()),
        }
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.flags.iter().any(|flag| flag == name)
    }

    /// Every value given for `name`, in order.
    pub(crate) fn all<'a>(&'a self, name: &str) -> impl DoubleEndedIterator<Item = &'a str> {
        let of_name = self.options.iter().filter(move |(known, _)| known == name);
        of_name.map(|(_, value)| value.as_str())
    }

    /// The last value given for `name`.
    pub(crate) fn last(&self, name: &str) -> Option<&str> {
        self.all(name).next_back()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: Spec = Spec {
        flags: &["--heavy"],
        options: &["--driver", "--test"],
    };

    fn parse(line: &str) -> Result<Args> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Args::parse(&words, &SPEC)
    }

    #[test]
    fn flags_options_words_and_rest() {
        let args =
            parse("out --heavy --driver=lavapipe --test a --test b -- --heavy -- x").unwrap();
        assert!(args.flag("--heavy") && !args.flag("--driver"));
        assert_eq!(args.words, ["out"]);
        assert_eq!(args.last("--driver"), Some("lavapipe"));
        assert!(args.all("--test").eq(["a", "b"]));
        assert_eq!(args.rest, ["--heavy", "--", "x"]);
        assert!(args.no_words("").is_err() && parse("--heavy").unwrap().no_words("").is_ok());
    }

    #[test]
    fn mistakes_are_named() {
        let error = |line| parse(line).unwrap_err().to_string();
        assert!(error("--fast").contains("no option `--fast`"));
        assert!(error("--heavy=1").contains("'--heavy'"));
        assert_eq!(error("--driver"), "--driver needs a value");
    }
}
