//! Throughput against n, one panel for each level, as an SVG.

use crate::report::of_kind;
use crate::run::Record;
use crate::size;
use crate::subject::{Kind, UNITS};
use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use std::error::Error;
use std::ops::Range;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

const SIZE: (u32, u32) = (960, 900);
const HEAD: u32 = 56;
const LEGEND: i32 = 200;
const INK: RGBColor = RGBColor(40, 40, 40);
const GRID: RGBColor = RGBColor(225, 225, 225);

/// As distinct on white as eleven colours can be, for people with any colour vision.
const COLOURS: [RGBColor; 11] = [
    RGBColor(0, 114, 178),
    RGBColor(230, 159, 0),
    RGBColor(0, 158, 115),
    RGBColor(213, 94, 0),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(117, 76, 41),
    RGBColor(110, 64, 170),
    RGBColor(150, 150, 0),
    RGBColor(200, 30, 60),
    RGBColor(0, 90, 90),
];

/// The inclusive scans of one algorithm, or the copy: (log₂ n, log₁₀ of elements per second).
struct Line {
    name: String,
    points: Vec<(f64, f64)>,
    colour: RGBColor,
    is_copy: bool,
}

/// The plot as SVG text. Sizes of less than a cube are left out if there are others: they only time a launch.
pub fn svg(records: &[Record], device: &str) -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        root.fill(&WHITE)?;
        let (head, body) = root.split_vertically(HEAD);
        let title = ("sans-serif", 22, &INK).into_text_style(&head);
        head.draw_text(
            "Elements scanned per second against their number",
            &title,
            (16, 10),
        )?;
        let subtitle = ("sans-serif", 15, &INK).into_text_style(&head);
        head.draw_text(
            &format!("inclusive sums of i32; rings: n is no power of two; {device}"),
            &subtitle,
            (16, 36),
        )?;

        let cube = lines(records, |kind| matches!(kind, Kind::Cube(_)));
        let device = lines(records, |kind| matches!(kind, Kind::Device(_)));
        let frame = Frame::around(cube.iter().chain(&device));
        let panels = body.split_evenly((2, 1));
        let cube_title = format!("Cube level: each cube of {UNITS} units scans its own tile");
        frame.panel(&panels[0], &cube_title, cube)?;
        frame.panel(&panels[1], "Device level: whole rows and columns", device)?;
        root.present()?;
    }
    Ok(text)
}

fn lines(records: &[Record], wanted: impl Fn(Kind) -> bool) -> Vec<Line> {
    let smallest = if records.iter().any(|record| record.n >= UNITS) {
        UNITS
    } else {
        0
    };
    let line = |(kind, colour): (Kind, RGBColor)| {
        let inclusive = of_kind(records, kind).filter(|record| !record.subject.exclusive);
        let points = inclusive
            .filter(|record| record.n >= smallest)
            .filter_map(|record| {
                let rate = record.elements_per_second()?;
                Some(((record.n as f64).log2(), rate.log10()))
            })
            .collect();
        Line {
            name: kind.name(),
            points,
            colour,
            is_copy: kind == Kind::Copy,
        }
    };
    let kinds = Kind::all().filter(|kind| wanted(*kind));
    std::iter::once((Kind::Copy, BLACK))
        .chain(kinds.zip(COLOURS))
        .map(line)
        .filter(|line| !line.points.is_empty())
        .collect()
}

/// The axes that all panels share: whole powers of 2 and of 10.
struct Frame {
    n: Range<f64>,
    rate: Range<f64>,
}

impl Frame {
    fn around<'a>(lines: impl Iterator<Item = &'a Line>) -> Self {
        let (n, rate): (Vec<f64>, Vec<f64>) =
            lines.flat_map(|line| line.points.iter().copied()).unzip();
        Self {
            n: whole(&n),
            rate: whole(&rate),
        }
    }

    fn panel(&self, area: &Area, title: &str, mut lines: Vec<Line>) -> Result<(), Box<dyn Error>> {
        let width = area.dim_in_pixel().0 as i32;
        let (plot, legend) = area.split_horizontally(width - LEGEND);
        let mut chart = ChartBuilder::on(&plot)
            .margin(12)
            .caption(title, ("sans-serif", 17, &INK))
            .x_label_area_size(44)
            .y_label_area_size(72)
            .build_cartesian_2d(self.n.clone(), self.rate.clone())?;
        chart
            .configure_mesh()
            .axis_style(INK)
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .label_style(("sans-serif", 14, &INK))
            .x_labels(labels(&self.n))
            .y_labels(labels(&self.rate))
            .x_label_formatter(&|log| size::spell(log.exp2().round() as usize))
            .y_label_formatter(&|log| decade(*log))
            .x_desc("n")
            .y_desc("elements/s")
            .draw()?;
        for line in &lines {
            let style = line.style();
            let points = line.points.iter().copied();
            if line.is_copy {
                chart.draw_series(DashedLineSeries::new(points, 6, 4, style))?;
            } else {
                chart.draw_series(LineSeries::new(points.clone(), style))?;
                let marks = points.flat_map(|point| mark(point, line.colour, is_power(point.0)));
                chart.draw_series(marks)?;
            }
        }

        // In the order of the right ends of the lines, where the eye looks for the name.
        lines.sort_by(|a, b| b.end().total_cmp(&a.end()));
        for (row, line) in lines.iter().enumerate() {
            let y = 54 + 22 * row as i32;
            let stroke = vec![(4, y), (30, y)];
            if line.is_copy {
                let dashes = DashedPathElement::new(stroke, 6, 4, line.style());
                legend.draw(&dashes)?;
            } else {
                legend.draw(&PathElement::new(stroke, line.style()))?;
                for circle in mark((17, y), line.colour, true) {
                    legend.draw(&circle)?;
                }
            }
            let text = ("sans-serif", 14, &INK).into_text_style(&legend);
            legend.draw_text(&line.name, &text, (38, y - 7))?;
        }
        Ok(())
    }
}

impl Line {
    fn style(&self) -> ShapeStyle {
        self.colour.filled().stroke_width(2)
    }

    /// The rate at the largest size.
    fn end(&self) -> f64 {
        self.points.last().map_or(0.0, |point| point.1)
    }
}

/// A dot, or a ring where n is not a power of two.
fn mark<P: Copy>(at: P, colour: RGBColor, filled: bool) -> [Circle<P, i32>; 2] {
    let inside = if filled { colour } else { WHITE };
    [
        Circle::new(at, 3, inside.filled()),
        Circle::new(at, 3, colour.stroke_width(2)),
    ]
}

fn is_power(log: f64) -> bool {
    log.fract() == 0.0
}

/// The range of whole numbers around the values; never empty.
fn whole(values: &[f64]) -> Range<f64> {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min).floor();
    let high = values
        .iter()
        .copied()
        .fold(f64::NEG_INFINITY, f64::max)
        .ceil();
    if low < high {
        low..high
    } else if low.is_finite() {
        low..low + 1.0
    } else {
        0.0..1.0
    }
}

fn labels(range: &Range<f64>) -> usize {
    (range.end - range.start) as usize + 1
}

/// A power of ten with a prefix; nothing between them.
fn decade(log: f64) -> String {
    let whole = log.round();
    if (log - whole).abs() > 1e-6 {
        return String::new();
    }
    let (left, prefix) = match whole as i32 {
        log @ 12.. => (log - 12, " T"),
        log @ 9.. => (log - 9, " G"),
        log @ 6.. => (log - 6, " M"),
        log @ 3.. => (log - 3, " k"),
        log => (log, ""),
    };
    format!("{}{prefix}", 10f64.powi(left))
}
