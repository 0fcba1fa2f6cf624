//! Tables that no name calls so: what the beginning of a file looks like. Read as a text, one would be a single document, and
//! nobody would be told.

use std::collections::HashSet;

/// Longest name of a column that such a header may have, in bytes.
const NAME: usize = 64;
/// The column that tells a table where no row is there as a whole.
const TEXT: &str = "text";

/// Whether some text, all of a file or its beginning, is a header of several names, and a row of as many fields.
pub(super) fn looks_like_table(content: &str, whole: bool, delimiter: u8) -> bool {
    let mut rows = WholeRows { rest: content, whole, delimiter };
    let Some(header) = rows.next() else { return false };
    let names: Vec<&str> = header.iter().map(|name| unquoted(name)).collect();
    let distinct: HashSet<&str> = names.iter().copied().collect();
    if names.len() < 2 || distinct.len() < names.len() || !names.iter().all(|name| is_name(name)) {
        return false;
    }
    rows.find(|row| *row != [""]).map_or_else(|| distinct.contains(TEXT), |row| row.len() == names.len())
}

/// Whether a field is what programs call columns, and no words of a sentence.
fn is_name(field: &str) -> bool {
    let begins = field.starts_with(|first: char| first.is_alphabetic() || first == '_');
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.' | '-' | ':');
    begins && field.len() <= NAME && field.chars().all(is_part)
}

/// A field without the quotes around it.
fn unquoted(field: &str) -> &str {
    field.strip_prefix('"').and_then(|field| field.strip_suffix('"')).unwrap_or(field)
}

/// The rows that are there as a whole: their fields as they are spelt.
struct WholeRows<'a> {
    rest: &'a str,
    /// Whether the end of the text ends a row.
    whole: bool,
    delimiter: u8,
}

impl<'a> Iterator for WholeRows<'a> {
    type Item = Vec<&'a str>;

    fn next(&mut self) -> Option<Vec<&'a str>> {
        let (text, mut fields, mut begin, mut quoted) = (self.rest, Vec::new(), 0, false);
        for (at, byte) in text.bytes().enumerate() {
            match byte {
                b'"' => quoted = !quoted,
                b'\n' if !quoted => {
                    self.rest = &text[at + 1..];
                    fields.push(text[begin..at].trim_end_matches('\r'));
                    return Some(fields);
                }
                byte if byte == self.delimiter && !quoted => {
                    fields.push(&text[begin..at]);
                    begin = at + 1;
                }
                _ => {}
            }
        }
        self.rest = "";
        fields.push(&text[begin..]);
        (self.whole && !quoted && !text.is_empty()).then_some(fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_told_from_texts() {
        let comma = |content: &str, whole| looks_like_table(content, whole, b',');
        for table in [
            "id,text\n1,a\n",
            "id,text\r\n\r\n1,\"a, \"\"b\"\"\nc\"\r\n",
            "\"id\",\"body\"\n1,2",
            "id,text",
            "nom,pr\u{e9}nom\na,b\n",
        ] {
            assert!(comma(table, true), "{table}");
        }
        assert!(comma("id,text\n1,a text that goes on", false));
        assert!(looks_like_table("id\ttext\n1\ta\n", true, b'\t'));
        for text in [
            "",
            "id",
            "Dear all,\nplease find it here, and there\n",
            "Yes, and no\nor, perhaps\n",
            "id,id\n1,2\n",
            "1,2\n3,4\n",
            "one,two\nA line of a text without any more.\n",
            "id,number\n",
            "id,\"text\n1,a\n",
        ] {
            assert!(!comma(text, true), "{text}");
        }
        assert!(!comma("id,text", false), "the last name may go on");
        assert!(!comma("id,body\n1,a text that goes on", false));
    }
}
