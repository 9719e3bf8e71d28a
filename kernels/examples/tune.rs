//! scratch
use cubecl::prelude::*;
use cubecl::client::Client;
use cubecl_scan::scan::*;
use cubecl_scan::ScanOp;
use std::time::Instant;

#[cube(launch_unchecked)]
fn copy_kernel<T: Numeric, N: Size>(input: &[Vector<T, N>], output: &mut [Vector<T, N>], n: usize, #[define(T)] _t: cubecl::ir::ElemType) {
    if ABSOLUTE_POS < n { output[ABSOLUTE_POS] = input[ABSOLUTE_POS] + Vector::new(T::from_int(1)); }
}
fn sync(c: &Client) { cubecl::future::block_on(c.sync()).unwrap(); }
fn time(c: &Client, mut f: impl FnMut()) -> f64 {
    f(); sync(c);
    let mut v: Vec<f64> = (0..7).map(|_| { let t = Instant::now(); f(); sync(c); t.elapsed().as_secs_f64()*1e3 }).collect();
    v.sort_by(f64::total_cmp); v[3]
}
fn main() {
    let client = cubecl::Device::default().client();
    let log: u32 = std::env::args().nth(1).map_or(22, |s| s.parse().unwrap());
    let n = 1usize << log;
    let data: Vec<f32> = (0..n).map(|i| ((i * 7919) % 17) as f32 - 8.0).collect();
    let input = client.create_from_slice(f32::as_bytes(&data));
    let output = client.empty(n * 4);
    let copy = || time(&client, || unsafe {
        copy_kernel::launch_unchecked(&client, CubeCount::Static(((n/4).div_ceil(256)) as u32 % 65536, 1.max((n/4/256/65536) as u32), 1), CubeDim::new_1d(256), 4,
            BufferArg::from_raw_parts(input.clone(), n), BufferArg::from_raw_parts(output.clone(), n), n / 4, f32::elem_type_native())
    });
    println!("copy {:.2}", copy());
    let bind = |h: &cubecl::server::Handle, shape: &[usize]| {
        let mut strides = vec![1; shape.len()];
        for i in (0..shape.len()-1).rev() { strides[i] = strides[i+1]*shape[i+1]; }
        TensorBinding { handle: h.clone().binding(), strides: strides.as_slice().into(), shape: shape.into(), tiling: Default::default() }
    };
    let run = |shape: &[usize], axis: usize, launch: LaunchOptions| time(&client, || scan_with(&client, bind(&input, shape), bind(&output, shape), axis, f32::elem_type_native(), ScanOp::Sum, ScanOptions::default(), launch).unwrap());
    let mode = std::env::args().nth(2).unwrap_or_default();
    if mode == "shapes" {
        let h = 1usize << (log/2);
        for (shape, axis) in [(vec![n],0),(vec![2,n/2],1),(vec![h,n/h],0),(vec![h,n/h],1),(vec![n/2,2],1),(vec![2,n/2],0),(vec![16,n/256,16],1), (vec![n/3, 3], 1), (vec![n/2,2],0)] {
            let c = copy(); let t = run(&shape, axis, LaunchOptions::default());
            println!("{shape:?} axis {axis}: {t:.2} ms, copy {c:.2}, ratio {:.2}", t/c);
        }
        return;
    }
    for routine in [RoutineKind::SinglePass, RoutineKind::ReduceThenScan] {
        for units in [32, 64, 128, 256] { for vectors in [4, 8, 16, 32] {
            if units < 32 { continue }
            let l = LaunchOptions { strategy: Strategy::Forced(routine), units: Some(units), vectors: Some(vectors), ..Default::default() };
            let c = copy(); let t = run(&[n], 0, l);
            println!("{routine:?} units {units} vectors {vectors}: {t:.2} ms ratio {:.2}", t / c);
        }}
    }
}
