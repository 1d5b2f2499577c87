//! Public bug reports of tools that do this job, as trees and commands, through the real binary and a real machine. What
//! each case is and how it ends stands in `README.md`.

/// Cases of which nothing but the oracle need be said.
macro_rules! plain {
    ($($name:ident = $id:literal;)*) => {
        $(
            #[test]
            fn $name() {
                crate::case::Case::plain($id);
            }
        )*
    };
}

mod bytes;
mod case;
mod editor;
mod files;
mod generated;
mod oracle;
mod partial;
mod repositories;
mod review;
mod runtime;
mod snapshot;
mod table;
mod tools;
