//! The presets: configurations of published systems and of common uses, embedded from `configs/`.

use super::Config;
use crate::error::{Error, Result};

/// A named configuration that comes with the program.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// The name, which is also that of its file in `configs/`.
    pub name: &'static str,
    /// What it is for, in one line.
    pub about: &'static str,
    /// Its TOML text: every key, each with the source of its value.
    pub source: &'static str,
}

/// A row of [`PRESETS`], so that name and file cannot differ.
macro_rules! preset {
    ($name:literal, $about:literal) => {
        Preset { name: $name, about: $about, source: include_str!(concat!("../../configs/", $name, ".toml")) }
    };
}

/// All presets: our own first, then the published systems by age.
pub const PRESETS: &[Preset] = &[
    preset!("web", "pages of a crawl; the default"),
    preset!("news", "stories that each paper edits and cuts"),
    preset!("short", "titles, posts, abstracts"),
    preset!("sections", "sections of bills, contracts, terms"),
    preset!("titles", "titles of papers, products, posts"),
    preset!("code", "versions of source files"),
    preset!("qa", "questions with their answers"),
    preset!("mail", "mail: forwarded, listed, quoted"),
    preset!("ediscovery", "as Relativity: principals, groups"),
    preset!("exact", "equal texts only"),
    preset!("manber1994", "Manber 1994, sif: passages of files"),
    preset!("brin1995", "Brin et al. 1995, COPS: shared sentences"),
    preset!("heintze1996", "Heintze 1996, the smallest hashes"),
    preset!("broder1997", "Broder et al. 1997, shingles modulo 25"),
    preset!("broder1997-super", "Broder et al. 1997, super shingles"),
    preset!("shivakumar1998", "Shivakumar et al. 1998, chunks of lines"),
    preset!("broder2000", "Broder 2000, super-shingles"),
    preset!("imatch", "Chowdhury et al. 2002, I-Match"),
    preset!("cooper2002", "Cooper et al. 2002, salient terms"),
    preset!("conrad2003", "Conrad et al. 2003, identical duplicates"),
    preset!("conrad2003-ddd", "Conrad et al. 2003, other duplicates"),
    preset!("fetterly2003", "Fetterly et al. 2003, super-shingles"),
    preset!("kolcz2003", "Kolcz et al. 2003, cosine of rare terms"),
    preset!("schleimer2003", "Schleimer et al. 2003, winnowing"),
    preset!("kolcz2004", "Kolcz et al. 2004, random lexicons"),
    preset!("wang2005", "Wang, Gemmell 2005, conservative"),
    preset!("manku2007", "Manku et al. 2007, SimHash"),
    preset!("ye2008", "Ye et al. 2008, adaptive sampling"),
    preset!("text-dedup", "as text-dedup does"),
    preset!("datatrove", "as datatrove does; FineWeb"),
    preset!("nemo", "as NVIDIA NeMo Curator does"),
    preset!("marin", "as Marin does; bands of OLMo 3"),
];

impl Preset {
    /// The preset called `name`; case, hyphens and underscores do not count. An unknown name is answered with all
    /// names and the nearest.
    ///
    /// # Errors
    /// [`Error::Config`].
    pub fn find(name: &str) -> Result<&'static Preset> {
        let wanted = plain(name);
        if let Some(preset) = PRESETS.iter().find(|preset| plain(preset.name) == wanted) {
            return Ok(preset);
        }
        let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
        let nearest = names.iter().map(|name| (edits(&wanted, &plain(name)), name)).min();
        // Further away than half of its letters, a name is no slip of the pen.
        let hint = match nearest {
            Some((distance, nearest)) if 2 * distance <= nearest.len() => format!(" Did you mean {nearest}?"),
            _ => String::new(),
        };
        Err(Error::config(format!(
            "no preset is called {name:?}.{hint} The presets are: {}",
            names.join(", ")
        )))
    }

    /// The preset as a configuration.
    ///
    /// # Errors
    /// [`Error::Config`], which no preset that comes with the program gives.
    pub fn config(&self) -> Result<Config> {
        Config::parse(self.name, self.source)
    }
}

/// A name without what people write differently: `Text_Dedup`, `text-dedup` and `textdedup` are one.
fn plain(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase).collect()
}

/// Levenshtein distance in characters.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut distances: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        // `distances[j]` is the distance of the prefixes one shorter in `a` until it is overwritten.
        let mut diagonal = distances[0];
        distances[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = distances[j + 1];
            distances[j + 1] = replaced.min(diagonal + 1).min(distances[j] + 1);
        }
    }
    distances[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_preset_however_it_is_spelt() {
        for name in ["text-dedup", "textdedup", "Text_Dedup", "text dedup"] {
            assert_eq!(Preset::find(name).expect(name).name, "text-dedup");
        }
        assert_eq!(Preset::find("broder-1997").expect("a preset").name, "broder1997");
    }

    #[test]
    fn suggests_the_nearest_name() {
        let message = |name: &str| Preset::find(name).expect_err(name).to_string();
        assert!(message("datatrov").contains("Did you mean datatrove?"), "{}", message("datatrov"));
        assert!(message("brother2000").contains("Did you mean broder2000?"), "{}", message("brother2000"));
        for preset in PRESETS {
            assert!(message("spark").contains(preset.name));
        }
        assert!(!message("completely-different").contains("Did you mean"));
    }

    #[test]
    fn counts_edits() {
        for (a, b, distance) in [("", "", 0), ("", "abc", 3), ("kitten", "sitting", 3), ("web", "web", 0)] {
            assert_eq!((edits(a, b), edits(b, a)), (distance, distance), "{a} {b}");
        }
    }
}
