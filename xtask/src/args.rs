//! A command line of `--flag`, `--option VALUE` (or `--option=VALUE`), plain words and `-- REST`.

use crate::Result;

/// What a command accepts: the names of its flags and of its options, with their dashes.
pub(crate) struct Spec {
    pub(crate) flags: &'static [&'static str],
    pub(crate) options: &'static [&'static str],
}

/// A parsed command line.
#[derive(Debug, Default, PartialEq)]
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
        let mut parsed = Self::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let (name, value) = match arg.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (arg.as_str(), None),
            };
            if arg == "--" {
                parsed.rest = args.by_ref().cloned().collect();
            } else if !arg.starts_with('-') {
                parsed.words.push(arg.clone());
            } else if spec.flags.contains(&name) && value.is_none() {
                parsed.flags.push(name.to_owned());
            } else if spec.options.contains(&name) {
                let value = value.or_else(|| args.next().cloned());
                let value = value.ok_or_else(|| format!("{name} needs a value"))?;
                parsed.options.push((name.to_owned(), value));
            } else {
                let known = [spec.flags, spec.options].concat().join(" ");
                return Err(format!("no option `{arg}` here; there are: {known}"));
            }
        }
        Ok(parsed)
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.flags.iter().any(|flag| flag == name)
    }

    /// Every value given for `name`, in order.
    pub(crate) fn all(&self, name: &str) -> Vec<&str> {
        self.options
            .iter()
            .filter(|(option, _)| option == name)
            .map(|(_, value)| value.as_str())
            .collect()
    }

    /// The last value given for `name`.
    pub(crate) fn last(&self, name: &str) -> Option<&str> {
        self.all(name).last().copied()
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
        assert_eq!(args.all("--test"), ["a", "b"]);
        assert_eq!(args.rest, ["--heavy", "--", "x"]);
    }

    #[test]
    fn mistakes_are_named() {
        assert!(parse("--fast").unwrap_err().contains("no option `--fast`"));
        assert!(parse("--heavy=1").unwrap_err().contains("no option"));
        assert_eq!(parse("--driver").unwrap_err(), "--driver needs a value");
    }
}
