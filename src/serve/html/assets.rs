//! Files that pages need: how they look, keys, and a picture. They are part of the program.

use std::sync::LazyLock;

use xxhash_rust::xxh3::xxh3_64;

/// A file that is the same for everybody.
pub(in crate::serve) struct Asset {
    /// Its name behind `/static/`.
    pub(in crate::serve) name: &'static str,
    /// What it is.
    pub(in crate::serve) content: &'static str,
    /// All of it.
    pub(in crate::serve) bytes: &'static str,
    digest: LazyLock<String>,
}

/// How pages look: as reports do, and what only these have.
pub(super) static STYLE: Asset = Asset {
    name: "style.css",
    content: "text/css; charset=utf-8",
    bytes: concat!(include_str!("../../report/style.css"), include_str!("style.css")),
    digest: LazyLock::new(|| digest(STYLE.bytes)),
};
/// Keys for what links do.
pub(super) static KEYS: Asset = Asset {
    name: "keys.js",
    content: "text/javascript; charset=utf-8",
    bytes: include_str!("keys.js"),
    digest: LazyLock::new(|| digest(KEYS.bytes)),
};
/// The picture beside the name of a page.
pub(super) static ICON: Asset = Asset {
    name: "icon.svg",
    content: "image/svg+xml",
    bytes: include_str!("icon.svg"),
    digest: LazyLock::new(|| digest(ICON.bytes)),
};

fn digest(bytes: &str) -> String {
    format!("{:016x}", xxh3_64(bytes.as_bytes()))
}

impl Asset {
    /// The file of a name.
    pub(in crate::serve) fn named(name: &str) -> Option<&'static Asset> {
        [&STYLE, &KEYS, &ICON].into_iter().find(|asset| asset.name == name)
    }

    /// What tells this version of the file from others.
    pub(in crate::serve) fn version(&self) -> &str {
        &self.digest
    }

    /// Where it is in this version, which may be kept for ever.
    pub(super) fn address(&self) -> String {
        format!("/static/{}?v={}", self.name, self.version())
    }
}
