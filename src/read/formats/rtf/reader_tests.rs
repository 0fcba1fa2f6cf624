//! RTF to its text, word by word.

use super::reader::read_rtf;

fn text(body: &str) -> String {
    let mut text = "before".to_owned();
    read_rtf(format!("{{\\rtf1\\ansi\\ansicpg1252 {body}}}").as_bytes(), &mut text).expect("RTF");
    text
}

#[test]
fn paragraphs_and_cells_are_lines() {
    assert_eq!(text("a{\\b b}c\\par d\\tab e\\line f"), "abc\nd\te\nf");
    assert_eq!(
        text("\\trowd\\intbl a\\cell b\\cell\\row \\pard c\\~d\\_e\\-f\\{\\\\\\}"),
        "a\nb\nc\u{a0}d-ef{\\}"
    );
    assert_eq!(text("a\r\nb\\\nc\\emdash d\\ldblquote e\\rdblquote"), "ab\nc\u{2014}d\u{201c}e\u{201d}");
}

#[test]
fn what_a_reader_does_not_see_is_no_text() {
    assert_eq!(text("a{\\*\\unknown b{c}}d{\\pict\\bin3 }}}e}f"), "adf");
    assert_eq!(text("{\\field{\\*\\fldinst HYPERLINK \"x\"}{\\fldrslt a}}"), "a");
    assert_eq!(text("a{\\v b}c\\v d\\v0 e{\\deleted f}g\\v h\\plain i"), "acegi");
    assert_eq!(text("a{\\*\\annotation{\\*\\atnid b}c}{\\xe d}{\\stylesheet{\\s1 e;}}f"), "af");
    assert_eq!(text("{\\listtext 1.\\tab}a{\\*\\bkmkstart b}{\\colortbl;\\red0;}"), "a");
    assert_eq!(
        text(
            "{\\shp{\\*\\shpinst{\\sp{\\sn a}{\\sv b}}{\\shptxt c}}{\\shprslt d}}{\\object{\\*\\objdata 00}{\\result e}}"
        ),
        "ce"
    );
    assert_eq!(text("{\\upr{a}{\\*\\ud{\\u946?}}}c{\\*\\x{\\upr{d}{\\*\\ud e}}}"), "\u{3b2}c");
}

#[test]
fn notes_and_headers_have_their_places() {
    assert_eq!(
        text(
            "{\\header h\\par}a{\\footnote 1}b{\\footnote\\ftnalt 2}c{\\footnote 3}\\par{\\footer f}{\\headerf h}{\\headerl g}"
        ),
        "h\ng\nabc\n1\n3\n2\nf"
    );
}

#[test]
fn characters_are_decoded() {
    assert_eq!(text("caf\\'e9 \\u233?\\u8217\\'92x"), "caf\u{e9} \u{e9}\u{2019}x");
    assert_eq!(text("\\uc2\\u233??a{\\uc0\\u233 b}\\u233\\'82\\'a0c"), "\u{e9}a\u{e9}b\u{e9}c");
    assert_eq!(text("\\u-10179?\\u-8704?\\u-10179?x\\u-3913?"), "\u{1f600}x\u{f0b7}");
    assert_eq!(text("\\uc1\\u233\\par x\\u128512?"), "\u{e9}x\u{1f600}");
    let fonts = "{\\fonttbl{\\f0\\fcharset0 A;}{\\f1\\fcharset204 B;}{\\f2\\fcharset128 C;}{\\f3\\fcharset1\\cpg1253 D;}}";
    assert_eq!(
        text(&format!("\\deff1{fonts}\\'e0{{\\f0\\'e0}}{{\\f2\\'82\\'a0\\'83A}}\\f3\\'e1\\plain\\'e1")),
        "\u{430}\u{e0}\u{3042}\u{30a2}\u{3b1}\u{431}"
    );
    assert_eq!(text("\\ansicpg437 a\\'82"), "a\u{fffd}");
}

#[test]
fn a_title_and_a_date_are_properties() {
    let properties = |info: &str| {
        let mut text = String::new();
        let properties = read_rtf(format!("{{\\rtf1{{\\info{info}}}x}}").as_bytes(), &mut text).expect("RTF");
        assert_eq!(text, "x");
        properties
    };
    use crate::read::formats::properties::FileProperties;
    let all = "{\\title A \\'e9}{\\author b}{\\creatim\\yr2019\\mo1\\dy2}{\\revtim\\yr2020\\mo11\\dy2\\hr3}{\\*\\x y}";
    assert_eq!(properties(all), FileProperties::new("A \u{e9}", "2020-11-02"));
    assert_eq!(properties("{\\creatim\\yr2019\\mo1\\dy2}"), FileProperties::new("", "2019-01-02"));
    assert_eq!(properties("{\\revtim\\yr2020}"), FileProperties::default());
}

#[test]
fn what_is_cut_off_is_refused() {
    let whole = "{\\rtf1\\ansi{\\fonttbl{\\f0 A;}}{\\info{\\title t}}a\\'e9{\\*\\b c}\\par}";
    for length in 0..whole.len() {
        assert!(read_rtf(&whole.as_bytes()[..length], &mut String::new()).is_err(), "{length}");
    }
    let behind = format!("{whole}\r\n\0}}rest");
    let mut text = String::new();
    assert!(read_rtf(behind.as_bytes(), &mut text).is_ok() && text == "a\u{e9}\n");
}

#[test]
fn depth_costs_no_stack_and_has_an_end() {
    use crate::limits::MAX_NESTING;
    let nested = |depth: usize| format!("{{\\rtf1 {}x{}}}", "{".repeat(depth), "}".repeat(depth));
    let read = |depth| read_rtf(nested(depth).as_bytes(), &mut String::new());
    assert!(read(MAX_NESTING - 1).is_ok() && read(MAX_NESTING).is_err() && read(1 << 20).is_err());
}
