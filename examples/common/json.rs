//! JSON (RFC 8259), as far as the examples print it.

use std::fmt::{self, Display, Formatter, Write};

pub enum Json {
    Bool(bool),
    Integer(i64),
    /// `null` where the number is not finite.
    Number(f64),
    Text(String),
    List(Vec<Json>),
    /// Keys and values, in the order in which they are printed.
    Object(Vec<(&'static str, Json)>),
}

impl Display for Json {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Number(value) if value.is_finite() => write!(f, "{value}"),
            Self::Number(_) => f.write_str("null"),
            Self::Text(text) => quoted(f, text),
            Self::List(values) => enclosed(f, '[', ']', values, |f, value| write!(f, "{value}")),
            Self::Object(fields) => enclosed(f, '{', '}', fields, |f, (key, value)| {
                quoted(f, key)?;
                write!(f, ": {value}")
            }),
        }
    }
}

fn enclosed<T>(
    f: &mut Formatter,
    open: char,
    close: char,
    items: &[T],
    write_item: impl Fn(&mut Formatter, &T) -> fmt::Result,
) -> fmt::Result {
    f.write_char(open)?;
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            f.write_str(", ")?;
        }
        write_item(f, item)?;
    }
    f.write_char(close)
}

/// Writes the text in quotation marks, with quotation marks, backslashes and control characters escaped.
fn quoted(f: &mut Formatter, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for character in text.chars() {
        match character {
            '"' | '\\' => write!(f, "\\{character}")?,
            '\0'..='\x1f' => write!(f, "\\u{:04x}", u32::from(character))?,
            _ => f.write_char(character)?,
        }
    }
    f.write_char('"')
}
