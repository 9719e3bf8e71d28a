//! What a compaction reads and writes, and the plan of its launch.

use super::emit::Emit;
use super::mask_tile::Mark;
use super::plan::{MaskLines, Plan};
use crate::ScanError;
use crate::error::{Operand, Typed, check_outputs, check_types};
use crate::scan::LaunchOptions;
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// What a launch reads and writes.
pub(super) struct Selection {
    pub values: Typed,
    pub mask: Typed,
    pub output: TensorBinding,
    /// The number of survivors of each line.
    pub counts: TensorBinding,
    pub index: ElemType,
    pub emit: Emit,
}

impl Selection {
    /// Makes all further checks, then the plan for these lines of the mask. `others` are further outputs.
    pub fn plan(
        &self,
        client: &Client,
        lines: MaskLines,
        mark: Mark,
        others: &[Operand],
        launch: LaunchOptions,
    ) -> Result<Plan, ScanError> {
        let (emitted, index) = (self.values.1, self.index);
        let inputs = [
            ("values", &self.values.0, emitted.size(), 0),
            ("mask", &self.mask.0, self.mask.1.size(), 0),
        ];
        let output = [("output", &self.output, emitted.size(), 0)];
        let count = [("count", &self.counts, index.size(), lines.count())];
        let address_type = check_outputs(&inputs, &[&output, others, &count].concat())?;
        // If no values are emitted, `values` is a stand-in.
        let others = [&self.values];
        let others = if self.emit.values() { &others[..] } else { &[] };
        let size = emitted.size();
        let mut plan = Plan::new(client, &self.mask, others, size, lines, mark, launch)?;
        check_types(client, [emitted, index])?;
        plan.address_type = address_type;
        Ok(plan)
    }
}
