//! Tables that no name calls so: what the beginning of a file looks like. Read as a text, one would be a single document, and
//! nobody would be told.

use std::collections::HashSet;

/// Longest name of a column that such a header may have, in bytes.
const NAME: usize = 64;
/// The column that tells a table where no row is there as a whole.
const TEXT: &str = "text";

/// Rows that are looked at where names of columns may be any.
const ROWS: usize = 100;
/// How Excel says what separates fields, in a line of its own.
const SEPARATOR: &str = "sep=";

/// Whether some text, all of a file or its beginning, is a header of several names, and a row of as many fields; or of names that people
/// give to columns, if these are not `strict`, and several such rows.
pub(super) fn looks_like_table(content: &str, whole: bool, delimiter: u8, strict: bool) -> bool {
    let content = content.trim_start_matches(['\r', '\n']);
    let mut rows = WholeRows { rest: content, whole, delimiter };
    let Some(header) = rows.next() else { return false };
    if header == [SEPARATOR, ""] {
        return !strict;
    }
    let names: Vec<&str> = header.iter().map(|name| unquoted(name)).collect();
    let distinct: HashSet<&str> = names.iter().map(|name| name.trim()).collect();
    let has_text = names.iter().any(|name| name.trim() == TEXT);
    let has_equals = distinct.len() < names.len();
    if names.len() < 2 || has_equals && !has_text {
        return false;
    }
    let mut fit = rows.filter(|row| *row != [""]).map(|row| row.len() == names.len());
    if names.iter().all(|name| is_name(name)) {
        return fit.next().unwrap_or(has_text && !has_equals);
    }
    if strict && !has_text || !names.iter().enumerate().all(|(at, name)| is_title(name, at, has_text)) {
        return false;
    }
    let (mut found, mut all) = (0, true);
    fit.take(ROWS).for_each(|fits| {
        found += 1;
        all &= fits;
    });
    all && (has_text && (found > 0 || !has_equals) || found > 1)
}

/// Whether some text, all of a file or its beginning, is a header of names as programs give them, of which one is that of the text, and of
/// rows of as many fields, of which it has one as a whole.
pub(super) fn is_of_rows_of_text(content: &str, whole: bool, delimiter: u8) -> bool {
    let content = content.trim_start_matches(['\r', '\n']);
    let mut rows = WholeRows { rest: content, whole, delimiter };
    let Some(header) = rows.next() else { return false };
    let names: HashSet<&str> = header.iter().map(|name| unquoted(name)).collect();
    let is_header = names.len() == header.len() && names.iter().all(|name| is_name(name));
    if names.len() < 2 || !is_header || !names.contains(TEXT) {
        return false;
    }
    let mut fit = rows.filter(|row| *row != [""]).take(ROWS).map(|row| row.len() == names.len()).peekable();
    fit.peek().is_some() && fit.all(|fits| fits)
}

/// Whether a field may be what people call a column: the first may have no name, as that of the numbers of rows, and blanks around it
/// are rare but in prose. Where there is no doubt any column may be without a name, and have such blanks.
fn is_title(field: &str, at: usize, is_beyond_doubt: bool) -> bool {
    let begins = |first: char| first.is_alphabetic() || matches!(first, '_' | '#' | '@' | '$');
    let is_part = |letter: char| letter.is_alphanumeric() || " _.-:/()[]#@$%&+*'?".contains(letter);
    let name = if is_beyond_doubt { field.trim() } else { field };
    match name.is_empty() {
        true => at == 0 || is_beyond_doubt,
        false => {
            name.len() <= NAME
                && name.starts_with(begins)
                && !name.ends_with(' ')
                && name.chars().all(is_part)
        }
    }
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
                b'\n' | b'\r' if !quoted => {
                    let behind = &text[at..];
                    self.rest = behind.strip_prefix("\r\n").unwrap_or(&behind[1..]);
                    fields.push(&text[begin..at]);
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
    fn what_is_called_a_text_is_a_table_only_beyond_doubt() {
        let tabs = |content: &str| is_of_rows_of_text(content, false, b'\t');
        for table in
            ["id\ttext\n1\ta b\n", "\n\"text\"\turl\r\n\"a\nb\"\tc\r\n\r\nd\te\r\nf", "text\tn\n\t\n"]
        {
            assert!(tabs(table), "{table}");
        }
        for text in [
            "",
            "id\ttext\n",
            "id\ttext\n1\ta b",
            "id\tbody\n1\ta\n2\tb\n",
            "text\na\nb\n",
            "a text\ttext\n1\t2\n",
            "text\ttext\n1\t2\n",
            "id\ttext\n1\ta\n2\tb\tc\n",
        ] {
            assert!(!tabs(text), "{text}");
        }
        let markdown = "| id | text |\n|---|---|\n| 1 | a |\n";
        assert!(!is_of_rows_of_text(markdown, true, b'|'));
        assert!(is_of_rows_of_text("id,text\n1,a", true, b','));
    }

    #[test]
    fn tables_are_told_from_texts() {
        let comma = |content: &str, whole| looks_like_table(content, whole, b',', false);
        for table in [
            "id,text\n1,a\n",
            "id,text\r\n\r\n1,\"a, \"\"b\"\"\nc\"\r\n",
            "\"id\",\"body\"\n1,2",
            "\n\r\nid,text\n1,a\n",
            "id,body\r1,a\r2,b\r",
            "id,text",
            "nom,pr\u{e9}nom\na,b\n",
        ] {
            assert!(comma(table, true), "{table}");
        }
        assert!(comma("id,text\n1,a text that goes on", false));
        for strict in [true, false] {
            assert!(looks_like_table("id\ttext\n1\ta\n", true, b'\t', strict));
            for with_text in [
                ",text\n0,a b\n",
                "\"\",\"text\"\n\"1\",\"a b\"\n",
                "id, text\n1,a b\n",
                "#id,text\n1,a b",
                "id,text,text\n1,a b,c d\n",
                "id,text,\n1,a b,\n",
                "Doc ID,text",
            ] {
                assert!(looks_like_table(with_text, true, b',', strict), "{with_text}");
            }
        }
        for titles in ["Doc ID,Full Text\n1,a\n2,b\n", "body,note (x)\na,1\nb,2\n", ",url/path\n0,a\n1,b\n"] {
            assert!(comma(titles, true) && !looks_like_table(titles, true, b',', true), "{titles}");
        }
        assert!(looks_like_table("sep=;\r\nid;text\r\n1;a\r\n", true, b';', false));
        for text in [
            "",
            "id",
            "Dear all,\nplease find it here, and there\n",
            "Yes, and no\nor, perhaps\n",
            "id,id\n1,2\n",
            "video, text, video",
            "id,text,text",
            "1,2\n3,4\n",
            "one,two\nA line of a text without any more.\n",
            "id,number\n",
            "id,\"text\n1,a\n",
            "Doc ID,Full Text\n1,a\n",
            "Doc ID,Full Text\n1,a\n2,b,c\n",
            "Hello there, my text\nand, so, on\n",
            "if x > 1,y\na,b\nc,d\n",
            "1,000 words\n2,000 words\n3,000 words\n",
        ] {
            assert!(!comma(text, true), "{text}");
        }
        assert!(!comma("id,text", false), "the last name may go on");
        assert!(!comma("id,body\n1,a text that goes on", false));
    }
}
