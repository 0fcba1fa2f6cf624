//! Pages about runs, taken apart.

use std::collections::BTreeMap;

/// The tables of a page by their captions: rows of cells, heads first.
pub(crate) fn tables(page: &str) -> BTreeMap<String, Vec<Vec<String>>> {
    let mut found = BTreeMap::new();
    for table in page.split("<table>").skip(1) {
        let table = table.split("</table>").next().unwrap();
        let (caption, rows) = table.split_once("</caption>").expect("a caption");
        let rows = rows.split("<tr").skip(1).map(|row| {
            let row = format!("<tr{row}");
            let cells = row.split("</td>").flat_map(|part| part.split("</th>"));
            let mut cells: Vec<String> = cells.map(plain).collect();
            cells.pop();
            cells
        });
        found.insert(plain(caption), rows.collect());
    }
    found
}

/// What stands between tags.
fn plain(html: &str) -> String {
    let mut text = String::new();
    for part in html.split('<').skip(usize::from(html.starts_with('<'))) {
        text.push_str(part.split_once('>').map_or(part, |(_, text)| text));
    }
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&amp;", "&")
        .trim()
        .to_owned()
}

/// The number in a cell.
pub(crate) fn number(cell: &str) -> u64 {
    cell.replace(',', "").parse().unwrap_or_else(|_| panic!("no number: {cell:?}"))
}

/// The rows of a table by their first cells, without the head.
pub(crate) fn rows<'a>(
    tables: &'a BTreeMap<String, Vec<Vec<String>>>,
    caption: &str,
) -> BTreeMap<&'a str, &'a [String]> {
    let (_, rows) = tables.iter().find(|(name, _)| name.starts_with(caption)).unwrap_or_else(|| {
        panic!("no table {caption:?} among {:?}", tables.keys().collect::<Vec<_>>());
    });
    rows.iter().skip(1).map(|row| (&*row[0], &row[1..])).collect()
}

/// A page without the command, which may name workers.
pub(crate) fn without_command(page: &str) -> String {
    let (before, rest) = page.split_once("<p>The command:</p>").expect("a command");
    format!("{before}{}", rest.split_once("</pre>").unwrap().1)
}
