//! Plots of throughput against the number of elements. Each operation and place of a run has one SVG.

use std::path::Path;

use anyhow::anyhow;
use fs_err as fs;
use plotters::prelude::*;

use super::case::{Name, OPS, PLACES};
use super::record::Run;
use crate::Result;

/// The operations with plots, and their cases there: rows of f32.
const DRAWN: [(&str, &str); 4] = [
    ("cumsum", "dim1"),
    ("compact", "density0.5"),
    ("gradient-sum", "dim1"),
    ("cumsum-installed", "dim1"),
];

/// A curve has at least this many lengths.
const FEWEST: usize = 3;

/// A contender and its points: elements, GB/s.
type Curve = (String, Vec<(f64, f64)>);

/// Draws the plots of a run into `folder`. Returns their files and titles.
pub(crate) fn plots(run: &Run, folder: &Path) -> Result<Vec<(String, String)>> {
    let mut drawn = Vec::new();
    fs::create_dir_all(folder)?;
    for (op, rest) in DRAWN {
        for (place, place_title) in PLACES {
            let curves = curves(run, op, place, rest);
            if curves.is_empty() {
                continue;
            }
            let file = format!("perf-{}-{op}-{place}.svg", run.name);
            let title = OPS
                .iter()
                .find(|(known, _)| *known == op)
                .map_or(op, |(_, title)| title);
            let title = format!("{title}, {place_title}: one row of f32, {rest}").replace('`', "");
            let path = folder.join(&file);
            draw(&path, &title, &curves).map_err(|e| anyhow!("{}: {e}", path.display()))?;
            drawn.push((file, title));
        }
    }
    Ok(drawn)
}

/// The curves with enough points, ours first.
fn curves(run: &Run, op: &str, place: &str, rest: &str) -> Vec<Curve> {
    let mut curves: Vec<Curve> = Vec::new();
    for measure in &run.measures {
        let Some(name) = Name::parse(&measure.case) else {
            continue;
        };
        let of_plot = (name.op, name.place, name.dtype, name.rest) == (op, place, "f32", rest);
        if !of_plot || !name.is_row() {
            continue;
        }
        let point = (name.elements() as f64, measure.gb_per_s());
        match curves
            .iter_mut()
            .find(|(contender, _)| *contender == measure.contender)
        {
            Some((_, points)) => points.push(point),
            None => curves.push((measure.contender.clone(), vec![point])),
        }
    }
    curves.retain(|(_, points)| points.len() >= FEWEST);
    for (_, points) in &mut curves {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    curves.sort_by_key(|(contender, _)| (!contender.starts_with("burn-scan"), contender.clone()));
    curves
}

fn draw(
    path: &Path,
    title: &str,
    curves: &[Curve],
) -> std::result::Result<(), Box<dyn std::error::Error>> {
    let points = || curves.iter().flat_map(|(_, points)| points);
    let first = points().map(|point| point.0).fold(f64::INFINITY, f64::min);
    let last = points().map(|point| point.0).fold(first, f64::max);
    let top = points().map(|point| point.1).fold(0.0, f64::max);

    let area = SVGBackend::new(path, (820, 440)).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(title, ("sans-serif", 16))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(56)
        .build_cartesian_2d((first..last).log_scale().base(2.0), 0.0..top * 1.05)?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .x_desc("elements")
        .y_desc("GB/s read and written")
        .x_label_formatter(&|n| format!("2^{:.0}", n.log2()))
        .draw()?;
    for (at, (contender, points)) in curves.iter().enumerate() {
        let width = if contender.starts_with("burn-scan") {
            3
        } else {
            1
        };
        let style = Palette99::pick(at).stroke_width(width);
        chart
            .draw_series(LineSeries::new(points.iter().copied(), style).point_size(2))?
            .label(contender)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.85))
        .border_style(BLACK)
        .draw()?;
    area.present()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::table::tests::run_of;

    #[test]
    fn a_plot_has_a_curve_for_each_contender_with_enough_points() {
        let cases = [10, 12, 14].map(|power| format!("cumsum/flex/f32/1x{}/dim1", 1 << power));
        let mut measured = Vec::new();
        for (case, ns) in cases.iter().zip([100.0, 300.0, 900.0]) {
            measured.push((case.as_str(), "burn", 2.0 * ns));
            measured.push((case.as_str(), "burn-scan", ns));
        }
        measured.push((cases[0].as_str(), "numpy", 500.0));
        measured.push(("cumsum/cube/f32/1x1024/dim1", "burn-scan", 5.0));
        let run = run_of(&measured);
        let curves = curves(&run, "cumsum", "flex", "dim1");
        let names: Vec<&str> = curves.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["burn-scan", "burn"]);
        assert_eq!(curves[0].1[0], (1024.0, 81.92));

        let folder = tempfile::tempdir().unwrap();
        let drawn = plots(&run, folder.path()).unwrap();
        let svg = fs::read_to_string(folder.path().join("perf-test-cumsum-flex.svg")).unwrap();
        assert_eq!(drawn.len(), 1);
        for text in ["burn-scan", "GB/s", "2^10", "inclusive_cumsum"] {
            assert!(svg.contains(text), "{text}");
        }
        assert!(!svg.contains("numpy"));
    }
}
