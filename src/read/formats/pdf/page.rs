//! The characters of pages, put together as they are drawn.

use hayro_interpret::font::Glyph;
use hayro_interpret::hayro_cmap::BfString;
use hayro_interpret::{BlendMode, ClipPath, Device, GlyphDrawMode, Image, Paint, PathDrawMode, SoftMask};
use kurbo::{Affine, BezPath, Point, Vec2};

/// Units of a glyph to an em.
const EM: f64 = 1000.0;
/// Width of a glyph whose font does not say it, in units.
const USUAL_WIDTH: f64 = 900.0;
/// What is between words, in parts of the size of the font: kerning is less.
const SPACE: f64 = 0.15;
/// What lines are apart at least: marks above and below a line are nearer.
const LINE: f64 = 0.5;
/// How far a character goes back that begins a line beside another one.
const BACK: f64 = 3.0;

/// The text of pages, in the order in which they draw it.
#[derive(Default)]
pub(super) struct PageText {
    text: String,
    /// Most bytes of text.
    most: usize,
    last: Option<DrawnCharacter>,
    /// Characters that are known, and those that no font tells.
    known: u64,
    unknown: u64,
}

/// A character as it was drawn.
struct DrawnCharacter {
    origin: Point,
    /// Where the next one would begin.
    end: Point,
    /// The direction of the line.
    along: Vec2,
    /// The size of its font on the page.
    size: f64,
    code: String,
}

impl PageText {
    /// No text yet, and at most so many bytes of it.
    pub(super) fn new(most: usize) -> PageText {
        PageText { most, ..PageText::default() }
    }

    /// Whether there is more text than allowed.
    pub(super) fn is_too_long(&self) -> bool {
        self.text.len() > self.most
    }

    /// Whether more characters are unknown than known.
    pub(super) fn is_unknown(&self) -> bool {
        self.unknown > self.known
    }

    /// Ends a page.
    pub(super) fn end_page(&mut self) {
        self.end_line("");
        self.last = None;
    }

    /// All of the text.
    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// Ends a line; a word that is divided goes on with `next`.
    fn end_line(&mut self, next: &str) {
        let line = self.text.trim_end_matches(' ').len();
        self.text.truncate(line);
        let word = self.text.strip_suffix(['-', '\u{ad}', '\u{2010}']);
        let divided = word.is_some_and(|word| word.ends_with(char::is_alphabetic));
        if divided && next.starts_with(char::is_lowercase) {
            self.text.pop();
        } else if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }

    /// Adds what a glyph says, which was drawn at `origin` and takes the way `advance`.
    fn add(&mut self, code: String, (origin, advance, size): (Point, Vec2, f64)) {
        if self.is_too_long() {
            return;
        }
        let length = advance.hypot();
        let along = if length > 0.0 { advance / length } else { Vec2::new(1.0, 0.0) };
        if let Some(last) = &self.last {
            // Outlined characters are drawn twice.
            if last.origin == origin && last.code == code {
                return;
            }
            let (gap, size) = (origin - last.end, last.size.max(size));
            let (onward, aside) = (gap.dot(last.along), gap.cross(last.along).abs());
            if aside > LINE * size || onward < -BACK * size {
                self.end_line(&code);
            } else if onward > SPACE * size {
                self.space();
            }
        }
        for character in code.chars() {
            match character {
                '\u{a0}' => self.space(),
                _ if character.is_whitespace() => self.space(),
                _ if character.is_control() => {}
                _ => self.text.push(character),
            }
        }
        self.last = Some(DrawnCharacter { origin, end: origin + advance, along, size, code });
    }

    /// Divides words.
    fn space(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with([' ', '\n']) {
            self.text.push(' ');
        }
    }
}

impl Device<'_> for PageText {
    fn set_soft_mask(&mut self, _: Option<SoftMask<'_>>) {}

    fn set_blend_mode(&mut self, _: BlendMode) {}

    fn draw_path(&mut self, _: &BezPath, _: Affine, _: &Paint<'_>, _: &PathDrawMode) {}

    fn push_clip_path(&mut self, _: &ClipPath) {}

    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'_>>, _: BlendMode) {}

    fn draw_glyph(
        &mut self,
        glyph: &Glyph<'_>,
        transform: Affine,
        glyph_transform: Affine,
        _: &Paint<'_>,
        _: &GlyphDrawMode,
    ) {
        if self.is_too_long() {
            return;
        }
        let code = match glyph.as_unicode() {
            Some(BfString::Char(character)) => character.to_string(),
            Some(BfString::String(characters)) => characters,
            None => String::new(),
        };
        if code.chars().all(|character| matches!(character, '\0' | '\u{fffd}')) {
            self.unknown += 1;
            return;
        }
        self.known += 1;
        let width = match glyph {
            Glyph::Outline(glyph) => glyph.advance_width().map_or(USUAL_WIDTH, f64::from),
            Glyph::Type3(_) => USUAL_WIDTH,
        };
        let place = transform * glyph_transform;
        let origin = place * Point::ORIGIN;
        let advance = place * Point::new(width, 0.0) - origin;
        let size = (place * Point::new(0.0, EM) - origin).hypot();
        if origin.is_finite() && advance.is_finite() && size.is_finite() {
            self.add(code, (origin, advance, size));
        }
    }

    fn draw_image(&mut self, _: Image<'_, '_>, _: Affine) {}

    fn pop_clip_path(&mut self) {}

    fn pop_transparency_group(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of words, each at a place, whose characters are ten wide and ten high.
    fn text(words: &[(f64, f64, &str)]) -> String {
        let mut page = PageText::new(1 << 10);
        for (x, y, word) in words {
            for (at, character) in word.chars().enumerate() {
                let origin = Point::new(x + 10.0 * at as f64, *y);
                page.add(character.to_string(), (origin, Vec2::new(10.0, 0.0), 10.0));
            }
        }
        page.end_page();
        page.into_text()
    }

    #[test]
    fn gaps_divide_words_and_lines() {
        assert_eq!(text(&[(0.0, 90.0, "ab"), (21.0, 90.0, "c"), (33.0, 90.0, "d")]), "abc d\n");
        assert_eq!(text(&[(0.0, 90.0, "ab"), (0.0, 78.0, "c")]), "ab\nc\n");
        assert_eq!(text(&[(0.0, 90.0, "ab"), (20.0, 94.0, "2")]), "ab2\n");
        assert_eq!(text(&[(90.0, 90.0, "ab"), (0.0, 90.0, "c")]), "ab\nc\n");
        assert_eq!(text(&[(0.0, 90.0, "a b "), (0.0, 78.0, " c")]), "a b\nc\n");
    }

    #[test]
    fn divided_words_go_on() {
        assert_eq!(text(&[(0.0, 90.0, "exam-"), (0.0, 78.0, "ple")]), "example\n");
        assert_eq!(text(&[(0.0, 90.0, "exam\u{ad}"), (0.0, 78.0, "ple")]), "example\n");
        assert_eq!(text(&[(0.0, 90.0, "1-"), (0.0, 78.0, "x")]), "1-\nx\n");
        assert_eq!(text(&[(0.0, 90.0, "well-"), (0.0, 78.0, "Known")]), "well-\nKnown\n");
    }

    #[test]
    fn characters_that_are_drawn_twice_count_once() {
        let mut page = PageText::new(1 << 10);
        for _ in 0..2 {
            page.add("a".into(), (Point::ORIGIN, Vec2::new(10.0, 0.0), 10.0));
        }
        assert_eq!(page.into_text(), "a");
    }

    #[test]
    fn text_ends_where_it_is_too_long() {
        let mut page = PageText::new(3);
        for at in 0..9 {
            page.add("a".into(), (Point::new(10.0 * f64::from(at), 0.0), Vec2::new(10.0, 0.0), 10.0));
        }
        assert!(page.is_too_long());
        assert_eq!(page.into_text(), "aaaa");
    }
}
