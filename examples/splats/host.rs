//! The splats, and their picture by a loop on the host.

use common::random::Random;

use super::{CENTRE, COLOUR, CONIC, FAINTEST, HEIGHT, OPACITY, REACH, SPLATS, Splat, WIDTH};

/// Splats on a torus, in any order, and their depths. No two depths are equal.
pub fn torus() -> (Vec<Splat>, Vec<f32>) {
    let mut random = Random::new(5);
    let mut splats: Vec<(f32, Splat)> = (0..SPLATS).map(|_| on_torus(&mut random)).collect();
    splats.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let mut order: Vec<usize> = (0..SPLATS).collect();
    for i in (1..SPLATS).rev() {
        order.swap(i, random.below(i + 1));
    }
    let at = |&rank: &usize| (splats[rank].1, rank as f32 / SPLATS as f32);
    order.iter().map(at).unzip()
}

/// A random splat and its distance from the viewer.
fn on_torus(random: &mut Random) -> (f32, Splat) {
    let turn = |random: &mut Random| random.uniform() * std::f32::consts::TAU;
    let (along, around) = (turn(random), turn(random));
    let ring = 1.0 + 0.42 * around.cos();
    let (x, y, z) = (ring * along.cos(), ring * along.sin(), 0.42 * around.sin());
    // The torus is tilted, and seen from a distance of 4.
    let (sin, cos) = 0.9f32.sin_cos();
    let (y, z) = (y * cos - z * sin, y * sin + z * cos);
    let distance = 4.0 - z;
    let scale = 1.1 * WIDTH as f32 / distance;
    let centre = [
        0.5 * WIDTH as f32 + scale * x,
        0.5 * HEIGHT as f32 + scale * y,
    ];
    // Standard deviations along two axes, in pixels.
    let [long, short] = [(); 2].map(|()| (0.55 + 0.4 * random.uniform()) * 4.0 / distance);
    let (sin, cos) = turn(random).sin_cos();
    let [long, short] = [long, short].map(|deviation| deviation.powi(-2));
    let conic = [
        long * cos * cos + short * sin * sin,
        (long - short) * sin * cos,
        long * sin * sin + short * cos * cos,
    ];
    let opacity = 0.3 + 0.6 * random.uniform();
    let light = 0.35 + 0.65 * (0.5 + 0.5 * around.sin()) * (0.75 + 0.25 * (8.0 * along).cos());
    let shade = |phase: f32| light * (0.55 + 0.45 * (along + phase).cos());
    // The faintest pixel that counts is no farther away.
    let widest = long.min(short).powf(-0.5);
    let reach = widest * (2.0 * (opacity / FAINTEST).ln()).sqrt();
    let splat = [
        centre[0],
        centre[1],
        conic[0],
        conic[1],
        conic[2],
        opacity,
        shade(0.0),
        shade(2.1),
        shade(4.2),
        reach,
    ];
    (distance, splat)
}

/// The picture by a loop over the splats from front to back.
pub fn by_loop(splats: &[Splat], depths: &[f32]) -> Vec<u8> {
    let mut order: Vec<usize> = (0..SPLATS).collect();
    order.sort_by(|&a, &b| depths[a].total_cmp(&depths[b]));
    let mut passed = vec![1.0; WIDTH * HEIGHT];
    let mut picture = vec![0.0; 3 * WIDTH * HEIGHT];
    for splat in order.into_iter().map(|at| splats[at]) {
        let pixels = |number: usize, len: usize| {
            let edge = |sign: f32| (splat[CENTRE + number] + sign * splat[REACH]).floor();
            edge(-1.0).max(0.0) as usize..len.min((edge(1.0) + 1.0).max(0.0) as usize)
        };
        for y in pixels(1, HEIGHT) {
            for x in pixels(0, WIDTH) {
                let dx = x as f32 + 0.5 - splat[CENTRE];
                let dy = y as f32 + 0.5 - splat[CENTRE + 1];
                let power = 0.5 * (splat[CONIC] * dx * dx + splat[CONIC + 2] * dy * dy)
                    + splat[CONIC + 1] * dx * dy;
                let alpha = splat[OPACITY] * (-power).exp();
                if alpha >= FAINTEST {
                    let pixel = y * WIDTH + x;
                    for channel in 0..3 {
                        picture[3 * pixel + channel] +=
                            passed[pixel] * alpha * splat[COLOUR + channel];
                    }
                    passed[pixel] *= 1.0 - alpha;
                }
            }
        }
    }
    let byte = |light: f32| (light * 255.0).round() as u8;
    picture.into_iter().map(byte).collect()
}
