//! Graphs without a scan, and the plan Burn 0.22.1 gives them. The same list is checked with the hook in place and
//! without it, each in a binary of its own.

use burn::tensor::{Device, s};

use super::{floats, ints, planned};

/// Plans every graph and compares. All differences are reported at once.
pub(crate) fn assert_plans(device: &Device) {
    let x = || floats(device, [24, 16]);
    let y = || floats(device, [24, 16]) + 0.5;
    let square = || floats(device, [16, 16]);

    let mut wrong = Vec::new();
    let mut check = |name: &str, expected: &str, graph: &dyn Fn()| {
        let ((), plan) = planned(device, graph);
        if plan != expected {
            wrong.push(format!("{name}: {plan}\n    instead of: {expected}"));
        }
    };
    let (a, b, m, n) = (x(), y(), square(), ints(device, [24, 16]));

    check("one element-wise", "_(AddScalar)", &|| {
        drop(a.clone() + 1.0);
    });
    check("chain", "ElementWise(AddScalar MulScalar Exp)", &|| {
        drop(((a.clone() + 1.0) * 2.0).exp());
    });
    check("two operands", "ElementWise(Mul Add)", &|| {
        drop(a.clone() * b.clone() + a.clone());
    });
    check("matmul and bias", "Matmul(Matmul AddScalar)", &|| {
        drop(m.clone().matmul(m.clone()) + 1.0);
    });
    check("bare matmul", "_(Matmul)", &|| {
        drop(m.clone().matmul(m.clone()));
    });
    check("reduce", "_(SumDim)", &|| {
        drop(a.clone().sum_dim(1));
    });
    check("fused reduce", "Reduce(MulScalar AddScalar SumDim)", &|| {
        drop((a.clone() * 2.0 + 1.0).sum_dim(1));
    });
    check("flip", "_(Flip)", &|| {
        drop(a.clone().flip([0]));
    });
    check("flip then chain", "_(Flip) ElementWise(MulScalar AddScalar)", &|| {
        drop(a.clone().flip([0]) * 2.0 + 1.0);
    });
    check("chain then flip", "ElementWise(MulScalar AddScalar) _(Flip)", &|| {
        drop((a.clone() * 2.0 + 1.0).flip([1]));
    });
    check("flip of a flip", "_(Flip) _(Flip)", &|| {
        drop(a.clone().flip([0]).flip([0]));
    });
    check("one element-wise then flip", "_(MulScalar Flip)", &|| {
        drop((a.clone() * 2.0).flip([1]));
    });
    check(
        "one element-wise, flip, chain",
        "_(MulScalar Flip) ElementWise(MulScalar AddScalar)",
        &|| drop((a.clone() * 2.0).flip([1]) * 3.0 + 1.0),
    );
    check("flip between chains", "ElementWise(MulScalar AddScalar) _(Flip) ElementWise(Exp AddScalar)", &|| {
        drop((a.clone() * 2.0 + 1.0).flip([1]).exp() + 1.0);
    });
    check("flip of an unrelated tensor", "_(Flip) ElementWise(MulScalar AddScalar)", &|| {
        let flipped = a.clone().flip([0]);
        drop(b.clone() * 2.0 + 1.0);
        drop(flipped);
    });
    check("flip, unrelated chain, both", "_(Flip) ElementWise(MulScalar Add)", &|| {
        let flipped = a.clone().flip([0]);
        drop(b.clone() * 2.0 + flipped);
    });
    check("reversed slice then chain", "_(Slice) ElementWise(MulScalar AddScalar)", &|| {
        drop(a.clone().slice(s![..;-1, ..]) * 2.0 + 1.0);
    });
    check("part slice then chain", "_(Slice) ElementWise(MulScalar AddScalar)", &|| {
        drop(a.clone().slice(s![2..20, ..]) * 2.0 + 1.0);
    });
    check("sort then chain", "_(Sort) ElementWise(MulScalar AddScalar)", &|| {
        drop(a.clone().sort(0) * 2.0 + 1.0);
    });
    check("flip of integers", "_(Flip) ElementWise(AddScalar MulScalar)", &|| {
        drop((n.clone().flip([0]) + 1) * 2);
    });
    assert!(wrong.is_empty(), "plans differ:\n{}", wrong.join("\n"));
}
