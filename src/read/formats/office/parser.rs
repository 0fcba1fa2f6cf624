//! Packages to documents.

use super::about::properties;
use super::docx::docx_text;
use super::epub::epub_text;
use super::kind::Office;
use super::odt::odt_text;
use super::package::OfficePackage;
use crate::document::Position;
use crate::read::codec::Parser;
use crate::read::field::Fields;
use crate::read::formats::properties::FileProperties;
use crate::read::record::{Record, Refusal};

/// Makes documents of packages.
pub(super) struct PackageParser {
    kind: Office,
    fields: Fields,
    text: String,
    properties: FileProperties,
}

impl PackageParser {
    pub(super) fn new(kind: Office, fields: &Fields) -> PackageParser {
        let (text, properties) = (String::new(), FileProperties::default());
        PackageParser { kind, fields: fields.clone(), text, properties }
    }
}

impl Parser for PackageParser {
    fn rest(&mut self) {
        self.text = String::new();
    }

    fn weight(&self, raw: &[u8]) -> u64 {
        let package = OfficePackage::open(self.kind, raw, self.fields.max_record_bytes);
        // What is no package is refused when it is read.
        package.map_or(0, |package| package.weight()).max(raw.len() as u64)
    }

    fn record<'a>(&'a mut self, position: Position, line: u32, raw: &'a [u8]) -> Result<Record<'a>, Refusal> {
        let most = self.fields.max_record_bytes;
        let mut package = OfficePackage::open(self.kind, raw, most)?;
        match self.kind {
            Office::Docx => docx_text(&mut package, &mut self.text)?,
            Office::Odt => odt_text(&mut package, &mut self.text)?,
            Office::Epub => epub_text(&mut package, &mut self.text)?,
        }
        package.start_over();
        self.properties = properties(self.kind, &mut package)?;
        Ok(self.properties.record(&self.fields, (position, line), raw, &self.text))
    }
}

/// The title and the date of a package.
///
/// # Errors
/// Those of the package and its markup.
pub(super) fn package_properties(kind: Office, raw: &[u8], most: usize) -> Result<FileProperties, Refusal> {
    properties(kind, &mut OfficePackage::open(kind, raw, most)?)
}
