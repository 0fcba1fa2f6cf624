//! Curves as a picture: SVG with nothing in it that a browser would have to fetch or run.

use std::fmt::Write;

/// A picture of curves over a common axis. What stands on it is escaped.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// What the horizontal axis is.
    pub across: String,
    /// What the vertical axis is.
    pub up: String,
    /// Least and greatest value across; the vertical axis goes from 0 to 1.
    pub range: (f64, f64),
    /// The curves, with their names.
    pub curves: Vec<(String, Vec<(f64, f64)>)>,
}

/// Size of the picture, and of the field within it: left, top, right, bottom.
const SIZE: (f64, f64) = (720.0, 440.0);
const FIELD: (f64, f64, f64, f64) = (64.0, 56.0, 696.0, 376.0);
/// Colours of the curves, in turn: told apart with any sort of sight (Okabe and Ito 2008).
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
/// Parts that the vertical axis is divided into, and most that the horizontal one is.
const PARTS: u32 = 5;
const MOST: f64 = 6.0;

impl Chart {
    /// The picture as a document of its own.
    pub fn to_svg(&self) -> String {
        let (width, height) = SIZE;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" \
             font-size=\"13\" role=\"img\">\n<title>{title}</title>\n<rect width=\"{width}\" height=\"{height}\" \
             fill=\"white\"/>\n<text x=\"{}\" y=\"22\" font-size=\"15\" text-anchor=\"middle\">{title}</text>\n",
            (FIELD.0 + FIELD.2) / 2.0,
            title = escape(&self.title)
        );
        self.axes(&mut svg);
        for (number, (name, points)) in self.curves.iter().enumerate() {
            self.curve(&mut svg, number, name, points);
        }
        svg.push_str("</svg>\n");
        svg
    }

    /// Lines across the field with their values, and what the axes are.
    fn axes(&self, svg: &mut String) {
        let (left, top, right, bottom) = FIELD;
        for part in 0..=PARTS {
            let share = f64::from(part) / f64::from(PARTS);
            let (_, y) = self.place((0.0, share));
            let _ = write!(
                svg,
                "<path d=\"M{left:.1} {y:.1}H{right:.1}\" stroke=\"#ddd\"/>\n\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{share:.1}</text>\n",
                left - 8.0,
                y + 4.0
            );
        }
        for value in round_values(self.range) {
            let (x, _) = self.place((value, 0.0));
            let _ = write!(
                svg,
                "<path d=\"M{x:.1} {bottom:.1}v5\" stroke=\"black\"/>\n\
                 <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{value}</text>\n",
                bottom + 20.0
            );
        }
        let _ = write!(
            svg,
            "<path d=\"M{left:.1} {top:.1}V{bottom:.1}H{right:.1}\" fill=\"none\" stroke=\"black\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n\
             <text transform=\"translate(20 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
            (left + right) / 2.0,
            bottom + 44.0,
            escape(&self.across),
            (top + bottom) / 2.0,
            escape(&self.up)
        );
    }

    fn curve(&self, svg: &mut String, number: usize, name: &str, points: &[(f64, f64)]) {
        let colour = COLOURS[number % COLOURS.len()];
        let places: Vec<(f64, f64)> = points.iter().map(|point| self.place(*point)).collect();
        let path: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            path.join(" ")
        );
        for ((x, y), (across, up)) in places.iter().zip(points) {
            let _ = writeln!(
                svg,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"><title>{across}: {up:.4}</title></circle>"
            );
        }
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"{colour}\">{}</text>",
            FIELD.0 + (FIELD.2 - FIELD.0) * number as f64 / self.curves.len() as f64,
            FIELD.1 - 8.0,
            escape(name)
        );
    }

    /// Where a point is in the picture. A range of one value is in the middle.
    fn place(&self, (across, up): (f64, f64)) -> (f64, f64) {
        let (left, top, right, bottom) = FIELD;
        let width = self.range.1 - self.range.0;
        let share = if width > 0.0 { (across - self.range.0) / width } else { 0.5 };
        (left + share.clamp(0.0, 1.0) * (right - left), bottom - up.clamp(0.0, 1.0) * (bottom - top))
    }
}

/// Values in a range that are easily read: multiples of 1, 2 or 5 of some power of ten.
fn round_values((from, to): (f64, f64)) -> Vec<f64> {
    let power = 10f64.powf(((to - from) / MOST).max(1e-9).log10().floor());
    let step = [1.0, 2.0, 5.0].into_iter().map(|times| times * power).find(|step| (to - from) / step <= MOST);
    let step = step.unwrap_or(10.0 * power);
    let (first, last) = ((from / step).ceil() as i64, (to / step).floor() as i64);
    // Rounded again, so that three times 0.1 is written 0.3.
    (first..=last).map(|n| (n as f64 * step * 1e6).round() / 1e6).collect()
}

/// Text as it stands in XML; what XML cannot hold at all is replaced.
fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {
                safe.push(char::REPLACEMENT_CHARACTER);
            }
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(range: (f64, f64), points: Vec<(f64, f64)>) -> Chart {
        let (across, up) = ("terms".to_owned(), "share".to_owned());
        Chart {
            title: "a<b & \"c\"\u{1b}".to_owned(),
            across,
            up,
            range,
            curves: vec![("x>y".to_owned(), points)],
        }
    }

    #[test]
    fn points_are_where_they_belong_and_names_are_escaped() {
        let svg = chart((1.0, 3.0), vec![(1.0, 0.0), (2.0, 1.0), (3.0, 0.5)]).to_svg();
        assert!(svg.contains("points=\"64.0,376.0 380.0,56.0 696.0,216.0\""), "{svg}");
        assert!(
            svg.contains("a&lt;b &amp; &quot;c&quot;\u{fffd}")
                && svg.contains("x&gt;y")
                && !svg.contains("a<b")
        );
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        for element in ["svg", "text", "circle"] {
            assert_eq!(
                svg.matches(&format!("<{element} ")).count(),
                svg.matches(&format!("</{element}>")).count()
            );
        }
    }

    #[test]
    fn an_axis_has_round_values() {
        assert_eq!(round_values((1.0, 30.0)), [5.0, 10.0, 15.0, 20.0, 25.0, 30.0]);
        assert_eq!(round_values((0.0, 1.0)), [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]);
        assert_eq!(round_values((1.0, 5.0)), [1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(round_values((7.0, 7.0)), [7.0]);
        assert_eq!(round_values((0.0, 1000.0)), [0.0, 200.0, 400.0, 600.0, 800.0, 1000.0]);
    }

    #[test]
    fn a_single_value_and_no_point_are_a_picture_too() {
        assert!(chart((1.0, 1.0), vec![(1.0, 0.5)]).to_svg().contains("points=\"380.0,216.0\""));
        assert!(chart((1.0, 30.0), Vec::new()).to_svg().contains("points=\"\""));
    }
}
