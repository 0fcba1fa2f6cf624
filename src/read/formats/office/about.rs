//! What packages say of themselves: title and date.

use super::docx::relations;
use super::epub::description;
use super::kind::Office;
use super::markup::{Markup, each_piece};
use super::package::OfficePackage;
use crate::read::formats::properties::FileProperties;
use crate::read::record::Refusal;

/// The properties of a document.
///
/// # Errors
/// Those of the package and its markup.
pub(super) fn properties(kind: Office, package: &mut OfficePackage<'_>) -> Result<FileProperties, Refusal> {
    let found = match kind {
        Office::Docx => {
            let root = relations(package, "", "_rels/.rels")?.into_iter();
            let name = root.filter(|(kind, _)| kind == "core-properties").map(|(_, name)| name).next();
            named(package, name)?
        }
        Office::Odt => named(package, Some("meta.xml".to_owned()))?,
        Office::Epub => Some(description(package)?),
    };
    found.map_or(Ok(FileProperties::default()), |(name, bytes)| said(kind, &name, &bytes))
}

/// A member with its name, if there is one.
fn named(
    package: &mut OfficePackage<'_>,
    name: Option<String>,
) -> Result<Option<(String, Vec<u8>)>, Refusal> {
    let Some(name) = name else { return Ok(None) };
    Ok(package.member(&name)?.map(|bytes| (name, bytes)))
}

/// Names of elements that say a date, the better ones first: when a document was changed, or a book was published.
fn dates(kind: Office) -> [&'static str; 2] {
    match kind {
        Office::Docx => ["modified", "created"],
        Office::Odt => ["date", "creation-date"],
        Office::Epub => ["date", "modified"],
    }
}

fn said(kind: Office, name: &str, bytes: &[u8]) -> Result<FileProperties, Refusal> {
    let names = ["title", dates(kind)[0], dates(kind)[1]];
    let mut values = [const { String::new() }; 3];
    let mut open = None;
    each_piece(name, bytes, &mut |piece| {
        match piece {
            Markup::Open(tag) => {
                // A book says it as the value of a property.
                let property = tag.attribute("property").filter(|_| tag.name() == b"meta");
                let name = property.as_deref().and_then(|name| name.strip_prefix("dcterms:"));
                let name = name.map_or(tag.name(), str::as_bytes);
                let at = names.iter().position(|wanted| wanted.as_bytes() == name);
                // Of several the first one counts.
                open = at.filter(|at| values[*at].is_empty());
            }
            Markup::Close(_) => open = None,
            Markup::Text(text) => {
                if let Some(at) = open {
                    values[at].push_str(text);
                }
            }
        }
        Ok(())
    })?;
    let [title, better, other] = values;
    Ok(FileProperties::new(&title, if better.trim().is_empty() { &other } else { &better }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_title_and_the_better_date_count() {
        let said = |kind, markup: &str| said(kind, "x", markup.as_bytes()).expect("XML");
        let core = "<cp><dc:title> A &amp; b </dc:title><dcterms:created>2019-01-02T03:04:05Z</dcterms:created>{}</cp>";
        let both = core.replace("{}", "<dcterms:modified>2020-01-02</dcterms:modified>");
        assert_eq!(said(Office::Docx, &both), FileProperties::new("A & b", "2020-01-02"));
        assert_eq!(said(Office::Docx, core), FileProperties::new("A & b", "2019-01-02T03:04:05Z"));
        let book = "<package><metadata><dc:title>A</dc:title><dc:title>B</dc:title>\
            <meta property=\"dcterms:modified\">2021-01-01T00:00:00Z</meta></metadata></package>";
        assert_eq!(said(Office::Epub, book), FileProperties::new("A", "2021-01-01T00:00:00Z"));
        assert_eq!(
            said(Office::Odt, "<m><dc:title/><dc:date>2020</dc:date></m>"),
            FileProperties::new("", "2020")
        );
    }
}
