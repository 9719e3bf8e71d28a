//! Numbers of elements as people write them: `1000`, `2^20`, `2^20-1`.

/// The number. `None` if the text is not a number, or one that does not fit.
pub fn parse(text: &str) -> Option<usize> {
    let Some(power) = text.strip_prefix("2^") else {
        return text.parse().ok();
    };
    let split = power.find(['+', '-']).unwrap_or(power.len());
    let (log, rest) = power.split_at(split);
    let power = 1usize.checked_shl(log.parse().ok()?)?;
    match rest.split_at_checked(1) {
        Some(("+", more)) => power.checked_add(more.parse().ok()?),
        Some(("-", less)) => power.checked_sub(less.parse().ok()?),
        _ => Some(power),
    }
}

/// The shortest of these forms, from 2^8 on.
pub fn spell(n: usize) -> String {
    for (base, rest) in [
        (Some(n), ""),
        (n.checked_add(1), "-1"),
        (n.checked_sub(1), "+1"),
    ] {
        match base {
            Some(base) if base >= 256 && base.is_power_of_two() => {
                return format!("2^{}{rest}", base.ilog2());
            }
            _ => (),
        }
    }
    n.to_string()
}
