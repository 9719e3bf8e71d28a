//! Graphs without a scan, and their plans by Burn 0.22.1. Two binaries check the same list, one with the hook
//! and one without.

use std::any::Any;

use burn::tensor::{Device, s};

use super::{floats, ints, planned};

/// The tensors that a graph keeps alive until its plan has run: Burn fuses a tensor that is dropped at once
/// differently.
type Kept = Box<dyn Any>;

fn keep(tensors: impl Any) -> Kept {
    Box::new(tensors)
}

/// Plans every graph and compares. All differences are reported at once.
#[expect(clippy::too_many_lines, reason = "a table of graphs and their plans")]
pub(crate) fn assert_plans(device: &Device) {
    let (a, b) = (floats(device, [24, 16]), floats(device, [24, 16]) + 0.5);
    let (m, n) = (floats(device, [16, 16]), ints(device, [24, 16]));
    let mask = a.clone().greater_elem(0.0);
    let k = || mask.clone();
    let (a, b, m, n) = (|| a.clone(), || b.clone(), || m.clone(), || n.clone());

    let graphs: &[(&str, &str, &dyn Fn() -> Kept)] = &[
        ("one element-wise", "_(AddScalar)", &|| keep(a() + 1.0)),
        ("chain", "ElementWise(AddScalar MulScalar Exp)", &|| {
            keep(((a() + 1.0) * 2.0).exp())
        }),
        ("two operands", "ElementWise(Mul Add)", &|| {
            keep(a() * b() + a())
        }),
        ("bare matmul", "_(Matmul)", &|| keep(m().matmul(m()))),
        ("matmul and bias", "Matmul(Matmul AddScalar)", &|| {
            keep(m().matmul(m()) + 1.0)
        }),
        ("bare reduce", "_(SumDim)", &|| keep(a().sum_dim(1))),
        (
            "chain and reduce",
            "ElementWise(MulScalar AddScalar) _(SumDim)",
            &|| keep((a() * 2.0 + 1.0).sum_dim(1)),
        ),
        ("flip", "_(Flip)", &|| keep(a().flip([0]))),
        ("flip of two axes", "_(Flip)", &|| keep(a().flip([0, 1]))),
        ("flip twice", "_(Flip) _(Flip)", &|| {
            keep(a().flip([0]).flip([0]))
        }),
        (
            "flip, chain",
            "_(Flip) ElementWise(MulScalar AddScalar)",
            &|| keep(a().flip([0]) * 2.0 + 1.0),
        ),
        (
            "chain, flip",
            "ElementWise(MulScalar AddScalar) _(Flip)",
            &|| keep((a() * 2.0 + 1.0).flip([1])),
        ),
        ("one element-wise, flip", "_(MulScalar Flip)", &|| {
            keep((a() * 2.0).flip([1]))
        }),
        (
            "one element-wise, flip, chain",
            "_(MulScalar Flip) ElementWise(MulScalar AddScalar)",
            &|| keep((a() * 2.0).flip([1]) * 3.0 + 1.0),
        ),
        (
            "chain, flip, chain",
            "ElementWise(MulScalar AddScalar) _(Flip) ElementWise(Exp AddScalar)",
            &|| keep((a() * 2.0 + 1.0).flip([1]).exp() + 1.0),
        ),
        (
            "flip, matmul, bias",
            "_(Flip) Matmul(Matmul AddScalar)",
            &|| keep(m().flip([0]).matmul(m()) + 1.0),
        ),
        (
            "flip, reduce, chain",
            "_(Flip) _(SumDim) ElementWise(MulScalar AddScalar)",
            &|| keep(a().flip([0]).sum_dim(0) * 2.0 + 1.0),
        ),
        (
            "flip beside a chain",
            "_(Flip) ElementWise(MulScalar AddScalar)",
            &|| {
                let flipped = a().flip([0]);
                keep((flipped, b() * 2.0 + 1.0))
            },
        ),
        (
            "flip, one operation beside it, both",
            "_(Flip) ElementWise(MulScalar Add)",
            &|| {
                let flipped = a().flip([0]);
                keep(b() * 2.0 + flipped)
            },
        ),
        (
            "flip, chain beside it, both, matmul",
            "_(Flip) ElementWise(MulScalar Exp Add) _(Matmul)",
            &|| {
                let flipped = m().flip([0]);
                keep(((m() * 2.0).exp() + flipped).matmul(m()))
            },
        ),
        (
            "two flips, both",
            "_(Flip) _(Flip) ElementWise(Add MulScalar)",
            &|| {
                let (left, right) = (a().flip([0]), b().flip([1]));
                keep((left + right) * 2.0)
            },
        ),
        (
            "one element-wise, flip, chain beside it, both",
            "_(MulScalar Flip) ElementWise(MulScalar Exp Add)",
            &|| {
                let flipped = (a() * 3.0).flip([0]);
                keep((b() * 2.0).exp() + flipped)
            },
        ),
        (
            "flip, reduce beside it, both",
            "_(Flip) _(SumDim) ElementWise(Add MulScalar)",
            &|| {
                let flipped = a().flip([0]);
                keep((b().sum_dim(1) + flipped) * 2.0)
            },
        ),
        (
            "chain of a tensor and its flip",
            "_(Flip) ElementWise(Add MulScalar)",
            &|| {
                let x = a();
                keep((x.clone().flip([0]) + x) * 2.0)
            },
        ),
        (
            "reversing slice, chain",
            "_(Slice) ElementWise(MulScalar AddScalar)",
            &|| keep(a().slice(s![..;-1, ..]) * 2.0 + 1.0),
        ),
        (
            "partial slice, chain",
            "_(Slice) ElementWise(MulScalar AddScalar)",
            &|| keep(a().slice(s![2..20, ..]) * 2.0 + 1.0),
        ),
        ("flip, sort", "_(Flip) _(Init)", &|| {
            keep(a().flip([0]).sort(0))
        }),
        ("flip, unused", "_(Flip)", &|| {
            drop(a().flip([0]));
            keep(())
        }),
        ("cast of a mask", "_(IntoFloat)", &|| keep(k().float())),
        ("comparison, cast", "_(GreaterElem IntoFloat)", &|| {
            keep(a().greater_elem(0.5).float())
        }),
        (
            "cast of a mask, chain",
            "_(IntoFloat) ElementWise(MulScalar AddScalar)",
            &|| keep(k().float() * 2.0 + 1.0),
        ),
        (
            "comparison, cast, chain",
            "_(GreaterElem IntoFloat) ElementWise(MulScalar AddScalar)",
            &|| keep(a().greater_elem(0.5).float() * 2.0 + 1.0),
        ),
        (
            "chain, comparison, cast, chain",
            "ElementWise(MulScalar AddScalar GreaterElem) _(IntoInt) ElementWise(MulScalar AddScalar)",
            &|| keep((a() * 2.0 + 1.0).greater_elem(0.5).int() * 2 + 1),
        ),
        (
            "cast, reduce, chain",
            "_(IntoFloat) _(SumDim) ElementWise(MulScalar AddScalar)",
            &|| keep(k().float().sum_dim(0) * 2.0 + 1.0),
        ),
        (
            "cast, operand",
            "_(IntoFloat) ElementWise(Mul AddScalar)",
            &|| keep(k().float() * a() + 1.0),
        ),
        (
            "cast, chain beside it, both",
            "_(IntoFloat) ElementWise(MulScalar Exp Add)",
            &|| {
                let cast = k().float();
                keep((a() * 2.0).exp() + cast)
            },
        ),
        (
            "cast beside a chain",
            "_(IntoFloat) ElementWise(MulScalar AddScalar)",
            &|| {
                let cast = k().float();
                keep((cast, b() * 2.0 + 1.0))
            },
        ),
        (
            "cast, slice, matmul, bias",
            "_(IntoFloat) _(Slice) Matmul(Matmul AddScalar)",
            &|| keep(k().float().slice(s![0..16, ..]).matmul(m()) + 1.0),
        ),
        (
            "flip of integers, chain",
            "_(Flip) ElementWise(AddScalar MulScalar)",
            &|| keep((n().flip([0]) + 1) * 2),
        ),
    ];

    let mut differences = Vec::new();
    for (name, expected, graph) in graphs {
        // The second round replays the plans that the first one cached.
        for round in ["planned", "replayed"] {
            let (_kept, plan) = planned(device, graph);
            if plan != *expected {
                differences.push(format!("{name}, {round}: {plan}\n  instead of {expected}"));
            }
        }
    }
    assert!(
        differences.is_empty(),
        "plans differ:\n{}",
        differences.join("\n")
    );
}
