//! Members of archives to documents: what a file of that name and content would be in a folder.

use std::borrow::Cow;

use crate::document::{DocumentName, Position};
use crate::read::BOM;
use crate::read::codec::Codec;
use crate::read::field::{FieldPath, Fields};
use crate::read::format::Format;
use crate::read::head::FileHead;
use crate::read::record::{Record, Refusal, Value, observe};

/// Most bytes that a member may have more when it is unpacked: that any worker has, however little memory there is.
const MOST_UNPACKED: u64 = 2 << 20;

/// What is known of all formats, for members that are of one of them.
#[derive(Clone, Copy)]
pub(in crate::read::formats) struct MemberFormats {
    /// What a member is that begins so.
    pub(in crate::read::formats) kind: fn(&FileHead) -> MemberKind,
    /// What its format knows.
    pub(in crate::read::formats) codec: fn(Format) -> Box<dyn Codec>,
}

/// What a member of an archive is.
pub(in crate::read::formats) enum MemberKind {
    /// A document of this format.
    Document(Format),
    /// A file that holds records of its own: what it is.
    Records(String),
    /// An archive in an archive.
    Archive,
    /// No text: what it is.
    NoText(&'static str),
}

impl MemberFormats {
    /// The format of the document that a member is. `content` is all of it, or at least as much as is
    /// [`wanted`](crate::read::head::wanted) of it.
    ///
    /// # Errors
    /// The refusal of a member that is no document.
    pub(super) fn document(self, path: &str, content: &[u8], whole: bool) -> Result<Format, Refusal> {
        if is_hidden(path) {
            return Err(Refusal::no_text_in("a hidden file"));
        }
        if whole && content.strip_prefix(BOM).unwrap_or(content).is_empty() {
            return Err(Refusal::no_text_in("an empty file"));
        }
        match (self.kind)(&FileHead::of_member(path, content, whole)) {
            MemberKind::Document(format) => Ok(format),
            MemberKind::Records(what) => Err(Refusal::NotUnpacked(what)),
            MemberKind::Archive => Err(Refusal::NotUnpacked("an archive".to_owned())),
            MemberKind::NoText(what) => Err(Refusal::no_text_in(what)),
        }
    }
}

impl MemberFormats {
    /// Whether a member holds records of its own, or is compressed, so that it may be read as a file by itself. What is there of
    /// `content` is as for [`document`](MemberFormats::document).
    pub(super) fn is_apart(self, path: &str, content: &[u8], whole: bool) -> bool {
        let kind = || (self.kind)(&FileHead::of_member(path, content, whole));
        !is_hidden(path) && matches!(kind(), MemberKind::Records(_))
    }
}

/// Whether a member is hidden as files in folders are: nobody means it who names the folder.
fn is_hidden(path: &str) -> bool {
    path.split('/').any(|name| name.starts_with('.') && !matches!(name, "." | ".."))
}

/// A member of an archive.
pub(super) struct ArchiveMember<'a> {
    /// What it is called.
    pub(super) path: Cow<'a, str>,
    /// The file that it is.
    pub(super) content: &'a [u8],
    /// All that stands for it in the archive.
    pub(super) raw: &'a [u8],
}

/// Makes documents of members. It owns the text of the last one.
pub(super) struct MemberParser {
    formats: MemberFormats,
    fields: Fields,
    /// The fields of what is in the archive: it needs no id of its own.
    inner: Fields,
    /// The name of the archive, where ids have to be those of all archives.
    archive: Option<String>,
    text: String,
}

impl MemberParser {
    pub(super) fn new(formats: MemberFormats, fields: &Fields) -> MemberParser {
        let inner = Fields { without_ids: true, ..fields.clone() };
        MemberParser { formats, fields: fields.clone(), inner, archive: None, text: String::new() }
    }

    /// The same for the archive `name`. Members of several may have one name, so where documents need ids, those begin with that
    /// of the archive.
    pub(super) fn of_archive(self, name: &str) -> MemberParser {
        let archive = self.fields.needs_id().then(|| name.to_owned());
        MemberParser { archive, ..self }
    }

    /// Gives back what a long text was copied to.
    pub(super) fn rest(&mut self) {
        self.text = String::new();
    }

    /// The document that a member is.
    ///
    /// # Errors
    /// The refusal of a member that is none.
    pub(super) fn record<'a>(
        &'a mut self,
        position: Position,
        line: u32,
        member: ArchiveMember<'a>,
    ) -> Result<Record<'a>, Refusal> {
        let ArchiveMember { path, content, raw } = member;
        let format = self.formats.document(&path, content, true)?;
        let codec = (self.formats.codec)(format);
        let mut parser = codec.parser("", &self.inner)?;
        // Memory was asked for what a member has, and not for what it becomes.
        let weight = parser.weight(content);
        if weight > MOST_UNPACKED.max(content.len() as u64) {
            return Err(Refusal::NotUnpacked("a document that is long when it is unpacked".to_owned()));
        }
        let said = parser.record(position, line, content.strip_prefix(BOM).unwrap_or(content))?;
        self.text.clear();
        self.text.push_str(said.text);
        let own = |field: &FieldPath| (field.as_str() == "path").then(|| path.clone());
        let whole = || match &self.archive {
            Some(archive) => Cow::Owned(format!("{archive}/{path}")),
            None => path.clone(),
        };
        let id = match self.fields.id.as_str() {
            "id" | "path" => Some(whole().into()),
            _ => {
                let theirs = said.id.map(DocumentName::into_owned);
                theirs.or_else(|| self.fields.needs_id().then(|| whole().into()))
            }
        };
        let value = self.fields.value.as_ref().and_then(own).map(|path| Value::Text(path.into_owned()));
        let within = self.fields.within.as_ref().and_then(own).or_else(|| owned(said.within));
        let (paths, theirs) = (&self.fields.observed, said.observed);
        let observed = observe(!paths.is_empty(), |at| {
            let theirs = || theirs.as_ref().and_then(|values| owned(values[at].clone()));
            paths.get(at).and_then(own).or_else(theirs)
        });
        let (value, day, deleted) = (value.or(said.value), said.day, said.deleted);
        let (text, header) = (&*self.text, "");
        Ok(Record { position, line, id, text, header, raw, value, within, day, observed, deleted })
    }
}

/// The same, of any lifetime.
fn owned<'a>(value: Option<Cow<'_, str>>) -> Option<Cow<'a, str>> {
    value.map(|value| Cow::Owned(value.into_owned()))
}

/// Names where members stand, and what they say of themselves.
pub(super) struct MemberDescriber {
    formats: MemberFormats,
    fields: Fields,
}

impl MemberDescriber {
    pub(super) fn new(formats: MemberFormats, fields: &Fields) -> MemberDescriber {
        MemberDescriber { formats, fields: fields.clone() }
    }

    /// Hands on names and values of a member that was read as `record`.
    pub(super) fn describe(
        &mut self,
        record: &Record<'_>,
        member: &ArchiveMember<'_>,
        each: &mut dyn FnMut(&str, &str),
    ) {
        each("path", &member.path);
        let Ok(format) = self.formats.document(&member.path, member.content, true) else { return };
        if let Some(mut describer) = (self.formats.codec)(format).describer(&self.fields) {
            let raw = member.content.strip_prefix(BOM).unwrap_or(member.content);
            describer.describe(&Record { raw, ..record.clone() }, each);
        }
    }
}
