//! first
mod common;
use common::*;
use cubecl_scan::ScanOp;
use cubecl_scan::scan::*;

#[test]
fn smoke() {
    let client = client();
    println!("{:?}", client.properties().hardware);
    println!("plane {:?}", client.features().plane);
    for routine in RoutineKind::ALL {
        let launch = LaunchOptions { strategy: Strategy::Forced(routine), units: Some(64), vectors: Some(2), ..launch() };
        for (shape, axis) in [(vec![3], 0), (vec![8], 0), (vec![512],0), (vec![1000], 0),(vec![5000],0), (vec![3, 4], 1), (vec![7, 100], 1), (vec![3,10001],1), (vec![4,100, 8],1), (vec![100, 3], 0)] {
            let view = View::contiguous(&shape);
            for op in ScanOp::ALL {
                for options in all_options() {
                    let data: Vec<f32> = values(view.elements(), op).into_iter().map(|x| x as f32).collect();
                    match device_scan(&client, &data, &view, axis, op, options, launch) {
                        Err(e) => { if op == ScanOp::Sum { println!("{routine:?} {shape:?}: {e}"); } continue },
                        Ok(_) => {}
                    }
                    check(&client, &data, &view, axis, op, options, launch);
                    let data = values(view.elements(), op);
                    check(&client, &data, &view, axis, op, options, launch);
                }
            }
        }
        println!("{routine:?} ok");
    }
}
