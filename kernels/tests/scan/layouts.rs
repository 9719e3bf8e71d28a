//! Strided inputs: transposed, sliced, stepped and broadcast, of ranks 1 to 5 and along every axis.

use super::*;

fn check_every_axis(buffer: &[i32], view: &View) {
    for axis in 0..view.shape.len() {
        for options in [all_options()[0], all_options()[3]] {
            check(
                &client(),
                buffer,
                view,
                axis,
                ScanOp::Sum,
                options,
                launch(),
            );
        }
    }
}

#[test]
fn contiguous_of_every_rank() {
    for shape in [
        vec![64],
        vec![6, 20],
        vec![3, 4, 8],
        vec![2, 3, 4, 5],
        vec![2, 1, 3, 2, 4],
    ] {
        let view = View::contiguous(&shape);
        check_every_axis(&values(view.elements(), ScanOp::Sum), &view);
    }
}

#[test]
fn transposed() {
    let buffer = values(24 * 36, ScanOp::Sum);
    check_every_axis(
        &buffer,
        &View {
            shape: vec![24, 36],
            strides: vec![1, 24],
        },
    );
    check_every_axis(
        &buffer,
        &View {
            shape: vec![6, 24, 6],
            strides: vec![1, 36, 6],
        },
    );
}

#[test]
fn rows_with_gaps() {
    let buffer = values(40 * 100, ScanOp::Sum);
    check_every_axis(
        &buffer,
        &View {
            shape: vec![40, 64],
            strides: vec![100, 1],
        },
    );
    check_every_axis(
        &buffer,
        &View {
            shape: vec![40, 63],
            strides: vec![99, 1],
        },
    );
}

#[test]
fn every_second_element() {
    let buffer = values(500, ScanOp::Sum);
    check_every_axis(
        &buffer,
        &View {
            shape: vec![250],
            strides: vec![2],
        },
    );
    check_every_axis(
        &buffer,
        &View {
            shape: vec![10, 20],
            strides: vec![50, 2],
        },
    );
}

#[test]
fn broadcast() {
    let buffer = values(64, ScanOp::Sum);
    check_every_axis(
        &buffer,
        &View {
            shape: vec![64],
            strides: vec![0],
        },
    );
    check_every_axis(
        &buffer,
        &View {
            shape: vec![7, 64],
            strides: vec![0, 1],
        },
    );
    check_every_axis(
        &buffer,
        &View {
            shape: vec![64, 7],
            strides: vec![1, 0],
        },
    );
    check_every_axis(
        &buffer,
        &View {
            shape: vec![3, 8, 4],
            strides: vec![0, 0, 0],
        },
    );
}
