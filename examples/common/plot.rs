//! Pictures of results, as SVG.

use std::fs;
use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;

type Error = Box<dyn std::error::Error>;
type Point = (f64, f64);

pub const BLUE: RGBColor = RGBColor(31, 98, 168);
pub const ORANGE: RGBColor = RGBColor(224, 123, 32);
pub const GREEN: RGBColor = RGBColor(46, 139, 87);
pub const GREY: RGBColor = RGBColor(150, 150, 150);

pub enum Marks {
    Line(Vec<Point>),
    Dots(Vec<Point>),
    /// A bar of each height, side by side from 0 to 1.
    Bars(Vec<f64>),
}

pub struct Series {
    /// If empty, the series is not in the legend.
    pub label: String,
    pub color: RGBColor,
    pub marks: Marks,
}

pub struct Plot {
    pub title: String,
    pub x: &'static str,
    pub y: &'static str,
    /// Whether each x is a decimal logarithm.
    pub log_x: bool,
    pub series: Vec<Series>,
}

impl Plot {
    /// Draws into a file, and creates its folder.
    pub fn save(&self, path: &Path) -> Result<(), String> {
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let drawn = folder
            .map_or(Ok(()), fs::create_dir_all)
            .map_err(Error::from);
        let drawn =
            drawn.and_then(|()| self.draw(&SVGBackend::new(path, (800, 420)).into_drawing_area()));
        drawn.map_err(|error| format!("cannot draw {}: {error}", path.display()))?;
        println!("drawn: {}", path.display());
        Ok(())
    }

    fn draw(&self, area: &DrawingArea<SVGBackend, Shift>) -> Result<(), Error> {
        area.fill(&WHITE)?;
        let (left, right, low, high) = self.extent();
        let mut chart = ChartBuilder::on(area)
            .caption(&self.title, ("sans-serif", 20))
            .margin(14)
            .x_label_area_size(42)
            .y_label_area_size(64)
            .build_cartesian_2d(left..right, low..high + (high - low) * 0.05)?;
        let plain = |number: &f64| format!("{}", (number * 1e6).round() / 1e6);
        let power = |exponent: &f64| plain(&10f64.powf(*exponent));
        let mut mesh = chart.configure_mesh();
        mesh.x_desc(self.x).y_desc(self.y);
        mesh.light_line_style(WHITE).x_labels(8);
        if self.log_x {
            mesh.x_label_formatter(&power);
        } else {
            mesh.x_label_formatter(&plain);
        }
        mesh.y_label_formatter(&plain);
        mesh.draw()?;
        for series in &self.series {
            let color = series.color;
            let drawn = match &series.marks {
                Marks::Line(points) => chart.draw_series(LineSeries::new(
                    points.iter().copied(),
                    color.stroke_width(2),
                ))?,
                Marks::Dots(points) => chart.draw_series(
                    points
                        .iter()
                        .map(|&point| Circle::new(point, 2, color.filled())),
                )?,
                Marks::Bars(heights) => {
                    let at = |i: usize| i as f64 / heights.len() as f64;
                    let bar = |(i, &height)| {
                        Rectangle::new([(at(i), 0.0), (at(i + 1), height)], color.filled())
                    };
                    chart.draw_series(heights.iter().enumerate().map(bar))?
                }
            };
            if !series.label.is_empty() {
                drawn.label(&series.label).legend(move |(x, y)| {
                    PathElement::new([(x, y), (x + 18, y)], color.stroke_width(3))
                });
            }
        }
        if self.series.iter().any(|series| !series.label.is_empty()) {
            let mut legend = chart.configure_series_labels();
            legend.position(SeriesLabelPosition::LowerRight);
            legend.background_style(WHITE).border_style(GREY).draw()?;
        }
        area.present()?;
        Ok(())
    }

    /// The smallest and largest x, then the smallest and largest y.
    fn extent(&self) -> (f64, f64, f64, f64) {
        let points = self.series.iter().flat_map(|series| match &series.marks {
            Marks::Line(points) | Marks::Dots(points) => points.clone(),
            Marks::Bars(heights) => {
                let highest = heights.iter().copied().fold(0.0, f64::max);
                vec![(0.0, 0.0), (1.0, highest)]
            }
        });
        let empty = (
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::INFINITY,
            f64::NEG_INFINITY,
        );
        points.fold(empty, |(left, right, low, high), (x, y)| {
            (left.min(x), right.max(x), low.min(y), high.max(y))
        })
    }
}
