//! What the host has read, its checks, and the picture.

use burn::tensor::Tensor;
use common::Checks;
use common::plot::{self, Marks, Plot, Series};

use super::{Nuclei, Sorted, TEXTS, TOP_P, VOCABULARY, floats, ints};

/// The largest error of an f32 sum of that many probabilities.
const TOLERANCE: f64 = 5e-6;

/// All results on the host.
pub struct Host {
    probabilities: Vec<f32>,
    order: Vec<i32>,
    inside: Vec<bool>,
    pub sizes: Vec<usize>,
    pub nuclei: Vec<i32>,
    uniform: Vec<f32>,
    /// Drawn from all tokens, and by the step that tries the likeliest first.
    drawn: [Vec<i32>; 2],
}

impl Host {
    pub fn read(
        sorted: &Sorted,
        nuclei: &Nuclei,
        uniform: &Tensor<2>,
        drawn: [Vec<i32>; 2],
    ) -> Self {
        let sizes: Vec<i32> = ints(nuclei.sizes.clone());
        Self {
            probabilities: floats(sorted.probabilities.clone()),
            order: ints(sorted.tokens.clone()),
            inside: nuclei.inside.to_data().iter::<bool>().collect(),
            sizes: sizes.into_iter().map(|size| size as usize).collect(),
            nuclei: ints(nuclei.tokens.clone()),
            uniform: floats(uniform.clone()),
            drawn,
        }
    }

    fn row<'a, T>(&self, values: &'a [T], text: usize) -> &'a [T] {
        &values[text * VOCABULARY..][..VOCABULARY]
    }

    /// The relative difference between the probabilities, back at their tokens, and the softmax of the logits.
    pub fn softmax_error(&self, logits: &[f32]) -> f64 {
        let errors = (0..TEXTS).map(|text| {
            let row = self.row(logits, text).iter();
            let exponentials: Vec<f64> = row.map(|&x| f64::from(x).exp()).collect();
            let sum: f64 = exponentials.iter().sum();
            let (order, found) = (
                self.row(&self.order, text),
                self.row(&self.probabilities, text),
            );
            let error = |(&token, &found): (&i32, &f32)| {
                (f64::from(found) * sum / exponentials[token as usize] - 1.0).abs()
            };
            order.iter().zip(found).map(error).fold(0.0, f64::max)
        });
        errors.fold(0.0, f64::max)
    }

    /// Checks a text, from the sorted probabilities on, and prints it.
    pub fn check(&self, text: usize, checks: &mut Checks) {
        let (probabilities, order) = (
            self.row(&self.probabilities, text),
            self.row(&self.order, text),
        );
        let size = self.sizes[text];
        let start: usize = self.sizes[..text].iter().sum();
        let mut mass_before = vec![0.0; VOCABULARY + 1];
        for (rank, &probability) in probabilities.iter().enumerate() {
            mass_before[rank + 1] = mass_before[rank] + f64::from(probability);
        }
        let (mass, without_last) = (mass_before[size], mass_before[size.saturating_sub(1)]);
        let drawn = [0, 1].map(|way: usize| self.drawn[way][text]);
        let rank_of = |token: i32| order.iter().position(|&other| other == token);
        println!(
            "{text:4} {size:8}  {mass:.6}  {without_last:.6}  {:9}   {:.6}",
            drawn[0],
            rank_of(drawn[0]).map_or(0.0, |rank| probabilities[rank])
        );

        let mut check = |what: &str, right| checks.check(&format!("text {text}: {what}"), right);
        let mut tokens = order.to_vec();
        tokens.sort();
        check(
            "every token once",
            tokens.into_iter().eq(0..VOCABULARY as i32),
        );
        check(
            "descending order",
            probabilities.is_sorted_by(|a, b| a >= b),
        );
        let mask = self.row(&self.inside, text).iter().enumerate();
        check(
            "the nucleus is a prefix",
            mask.clone().all(|(rank, &inside)| inside == (rank < size)),
        );
        check(
            "its packed tokens",
            self.nuclei.get(start..start + size) == Some(&order[..size]),
        );
        let p = f64::from(TOP_P);
        check("it reaches p", mass >= p - TOLERANCE);
        check(
            "it would not without its last token",
            without_last < p + TOLERANCE,
        );
        let point = f64::from(self.uniform[text]) * mass;
        for (way, token) in ["of all", "of the likeliest"].into_iter().zip(drawn) {
            let rank = rank_of(token).unwrap_or(VOCABULARY - 1);
            let hit =
                mass_before[rank] <= point + TOLERANCE && point < mass_before[rank + 1] + TOLERANCE;
            check(&format!("the token drawn {way}"), rank < size && hit);
            check(
                &format!("a token drawn {way} that is possible"),
                rank_of(token).is_some() && probabilities[rank] > 0.0,
            );
        }
    }

    /// Plots the mass of the first k tokens, for some texts.
    pub fn draw(&self) -> Plot {
        let curve = |text| {
            let (mut mass, mut points, mut next) = (0.0, Vec::new(), 1.0);
            for (i, &probability) in self.row(&self.probabilities, text).iter().enumerate() {
                mass += f64::from(probability);
                let rank = (i + 1) as f64;
                if rank >= next {
                    points.push((rank.log10(), mass));
                    next = rank * 1.05;
                }
            }
            points
        };
        let texts = [(0, plot::BLUE), (3, plot::GREEN), (TEXTS - 1, plot::ORANGE)];
        let mut series: Vec<Series> = texts
            .map(|(text, color)| Series {
                label: format!("text {text}: nucleus of {}", self.sizes[text]),
                color,
                marks: Marks::Line(curve(text)),
            })
            .into();
        let end = (VOCABULARY as f64).log10();
        series.push(Series {
            label: format!("p = {TOP_P}"),
            color: plot::GREY,
            marks: Marks::Line(vec![(0.0, TOP_P.into()), (end, TOP_P.into())]),
        });
        Plot {
            title: format!("Probability mass of the likeliest of {VOCABULARY} tokens"),
            x: "number of tokens",
            y: "mass",
            log_x: true,
            series,
        }
    }
}
