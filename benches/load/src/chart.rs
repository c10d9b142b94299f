//! Line charts as SVG, drawn from integers: named steps from left to right, a scale from the bottom
//! to the top that is even, or on which every factor has the same height.

use crate::table::grouped;
use serde_json::{Value, json};
use std::fmt::Write;

const WIDTH: u64 = 920;
const HEIGHT: u64 = 400;
const LEFT: u64 = 90;
const RIGHT: u64 = 390;
const TOP: u64 = 50;
const BOTTOM: u64 = 60;
/// Colours that people who see fewer of them can tell apart (Okabe and Ito).
const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999"];
/// Parts of a doubling in [`log2`].
const PARTS: u64 = 1 << 10;

/// A line in a chart.
pub struct Series {
    /// The name in the legend.
    pub name: String,
    /// The value at each step, if there is one.
    pub points: Vec<Option<u64>>,
}

/// A chart of some lines.
pub struct Chart {
    /// The file, without its ending.
    pub file: &'static str,
    /// The chart's title.
    pub title: String,
    /// The label of the horizontal axis.
    pub across: &'static str,
    /// The label of the vertical axis.
    pub upwards: &'static str,
    /// The names of the steps.
    pub steps: Vec<String>,
    /// The lines.
    pub series: Vec<Series>,
    /// Whether every factor has the same height.
    pub by_factors: bool,
}

impl Chart {
    /// The chart's data as JSON, for programs.
    pub fn to_json(&self) -> Value {
        let series = |series: &Series| json!({ "name": series.name, "points": series.points });
        let series: Vec<Value> = self.series.iter().map(series).collect();
        json!({ "file": format!("{}.svg", self.file), "title": self.title, "across": self.across, "upwards": self.upwards, "steps": self.steps, "series": series })
    }

    /// The chart as SVG.
    pub fn to_svg(&self) -> String {
        let values = || self.series.iter().flat_map(|series| series.points.iter().flatten().copied());
        let scale = Scale::over(
            values().filter(|value| *value > 0).min().unwrap_or(1),
            values().max().unwrap_or(1),
            self.by_factors,
        );
        let (floor, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
        let mut svg = String::new();
        let mut text = |x: u64, y: u64, anchor: &str, more: &str, said: &str| {
            let said = said.replace('&', "&amp;").replace('<', "&lt;");
            let _ = writeln!(svg, r##"<text x="{x}" y="{y}" text-anchor="{anchor}" {more}>{said}</text>"##);
        };
        text(LEFT, 24, "start", r#"font-size="15" font-weight="bold""#, &self.title);
        text((LEFT + right) / 2, HEIGHT - 14, "middle", "", self.across);
        text(LEFT, TOP - 10, "start", r##"fill="#555""##, self.upwards);
        for mark in scale.marks() {
            text(LEFT - 8, scale.y(mark) + 4, "end", "", &grouped(mark));
        }
        for (step, name) in self.steps.iter().enumerate() {
            text(self.x(step), floor + 20, "middle", "", name);
        }
        for (nth, series) in self.series.iter().enumerate() {
            text(right + 44, TOP + 20 * nth as u64 + 4, "start", "", &series.name);
        }
        for mark in scale.marks() {
            let y = scale.y(mark);
            let _ = writeln!(svg, r##"<line x1="{LEFT}" y1="{y}" x2="{right}" y2="{y}" stroke="#ddd"/>"##);
        }
        let _ = writeln!(svg, r##"<path d="M{LEFT} {TOP}V{floor}H{right}" fill="none" stroke="#555"/>"##);
        for (nth, series) in self.series.iter().enumerate() {
            let y = TOP + 20 * nth as u64;
            // Colours that are used up come again, dashed.
            let (colour, dashes) =
                (COLOURS[nth % COLOURS.len()], if nth < COLOURS.len() { "none" } else { "5 3" });
            let stroke =
                format!(r#"fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}""#);
            let _ = writeln!(
                svg,
                r#"<line x1="{}" y1="{y}" x2="{}" y2="{y}" {stroke}/>"#,
                right + 20,
                right + 38
            );
            let at: Vec<(u64, u64)> = series
                .points
                .iter()
                .enumerate()
                .filter_map(|(step, point)| Some((self.x(step), scale.y((*point)?))))
                .collect();
            let line: Vec<String> = at.iter().map(|(x, y)| format!("{x},{y}")).collect();
            let _ = writeln!(svg, r#"<polyline points="{}" {stroke}/>"#, line.join(" "));
            for (x, y) in at {
                let _ = writeln!(svg, r#"<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>"#);
            }
        }
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>\n{svg}</svg>\n"
        )
    }

    /// The horizontal place of a step: evenly spread, with half a step at both ends.
    fn x(&self, step: usize) -> u64 {
        LEFT + (WIDTH - LEFT - RIGHT) * (2 * step as u64 + 1) / (2 * self.steps.len().max(1) as u64)
    }
}

/// The scale of the vertical axis.
struct Scale {
    least: u64,
    most: u64,
    by_factors: bool,
}

impl Scale {
    /// A scale rounded outwards, to powers of ten or from nothing to a round number.
    fn over(least: u64, most: u64, by_factors: bool) -> Scale {
        if by_factors {
            let from = 10_u64.pow(least.max(1).ilog10());
            let power = 10_u64.pow(most.max(1).ilog10());
            let to = [1, 2, 5, 10]
                .map(|n| power.saturating_mul(n))
                .into_iter()
                .find(|to| *to >= most)
                .unwrap_or(most);
            return Scale { least: from, most: to.max(from * 10), by_factors };
        }
        let power = 10_u64.pow(most.max(1).ilog10());
        Scale { least: 0, most: most.max(1).div_ceil(power) * power, by_factors }
    }

    /// The values that are written beside the vertical axis.
    fn marks(&self) -> Vec<u64> {
        if self.by_factors {
            return (0..20)
                .map(|power| 10_u64.saturating_pow(power))
                .filter(|mark| (self.least..=self.most).contains(mark))
                .collect();
        }
        (0..=5).map(|nth| self.most * nth / 5).collect()
    }

    fn y(&self, value: u64) -> u64 {
        let (least, most, value) = if self.by_factors {
            (log2(self.least), log2(self.most), log2(value.clamp(self.least, self.most)))
        } else {
            (self.least, self.most, value.clamp(self.least, self.most))
        };
        let height = HEIGHT - BOTTOM - TOP;
        HEIGHT - BOTTOM - height.saturating_mul(value - least).checked_div(most - least).unwrap_or(0)
    }
}

/// The logarithm to the base of 2, in [`PARTS`] of a doubling: squaring a number between 1 and 2
/// shows the next binary digit.
fn log2(value: u64) -> u64 {
    let whole = value.max(1).ilog2();
    let mut rest = (u128::from(value.max(1)) << 32) >> whole;
    let mut parts = 0;
    let mut part = PARTS / 2;
    while part > 0 {
        rest = (rest * rest) >> 32;
        if rest >> 33 > 0 {
            rest >>= 1;
            parts += part;
        }
        part /= 2;
    }
    u64::from(whole) * PARTS + parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_right() {
        assert_eq!([log2(0), log2(1), log2(2), log2(1 << 40)], [0, 0, PARTS, 40 * PARTS]);
        assert_eq!((log2(3), log2(10), log2(1_000_000)), (1_623, 3_401, 20_409));
    }

    #[test]
    fn a_chart_has_its_lines_and_names() {
        let points = vec![Some(2_483), None, Some(60_567)];
        let series = [
            Series { name: "a < b".to_owned(), points },
            Series { name: "c".to_owned(), points: vec![Some(40), Some(0), Some(7)] },
        ];
        for by_factors in [false, true] {
            let steps = ["16", "64", "256"].map(str::to_owned).to_vec();
            let series = series
                .iter()
                .map(|one| Series { name: one.name.clone(), points: one.points.clone() })
                .collect();
            let chart = Chart {
                file: "x",
                title: "t".to_owned(),
                across: "connections",
                upwards: "per second",
                steps,
                series,
                by_factors,
            };
            let svg = chart.to_svg();
            assert_eq!((svg.matches("<polyline").count(), svg.matches("<circle").count()), (2, 5), "{svg}");
            assert!(svg.contains("a &lt; b") && svg.contains(">256<"), "{svg}");
        }
        let scale = Scale::over(40, 60_567, true);
        assert_eq!(
            (scale.least, scale.most, scale.marks()),
            (10, 100_000, vec![10, 100, 1_000, 10_000, 100_000])
        );
        assert_eq!((scale.y(10), scale.y(100_000)), (HEIGHT - BOTTOM, TOP));
        assert!(scale.y(1_000).abs_diff((HEIGHT - BOTTOM + TOP) / 2) <= 1);
        assert_eq!(Scale::over(1, 60_567, false).most, 70_000);
    }
}
