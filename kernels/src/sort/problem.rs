//! The facts of one sort, and all checks of it.

use super::code::{KeyOrder, bits_of};
use super::tile::KeyDigits;
use super::{SortOptions, SortOutputs};
use crate::ScanError;
use crate::compact::digits::config::DigitConfig;
use crate::error::{Operand, address_type, check_outputs, check_types};
use crate::operator::integer_limits;
use crate::scan::problem::lanes_of;
use crate::scan::{LaunchOptions, scratch::temporary_tensor};
use cubecl::client::Client;
use cubecl::ir::{AddressType, ElemType};
use cubecl::prelude::*;

/// What the launches of a sort share.
#[derive(Clone)]
pub(super) struct Sort<'c> {
    pub client: &'c Client,
    pub dtype: ElemType,
    pub order: KeyOrder,
    pub digits: DigitConfig,
    pub address_type: AddressType,
    pub launch: LaunchOptions,
}

/// Keys in lines, `[lines, len]`.
#[derive(Clone)]
pub(super) struct Source {
    pub keys: TensorBinding,
    /// Their positions, of type `u32`. `None`: the positions at which they lie.
    pub positions: Option<TensorBinding>,
    pub lines: [usize; 2],
}

impl<'c> Sort<'c> {
    /// Checks a call whose outputs have `kept` keys of each line.
    #[track_caller]
    pub fn new(
        client: &'c Client,
        (keys, dtype): (&TensorBinding, ElemType),
        outputs: &SortOutputs,
        [lines, len]: [usize; 2],
        kept: usize,
        options: SortOptions,
        launch: LaunchOptions,
    ) -> Result<Self, ScanError> {
        let positions = outputs.positions.as_ref();
        let index = positions.map(|(_, index)| *index);
        // Codes of wide keys are computed in u64.
        let code = (dtype.size() == 8).then(u64::elem_type_native);
        check_types(client, [dtype].into_iter().chain(index).chain(code))?;
        check_bits(dtype, options.bits)?;
        check_positions(len, u32::elem_type_native())?;
        if let Some(index) = index {
            check_positions(len, index)?;
        }
        let mut operands: Vec<Operand> = Vec::new();
        if let Some(keys) = &outputs.keys {
            operands.push(("sorted keys", keys, dtype.size(), lines * kept));
        }
        if let Some((positions, index)) = positions {
            operands.push(("positions", positions, index.size(), lines * kept));
        }
        check_outputs(&[("keys", keys, dtype.size(), lines * len)], &operands)?;
        Ok(Self {
            client,
            dtype,
            order: KeyOrder::new(dtype, options),
            // Keys are staged.
            digits: DigitConfig::new(client, &launch, dtype.size(), false),
            address_type: operands
                .iter()
                .map(|(_, tensor, ..)| address_type(tensor, 1))
                .fold(address_type(keys, 1), AddressType::max),
            launch,
        })
    }

    /// The same for lines that are longer than a tile: their tiles may be larger.
    pub fn of_long_lines(&self) -> Self {
        let size = self.dtype.size();
        let is_large = size <= size_of::<u32>();
        let digits = DigitConfig::new(self.client, &self.launch, size, is_large);
        Self {
            digits,
            ..self.clone()
        }
    }

    /// The passes of a sort by this number of bits.
    pub fn passes(&self, bits: u32) -> usize {
        bits.div_ceil(self.digits.bits) as usize
    }

    /// The digits of keys.
    pub fn key_digits(&self) -> KeyDigits {
        KeyDigits {
            tile: self.digits,
            order: self.order,
            passes: [0, 1].map(|word| self.passes(self.order.bits_of_word(word))),
        }
    }

    /// Keys of the widest vector that straddles no line of `len` keys and no tile, in any of the tensors of keys.
    pub fn lanes(&self, len: usize, keys: &[&TensorBinding]) -> usize {
        let size = self.dtype.size();
        let keys: Vec<_> = keys.iter().map(|keys| (*keys, size)).collect();
        lanes_of(self.client, len | self.digits.tile(), &keys)
    }

    /// The same for a kernel that ranks tiles: units of planes read single keys.
    pub fn lanes_of_tile(&self, len: usize, keys: &[&TensorBinding]) -> usize {
        if self.digits.plane {
            1
        } else {
            self.lanes(len, keys)
        }
    }

    /// Buffers for keys in such lines, and for their positions.
    pub fn temporaries(&self, lines: [usize; 2], has_positions: bool) -> Source {
        let tensor = |dtype| temporary_tensor(self.client, lines, dtype);
        Source {
            keys: tensor(self.dtype),
            positions: has_positions.then(|| tensor(u32::elem_type_native())),
            lines,
        }
    }
}

impl From<Source> for SortOutputs {
    /// What one launch writes, for the next to read.
    fn from(source: Source) -> Self {
        let index = u32::elem_type_native();
        Self {
            keys: Some(source.keys),
            positions: source.positions.map(|positions| (positions, index)),
        }
    }
}

fn check_bits(dtype: ElemType, bits: Option<u32>) -> Result<(), ScanError> {
    match bits {
        Some(bits) if dtype.is_float() || !(1..=bits_of(dtype)).contains(&bits) => {
            Err(ScanError::KeyBits { bits, dtype })
        }
        _ => Ok(()),
    }
}

/// Refuses lines whose last position the type does not hold.
fn check_positions(len: usize, index: ElemType) -> Result<(), ScanError> {
    let last = len.saturating_sub(1) as i128;
    if last > integer_limits(index).1 {
        Err(ScanError::PositionsTooLarge { len, index })
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_that_their_type_holds() {
        let byte = u8::elem_type_native();
        assert_eq!(check_positions(0, byte), Ok(()));
        assert_eq!(check_positions(256, byte), Ok(()));
        let refused = ScanError::PositionsTooLarge {
            len: 257,
            index: byte,
        };
        assert_eq!(check_positions(257, byte), Err(refused));
        assert_eq!(check_positions(1 << 31, i32::elem_type_native()), Ok(()));
        assert!(check_positions((1 << 31) + 1, i32::elem_type_native()).is_err());
    }

    #[test]
    fn bits_that_keys_have() {
        let (int, float) = (i32::elem_type_native(), f32::elem_type_native());
        for (dtype, bits, allowed) in [
            (int, None, true),
            (int, Some(1), true),
            (int, Some(32), true),
            (int, Some(0), false),
            (int, Some(33), false),
            (i64::elem_type_native(), Some(33), true),
            (float, None, true),
            (float, Some(8), false),
        ] {
            assert_eq!(
                check_bits(dtype, bits).is_ok(),
                allowed,
                "{bits:?} of {dtype:?}"
            );
        }
    }
}
