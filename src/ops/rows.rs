//! What the rows of [`scans`](super::scans) and [`sort`](super::sort) mean. They list the operations of two traits once.
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
//! | the trait | [`trait_of`]; `as` is what fusion is told about the results |
//! | its implementations on CubeCL's devices and on the CPU | [`functions_of`], and a function for each key |
//! | its implementation with gradients, for tensors without any | `backends/autodiff/mod.rs` |
//! | both ends of the remote backend | `remote/ops.rs`; a server checks the rules, methods in `remote/rules` |
//!
//! Gradients are written by hand in `backends/autodiff`. An *exact* operation reads something back, and calls those that
//! are *queued*: it needs no rules, since it does not travel.

/// The trait of some rows.
macro_rules! trait_of {
    (
        $(#[$($about:tt)*])* $Trait:ident
        queued {$(
            $(#[$($doc:tt)*])*
            $op:ident = $key:ident($($t:ident: $T:ident),+; $($a:ident: $A:ident),*) -> ($($Out:ident),+)
                as ($($how:tt)*) if ($($rule:ident($($what:ident),*)),*) $body:tt
        )+}
        exact {$(
            $(#[$($edoc:tt)*])*
            $eop:ident = $ekey:ident($($et:ident: $ET:ident),+; $($ea:ident: $EA:ident),*)
                -> ($($EOut:ident),+) $ebody:tt
        )*}
    ) => {
        $(#[$($about)*])*
        #[backend_extension(
            Fusion: cfg(feature = "fusion"),
            Flex: cfg(feature = "flex"),
            Cube: cfg(feature = "cubecl-backend"),
            Autodiff: cfg(feature = "autodiff"),
            Remote: cfg(feature = "remote"),
        )]
        pub trait $Trait: Backend {
            $(
                $(#[$($doc)*])*
                #[fusion($($how)*)]
                fn $op($($t: $T<Self>,)+ $($a: $A),*) -> ($($Out<Self>),+) $body
            )+
            $(
                $(#[$($edoc)*])*
                #[fusion(default)]
                fn $eop($($et: $ET<Self>,)+ $($ea: $EA),*) -> ($($EOut<Self>),+) $ebody
            )*
        }
    };
}

/// The methods of the queued operations on a backend with one type of tensors: the functions of their keys.
#[cfg(any(feature = "flex", feature = "cubecl-backend"))]
macro_rules! functions_of {
    (
        $Trait:ident
        queued {$(
            $(#[$($doc:tt)*])*
            $op:ident = $key:ident($($t:ident: $T:ident),+; $($a:ident: $A:ident),*) -> ($($Out:ident),+)
                as ($($how:tt)*) if ($($rule:ident($($what:ident),*)),*) $body:tt
        )+}
        exact {$($rest:tt)*}
    ) => {$(
        fn $op($($t: $T,)+ $($a: $A),*) -> ($($Out),+) {
            $key($($t,)+ $($a),*)
        }
    )+};
}

#[cfg(any(feature = "flex", feature = "cubecl-backend"))]
pub(crate) use functions_of;
pub(crate) use trait_of;
