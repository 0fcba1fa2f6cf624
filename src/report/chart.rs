//! Bars as pictures within a page: colours are those of the page, light or dark.

use maud::{Markup, html};

use crate::output::count;

/// A chart of bars that stand side by side. Names on it are of this program, none is the user's.
pub(super) struct BarChart<'a> {
    /// What it shows, for those who do not see it.
    pub(super) title: &'a str,
    /// What the horizontal axis is.
    pub(super) across: &'a str,
    /// What the vertical axis is.
    pub(super) up: &'a str,
    /// The bars.
    pub(super) bars: Vec<Bar>,
    /// Where the horizontal axis has a value: so many bars from the left.
    pub(super) ticks: Vec<(f64, String)>,
    /// A line across the bars, and what it is.
    pub(super) line: Option<(f64, String)>,
    /// Whether the vertical axis is logarithmic.
    pub(super) log: bool,
}

/// One bar.
pub(super) struct Bar {
    /// Its height.
    pub(super) value: u64,
    /// What it counts, as a browser shows it beside the pointer.
    pub(super) says: String,
    /// Whether it is of what goes; of what stays else.
    pub(super) goes: bool,
}

/// Size of the picture, and of the field within it: left, top, right, bottom.
const SIZE: (f64, f64) = (720.0, 260.0);
const FIELD: (f64, f64, f64, f64) = (72.0, 24.0, 704.0, 204.0);
/// Most values on the vertical axis.
const VALUES: u64 = 5;

impl BarChart<'_> {
    /// The picture.
    pub(super) fn svg(&self) -> Markup {
        let (left, top, right, bottom) = FIELD;
        let highest = self.bars.iter().map(|bar| bar.value).max().unwrap_or(0).max(1);
        let wide = (right - left) / self.bars.len().max(1) as f64;
        let x = |at: f64| left + at * wide;
        let y = |value: u64| bottom - (bottom - top) * self.share(value, highest);
        let gap = if wide > 6.0 { 1.0 } else { 0.0 };
        html! {
            svg viewBox=(format!("0 0 {} {}", SIZE.0, SIZE.1)) role="img" aria-label=(self.title) {
                @for value in self.values(highest) {
                    path class="grid" d=(format!("M{left:.1} {:.1}H{right:.1}", y(value))) {}
                    text x=(format!("{:.1}", left - 8.0)) y=(format!("{:.1}", y(value) + 4.0)) text-anchor="end" {
                        (count(value))
                    }
                }
                @for (at, bar) in self.bars.iter().enumerate().filter(|(_, bar)| bar.value > 0) {
                    rect class=(if bar.goes { "goes" } else { "stays" })
                        x=(format!("{:.1}", x(at as f64) + gap / 2.0)) y=(format!("{:.1}", y(bar.value)))
                        width=(format!("{:.1}", wide - gap)) height=(format!("{:.1}", bottom - y(bar.value))) {
                        title { (bar.says) }
                    }
                }
                path class="axis" d=(format!("M{left:.1} {bottom:.1}H{right:.1}")) {}
                @for (at, name) in &self.ticks {
                    text x=(format!("{:.1}", x(*at))) y=(format!("{:.1}", bottom + 18.0)) text-anchor="middle" { (name) }
                }
                @if let Some((at, name)) = &self.line {
                    path class="line" d=(format!("M{:.1} {:.1}V{bottom:.1}", x(*at), top - 6.0)) {}
                    text x=(format!("{:.1}", x(*at))) y=(format!("{:.1}", top - 10.0)) text-anchor="middle" { (name) }
                }
                text x=(format!("{:.1}", (left + right) / 2.0)) y=(format!("{:.1}", SIZE.1 - 8.0)) text-anchor="middle" {
                    (self.across)
                }
                text transform=(format!("translate(14 {:.1}) rotate(-90)", (top + bottom) / 2.0)) text-anchor="middle" {
                    (self.up)
                }
            }
        }
    }

    /// How high a value stands, 0 to 1. One document can be seen on a logarithmic axis, too.
    fn share(&self, value: u64, highest: u64) -> f64 {
        if !self.log {
            return value as f64 / highest as f64;
        }
        let height = |value: u64| if value == 0 { 0.0 } else { 0.3 + (value as f64).log10() };
        height(value) / height(highest.max(2))
    }

    /// Values on the vertical axis.
    fn values(&self, highest: u64) -> Vec<u64> {
        if self.log {
            return std::iter::successors(Some(1), |value: &u64| value.checked_mul(10))
                .take_while(|value| *value <= highest)
                .collect();
        }
        let steps = std::iter::successors(Some(1u64), |step| step.checked_mul(10))
            .flat_map(|power| [1, 2, 5].map(|times| power.saturating_mul(times)));
        let step = steps.into_iter().find(|step| highest / step <= VALUES).unwrap_or(u64::MAX);
        (0..=highest / step).map(|n| n * step).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(values: &[u64], log: bool) -> BarChart<'static> {
        let bar = |value: &u64| Bar { value: *value, says: format!("{value} of them"), goes: *value > 1 };
        BarChart {
            title: "a chart",
            across: "size",
            up: "clusters",
            bars: values.iter().map(bar).collect(),
            ticks: vec![(0.0, "0".to_owned())],
            line: Some((1.0, "here".to_owned())),
            log,
        }
    }

    #[test]
    fn bars_stand_where_they_belong() {
        let svg = chart(&[0, 5, 10], false).svg().into_string();
        // Nothing of nothing, half of it, and all of it.
        assert_eq!(svg.matches("<rect").count(), 2);
        assert!(svg.contains("y=\"114.0\"") && svg.contains("height=\"90.0\""), "{svg}");
        assert!(svg.contains("height=\"180.0\""), "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        // Within HTML, what is not closed in a picture has all that follows in it.
        for element in ["path", "rect", "text", "title"] {
            let (begun, closed) = (format!("<{element}"), format!("</{element}>"));
            assert_eq!(svg.matches(&begun).count(), svg.matches(&closed).count(), "{element}");
        }
    }

    #[test]
    fn axes_have_round_values() {
        assert_eq!(chart(&[], false).values(10), [0, 2, 4, 6, 8, 10]);
        assert_eq!(chart(&[], false).values(1), [0, 1]);
        assert_eq!(chart(&[], false).values(1234), [0, 500, 1000]);
        assert_eq!(chart(&[], true).values(1234), [1, 10, 100, 1000]);
        assert_eq!(chart(&[], true).values(u64::MAX).len(), 20);
    }

    #[test]
    fn nothing_at_all_is_a_picture_too() {
        for log in [false, true] {
            let svg = chart(&[], log).svg().into_string();
            assert!(!svg.contains("NaN") && !svg.contains("inf") && !svg.contains("<rect"), "{svg}");
        }
        assert!(chart(&[1], true).svg().into_string().contains("<rect"));
    }
}
