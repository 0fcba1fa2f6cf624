//! Rows of lists as cells of tables.

use super::{AssignmentRow, ClusterRow, DuplicateRow, ListRow, PairRow, RejectedRow};
use crate::document::DocumentName;
use crate::error::Result;
use crate::flow::Reason;
use crate::output::columns::CellKind::{Real, Text, Texts, Truth, Whole};
use crate::output::columns::{TableCell, TableColumn};
use crate::similarity::{Relation, ReportedScores};

type Take<'a> = &'a mut dyn FnMut(&[TableCell<'_>]) -> Result<()>;

/// The columns of [`scores`].
const SCORES: [TableColumn; 7] = [
    ("resemblance", Real),
    ("shared_features", Whole),
    ("containment", Real),
    ("edit_similarity", Real),
    ("shared_terms", Whole),
    ("cosine", Real),
    ("hamming_distance", Whole),
];

fn scores(shown: &ReportedScores) -> [TableCell<'static>; 7] {
    let ReportedScores { resemblance, shared_features, containment, edit_similarity, .. } = *shown;
    [
        resemblance.into(),
        shared_features.into(),
        containment.into(),
        edit_similarity.into(),
        shown.shared_terms.into(),
        shown.cosine.into(),
        shown.hamming_distance.into(),
    ]
}

/// The columns of [`relation`].
const RELATION: [TableColumn; 3] = [("kind", Text), ("edits", Whole), ("edits_above", Whole)];

fn relation(relation: Option<Relation>) -> [TableCell<'static>; 3] {
    let number = |of: fn(Relation) -> Option<u32>| relation.and_then(of).map(u64::from).into();
    let kind = relation.map(|relation| relation.kind.name());
    [kind.into(), number(|relation| relation.edits), number(|relation| relation.edits_above)]
}

impl ListRow for DuplicateRow<'_> {
    const COLUMNS: &'static [TableColumn] = &[
        ("id", Text),
        ("file", Text),
        ("line", Whole),
        ("cluster", Whole),
        ("representative", Text),
        ("representative_file", Text),
        ("representative_line", Whole),
        SCORES[0],
        SCORES[1],
        SCORES[2],
        SCORES[3],
        SCORES[4],
        SCORES[5],
        SCORES[6],
        ("reason", Text),
        ("against_set", Text),
        ("against_file", Text),
        ("against_line", Whole),
        ("parent", Text),
        RELATION[0],
        RELATION[1],
        RELATION[2],
    ];

    fn cells(&self, take: Take<'_>) -> Result<()> {
        let against = self.against;
        let place = [self.id.as_str().into(), self.file.into(), self.line.into(), self.cluster.into()];
        let why = [
            Some(self.reason.name()).into(),
            against.map(|against| against.set).into(),
            against.map(|against| against.file).into(),
            against.map(|against| against.line).into(),
            self.parent.map(DocumentName::as_str).into(),
        ];
        let of = [
            self.representative.as_str().into(),
            self.representative_file.into(),
            self.representative_line.into(),
        ];
        take(&[&place[..], &of, &scores(&self.shown), &why, &relation(self.relation)].concat())
    }
}

impl ListRow for ClusterRow<'_> {
    const COLUMNS: &'static [TableColumn] =
        &[("cluster", Whole), ("size", Whole), ("representative", Text), ("members", Texts), ("kept", Texts)];

    fn cells(&self, take: Take<'_>) -> Result<()> {
        let (members, kept) = (texts(self.members), self.kept.map(texts));
        take(&[
            self.cluster.into(),
            self.size.into(),
            self.representative.as_str().into(),
            TableCell::Texts(&members),
            kept.as_deref().map_or(TableCell::Nothing, TableCell::Texts),
        ])
    }
}

/// Names as columns have them: numbers by their digits.
fn texts<'a>(names: &'a [DocumentName<'_>]) -> Vec<&'a str> {
    names.iter().map(DocumentName::as_str).collect()
}

impl ListRow for PairRow<'_> {
    const COLUMNS: &'static [TableColumn] = &[
        ("a", Text),
        ("b", Text),
        SCORES[0],
        SCORES[1],
        SCORES[2],
        SCORES[3],
        SCORES[4],
        SCORES[5],
        SCORES[6],
        RELATION[0],
        RELATION[1],
        RELATION[2],
    ];

    fn cells(&self, take: Take<'_>) -> Result<()> {
        let ends = [self.a.as_str().into(), self.b.as_str().into()];
        take(&[&ends[..], &scores(&self.shown), &relation(self.relation)].concat())
    }
}

impl ListRow for AssignmentRow<'_> {
    const COLUMNS: &'static [TableColumn] = &[
        ("id", Text),
        ("file", Text),
        ("line", Whole),
        ("cluster", Whole),
        ("size", Whole),
        ("kept", Truth),
        ("reason", Text),
        ("representative", Text),
        ("representative_file", Text),
        ("representative_line", Whole),
        SCORES[0],
        SCORES[1],
        SCORES[2],
        SCORES[3],
        SCORES[4],
        SCORES[5],
        SCORES[6],
    ];

    fn cells(&self, take: Take<'_>) -> Result<()> {
        let row = [
            self.id.as_str().into(),
            self.file.into(),
            self.line.into(),
            self.cluster.into(),
            self.size.into(),
            TableCell::Truth(self.kept),
            self.reason.map(Reason::name).into(),
            self.representative.map(DocumentName::as_str).into(),
            self.representative_file.into(),
            self.representative_line.into(),
        ];
        take(&[&row[..], &scores(&self.shown)].concat())
    }
}

impl ListRow for RejectedRow<'_> {
    const COLUMNS: &'static [TableColumn] =
        &[("file", Text), ("line", Whole), ("offset", Whole), ("reason", Text), ("records", Whole)];

    fn cells(&self, take: Take<'_>) -> Result<()> {
        let place = [self.file.into(), self.line.into(), self.offset.into()];
        take(&[&place[..], &[self.reason.into(), self.records.into()]].concat())
    }
}
