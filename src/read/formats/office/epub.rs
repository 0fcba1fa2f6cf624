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
/// Those of the package and its markup; [`Refusal::Malformed`] also for a book that is encrypted.
pub(super) fn epub_text(package: &mut OfficePackage<'_>, text: &mut String) -> Result<(), Refusal> {
    text.clear();
    let (name, description) = description(package)?;
    let pages = spine(&name, &description)?;
    drop(description);
    let encrypted = encrypted(package)?;
    let mut page = String::new();
    for name in pages {
        if encrypted.contains(&name) {
            return Err(Refusal::Malformed(format!("the part {name} is encrypted: the book is protected")));
        }
        let bytes = package.needed(&name)?;
        book_page(&bytes, &mut page);
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&page);
    }
    Ok(())
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

/// The names of the pages of a book, in the order in which they are read. Pictures that stand for pages have no text.
fn spine(name: &str, description: &[u8]) -> Result<Vec<String>, Refusal> {
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
    let mut pages = Vec::new();
    let mut seen = BTreeSet::new();
    for id in order {
        let missing = || Refusal::Malformed(format!("the part {name} has no item {id:.40}"));
        let (target, is_page) = items.get(&id).ok_or_else(missing)?;
        // A page that is named again is not read again.
        if *is_page && seen.insert(target.clone()) {
            pages.push(target.clone());
        }
    }
    Ok(pages)
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
