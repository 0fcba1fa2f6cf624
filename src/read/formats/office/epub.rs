//! EPUB to its text: the pages of the book in the order in which they are read.

use std::collections::{BTreeSet, HashMap};

use super::markup::{Markup, each_piece};
use super::package::{OfficePackage, resolved, unescaped};
use crate::read::payload::book_page;
use crate::read::record::Refusal;

/// Where a book says which file describes it.
const CONTAINER: &str = "META-INF/container.xml";
/// Where a book says what is encrypted.
const ENCRYPTION: &str = "META-INF/encryption.xml";

/// The text of a book.
///
/// # Errors
/// Those of the package and its markup; [`Refusal::Malformed`] also for a book that is encrypted, and for one that names pages
/// and has none of them.
pub(super) fn epub_text(package: &mut OfficePackage<'_>, text: &mut String) -> Result<(), Refusal> {
    text.clear();
    let (name, description) = description(package)?;
    let (pages, mut missing) = spine(&name, &description)?;
    drop(description);
    let encrypted = encrypted(package)?;
    let (mut page, mut found) = (String::new(), false);
    for name in pages {
        if encrypted.contains(&name) {
            return Err(Refusal::Malformed(format!("the part {name} is encrypted: the book is protected")));
        }
        // Readers pass over pages that are not there.
        let Some(bytes) = package.member(&name)? else {
            missing.get_or_insert_with(|| format!("the package lacks the part {name}"));
            continue;
        };
        found = true;
        book_page(&bytes, &mut page);
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&page);
    }
    match missing {
        Some(what) if !found => Err(Refusal::Malformed(what)),
        _ => Ok(()),
    }
}

/// The name of the file that describes a book, and its content.
pub(super) fn description(package: &mut OfficePackage<'_>) -> Result<(String, Vec<u8>), Refusal> {
    let mut found = None;
    let container = package.needed(CONTAINER)?;
    each_piece(CONTAINER, &container, &mut |piece| {
        if let Markup::Open(tag) = piece
            && tag.name() == b"rootfile"
            && found.is_none()
        {
            found = tag.attribute("full-path").and_then(|path| resolved("", &path));
        }
        Ok(())
    })?;
    let name = found.ok_or_else(|| Refusal::Malformed("a book without a description".to_owned()))?;
    let content = package.needed(&name)?;
    Ok((name, content))
}

/// The names of the pages of a book, in the order in which they are read, and what is wrong if it has no item for one. Pictures
/// that stand for pages have no text.
fn spine(name: &str, description: &[u8]) -> Result<(Vec<String>, Option<String>), Refusal> {
    let (mut items, mut order) = (HashMap::new(), Vec::new());
    each_piece(name, description, &mut |piece| {
        let Markup::Open(tag) = piece else { return Ok(()) };
        match tag.name() {
            b"item" => {
                let media = tag.attribute("media-type").unwrap_or_default();
                let target = tag.attribute("href").and_then(|href| resolved(name, &unescaped(&href)));
                if let (Some(id), Some(target)) = (tag.attribute("id"), target) {
                    items.insert(id, (target, media.contains("html")));
                }
            }
            b"itemref" => order.extend(tag.attribute("idref")),
            _ => {}
        }
        Ok(())
    })?;
    let (mut pages, mut missing) = (Vec::new(), None);
    let mut seen = BTreeSet::new();
    for id in order {
        let Some((target, is_page)) = items.get(&id) else {
            missing.get_or_insert_with(|| format!("the part {name} has no item {id:.40}"));
            continue;
        };
        // A page that is named again is not read again.
        if *is_page && seen.insert(target.clone()) {
            pages.push(target.clone());
        }
    }
    Ok((pages, missing))
}

/// The names of parts that are encrypted; fonts often are.
fn encrypted(package: &mut OfficePackage<'_>) -> Result<BTreeSet<String>, Refusal> {
    let mut found = BTreeSet::new();
    let Some(list) = package.member(ENCRYPTION)? else { return Ok(found) };
    each_piece(ENCRYPTION, &list, &mut |piece| {
        if let Markup::Open(tag) = piece
            && tag.name() == b"CipherReference"
        {
            found.extend(tag.attribute("URI").and_then(|uri| resolved("", &unescaped(&uri))));
        }
        Ok(())
    })?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_without_an_item_are_passed_over() {
        let book = "<package><manifest><item id=\"a\" href=\"a.xhtml\" media-type=\"application/xhtml+xml\"/></manifest>\
            <spine><itemref idref=\"x\"/><itemref idref=\"a\"/><itemref idref=\"a\"/></spine></package>";
        let missing = Some("the part O/b.opf has no item x".to_owned());
        assert_eq!(spine("O/b.opf", book.as_bytes()), Ok((vec!["O/a.xhtml".to_owned()], missing)));
    }
}
