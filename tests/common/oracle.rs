//! Plain loops that say what every operation must return. All tensors are row-major slices; a tensor seen along one of
//! its dimensions is `[outer, len, inner]`, with `inner` elements between neighbours on the dimension.

/// The elements that output `i` of a scan combines, in the order it combines them.
pub fn reached(i: usize, len: usize, exclusive: bool, reverse: bool) -> Vec<usize> {
    let mut all: Vec<usize> = if reverse {
        (i..len).rev().collect()
    } else {
        (0..=i).collect()
    };
    if exclusive {
        all.pop();
    }
    all
}

/// The scan of each line of the middle dimension, starting from `identity`.
pub fn scan<T: Copy>(
    input: &[T],
    [outer, len, inner]: [usize; 3],
    identity: T,
    combine: impl Fn(T, T) -> T,
    exclusive: bool,
    reverse: bool,
) -> Vec<T> {
    let mut output = input.to_vec();
    for (block, column) in (0..outer).flat_map(|block| (0..inner).map(move |c| (block, c))) {
        let mut running = identity;
        for step in 0..len {
            let row = if reverse { len - 1 - step } else { step };
            let at = (block * len + row) * inner + column;
            let before = running;
            running = combine(running, input[at]);
            output[at] = if exclusive { before } else { running };
        }
    }
    output
}

/// The values under `true`.
pub fn compact<T: Copy>(values: &[T], mask: &[bool]) -> Vec<T> {
    indices(mask).into_iter().map(|at| values[at]).collect()
}

/// The slices along the middle dimension whose mask entry is true.
pub fn compact_dim<T: Copy>(
    values: &[T],
    [outer, len, inner]: [usize; 3],
    mask: &[bool],
) -> Vec<T> {
    let mut kept = Vec::new();
    for row in (0..outer * len).filter(|row| mask[row % len]) {
        kept.extend_from_slice(&values[row * inner..(row + 1) * inner]);
    }
    kept
}

/// Zeros, and the i-th value at the i-th `true`.
pub fn expand<T: Copy + Default>(values: &[T], mask: &[bool]) -> Vec<T> {
    let mut output = vec![T::default(); mask.len()];
    for (at, &value) in indices(mask).into_iter().zip(values) {
        output[at] = value;
    }
    output
}

/// Where the element at each place of the grouped output comes from, and the offsets of the groups. Elements with a key
/// outside of `0..num_keys` are in neither.
pub fn partition(keys: &[i64], num_keys: usize) -> (Vec<usize>, Vec<usize>) {
    let (mut sources, mut offsets) = (Vec::new(), vec![0]);
    let mut groups = vec![Vec::new(); num_keys];
    for (at, &key) in keys.iter().enumerate() {
        if let Some(group) = usize::try_from(key)
            .ok()
            .and_then(|key| groups.get_mut(key))
        {
            group.push(at);
        }
    }
    for group in groups {
        sources.extend(group);
        offsets.push(sources.len());
    }
    (sources, offsets)
}

/// The flat positions of the trues.
pub fn indices(mask: &[bool]) -> Vec<usize> {
    (0..mask.len()).filter(|&at| mask[at]).collect()
}

/// The coordinates of the trues, one row of `shape.len()` numbers each.
pub fn argwhere(mask: &[bool], shape: &[usize]) -> Vec<usize> {
    let coordinate =
        |at: usize, dim: usize| at / shape[dim + 1..].iter().product::<usize>() % shape[dim];
    let coordinates = |at: usize| (0..shape.len()).map(move |dim| coordinate(at, dim));
    indices(mask).into_iter().flat_map(coordinates).collect()
}
