//! What the kernels of a scan read and write: tensors, or operations that compute what is scanned and take the results.
//!
//! ```text
//! launch    Operands            the argument of each launch
//! kernel    ScanArgs            opens it
//! below     Reads ── Load       vector or element `at` of an input
//!           Writes ── Store     the same of an output
//! ```
//!
//! Only entry kernels are generic over [`ScanArgs`]. The code below them does not know what reads and writes: [`Reads`]
//! and [`Writes`] call a [`Load`] and a [`Store`] while the kernel is expanded.

#![expect(
    missing_docs,
    reason = "the `cube` macro generates items without documentation"
)]
#![expect(dead_code, reason = "kernels read the fields when they are expanded")]
#![expect(
    clippy::type_complexity,
    reason = "the `cube` macro makes the pair of what is read and written longer than it is"
)]

use cubecl::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;

/// Reads an input.
#[cube]
pub trait Load<T: Numeric, N: Size> {
    /// Vector `at` of an input. An element may be read more than once. `again` says that another cube or launch reads
    /// it as well, and that only a total depends on this reading.
    fn vector(&self, #[comptime] input: usize, at: usize, #[comptime] again: bool) -> Vector<T, N>;

    /// Element `at`, for rows that are read element by element.
    fn element(&self, #[comptime] input: usize, at: usize, #[comptime] again: bool) -> T;
}

/// Writes an output. Every element is written once.
#[cube]
pub trait Store<T: Numeric, N: Size> {
    /// Writes vector `at`.
    fn vector(&mut self, #[comptime] output: usize, at: usize, value: Vector<T, N>);

    /// Writes element `at`, for rows that are written element by element.
    fn element(&mut self, #[comptime] output: usize, at: usize, value: T);
}

/// What the kernels of a scan are compiled for.
#[cube]
pub trait ScanArgs: Send + Sync + 'static {
    /// The argument of a kernel, of elements `T`, starts `B` and positions `P`.
    type Tensors<T: Numeric, N: Size, B: Numeric, P: Numeric>: LaunchArg;

    /// Opens the argument when the kernel begins.
    fn open<T: Numeric, N: Size, B: Numeric, P: Numeric>(
        tensors: &mut Self::Tensors<T, N, B, P>,
    ) -> (Reads<T, N, B>, Writes<T, N, P>);
}

/// How the tensors of a call are accessed.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// Element by element, or in vectors.
    pub by_elements: bool,
    /// Segments extend against the direction of the scan.
    pub opposed: bool,
    /// The launch writes totals of parts, and no results.
    pub for_totals: bool,
}

/// What the launches of one scan read and write.
pub trait Operands {
    /// As the kernels see it.
    type Args: ScanArgs;

    /// The argument of one launch.
    fn tensors<T: Numeric, N: Size, B: Numeric, P: Numeric>(
        &self,
        access: Access,
    ) -> RuntimeArg<<Self::Args as ScanArgs>::Tensors<T, N, B, P>>;
}

/// What a scan reads.
#[derive(CubeType)]
pub struct Reads<T: Numeric, N: Size, B: Numeric> {
    #[cube(comptime)]
    load: Rc<dyn LoadExpand<T, N>>,
    #[cube(comptime)]
    again: bool,
    /// The number of inputs.
    #[cube(comptime)]
    pub(crate) inputs: usize,
    /// Contiguous, and not zero where a segment begins. One tensor or none.
    pub(crate) starts: Sequence<&'static [B]>,
    /// Segments extend against the direction of the scan.
    #[cube(comptime)]
    pub(crate) opposed: bool,
    /// What each line resumes from, line after line. A tensor for each output, or none.
    pub(crate) initial: Sequence<&'static [T]>,
}

#[cube]
impl<T: Numeric, N: Size, B: Numeric> Reads<T, N, B> {
    /// For inputs without segments, whose lines begin with the identity.
    pub fn new<L: Load<T, N> + CubeType<ExpandType: 'static>>(
        load: L,
        #[comptime] inputs: usize,
    ) -> Reads<T, N, B> {
        intrinsic!(|scope| ReadsExpand {
            load: Rc::new(load),
            again: false,
            inputs,
            starts: Sequence::__expand_new(scope),
            opposed: false,
            initial: Sequence::__expand_new(scope),
        })
    }

    /// For a total that another cube or launch finds as well.
    pub(crate) fn again(&self) -> Reads<T, N, B> {
        intrinsic!(|_| ReadsExpand {
            again: true,
            ..self.clone_unchecked()
        })
    }

    /// Vector `at` of an input.
    pub(crate) fn vector(&self, #[comptime] input: usize, at: usize) -> Vector<T, N> {
        intrinsic!(|scope| self
            .load
            .__expand_vector_method(scope, input, at, self.again))
    }

    /// Element `at` of an input.
    pub(crate) fn element(&self, #[comptime] input: usize, at: usize) -> T {
        intrinsic!(|scope| self
            .load
            .__expand_element_method(scope, input, at, self.again))
    }
}

/// What a scan writes, contiguous.
#[derive(CubeType)]
pub struct Writes<T: Numeric, N: Size, P: Numeric> {
    #[cube(comptime)]
    store: Rc<RefCell<dyn StoreExpand<T, N>>>,
    /// The number of outputs.
    #[cube(comptime)]
    pub(crate) outputs: usize,
    /// The positions of results in vectors. One tensor or none.
    pub(crate) positions: Sequence<&'static mut [Vector<P, N>]>,
    /// The same, written element by element.
    pub(crate) element_positions: Sequence<&'static mut [P]>,
}

#[cube]
impl<T: Numeric, N: Size, P: Numeric> Writes<T, N, P> {
    /// For outputs without positions.
    pub fn new<S: Store<T, N> + CubeType<ExpandType: 'static>>(
        store: S,
        #[comptime] outputs: usize,
    ) -> Writes<T, N, P> {
        intrinsic!(|scope| WritesExpand {
            store: Rc::new(RefCell::new(store)),
            outputs,
            positions: Sequence::__expand_new(scope),
            element_positions: Sequence::__expand_new(scope),
        })
    }

    /// Writes vector `at` of an output.
    pub(crate) fn vector(&mut self, #[comptime] output: usize, at: usize, value: Vector<T, N>) {
        intrinsic!(|scope| self
            .store
            .borrow_mut()
            .__expand_vector_method(scope, output, at, value))
    }

    /// Writes element `at` of an output.
    pub(crate) fn element(&mut self, #[comptime] output: usize, at: usize, value: T) {
        intrinsic!(|scope| self
            .store
            .borrow_mut()
            .__expand_element_method(scope, output, at, value))
    }
}
