//! What the rows of [`scans`](super::scans), [`sort`](super::sort) and [`selections`](super::selections) mean. They
//! list all operations of the traits once.
//!
//! ```text
//! name = key(tensor: Type, …; argument: Type, …) -> (Type, …)
//!     as (shapes and dtypes of the results) if (rules) ;  or a default body in braces
//! ```
//!
//! The name is the method of the trait. The key is the name without its kind: the backends without gradients have one
//! function of that name for all kinds. Everything that needs an item for each operation is made from the rows:
//!
//! | what | where |
//! |---|---|
//! | the trait | [`trait_of`] |
//! | its implementations on CubeCL's devices and on the CPU | [`functions_of`], and a function for each key |
//! | its implementation with gradients | for tensors without a gradient, in `backends/autodiff/mod.rs`; for selections of floats, in `backends/autodiff/selections.rs`, with an adjoint for each key |
//! | its implementation on fused devices, which `as` tells about the results | `backends/fusion.rs` |
//! | both ends of the remote backend | `remote/ops.rs`; a server checks the rules, methods in `remote/rules.rs` |
//!
//! Other gradients are written by hand in `backends/autodiff`. A *queued* operation is one step: fusion queues it, and
//! it travels to remote devices. An *exact* one reads a number back, has a size that a number decides, or is one of
//! Burn's with a gradient of ours. Its default body calls queued ones, so it needs no rules. With `default` in `as`
//! fusion takes the default body, too.

/// The trait of some rows.
macro_rules! trait_of {
    (
        $(#[$($about:tt)*])* $Trait:ident: $($Super:ident)+;
        $($group:ident {$(
            $(#[$($doc:tt)*])*
            $op:ident = $key:ident($($t:ident: $T:ident),+; $($a:ident: $A:ident),*) -> ($($Out:ident),+)
                as ($($how:tt)*) if ($($rule:ident($($what:ident),*)),*) $body:tt
        )*})+
    ) => {
        $(#[$($about)*])*
        #[backend_extension(
            Flex: cfg(feature = "flex"),
            Cube: cfg(feature = "cubecl-backend"),
            Autodiff: cfg(feature = "autodiff"),
            Remote: cfg(feature = "remote"),
        )]
        pub trait $Trait: $($Super +)+ {$($(
            $(#[$($doc)*])*
            fn $op($($t: $T<Self>,)+ $($a: $A),*) -> ($($Out<Self>),+) $body
        )*)+}
    };
}

/// The implementation on a backend with one type of tensors: the functions of the keys, for `all` operations or for the
/// `queued` ones alone.
#[cfg(any(feature = "flex", feature = "cubecl-backend"))]
macro_rules! functions_of {
    (
        $Backend:ident $which:ident $Trait:ident: $($Super:ident)+;
        $($group:ident {$(
            $(#[$($doc:tt)*])*
            $op:ident = $key:ident($($t:ident: $T:ident),+; $($a:ident: $A:ident),*) -> ($($Out:ident),+)
                as ($($how:tt)*) if ($($rule:ident($($what:ident),*)),*) $body:tt
        )*})+
    ) => {
        #[expect(unused_parens, reason = "a row has its results in parentheses, one or several")]
        impl $Trait for $Backend {$($(
            $crate::ops::rows::functions_of! {
                @$which $group
                fn $op($($t: $T,)+ $($a: $A),*) -> ($($Out),+) {
                    $key($($t,)+ $($a),*)
                }
            }
        )*)+}
    };
    (@queued exact $($method:tt)*) => {};
    (@$which:ident $group:ident $($method:tt)*) => { $($method)* };
}

#[cfg(any(feature = "flex", feature = "cubecl-backend"))]
pub(crate) use functions_of;
pub(crate) use trait_of;
