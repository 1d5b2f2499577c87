//! Makes room in a dialogue that grows: old outputs of tools go first, all at once and not one by one, so that what an API kept of
//! it stays of use for long.

use crate::dialogue::{Entry, Part, Prompt};

/// Characters of a token, in tenths: a guess, since only the API knows.
const TENTHS: usize = 35;

/// Rounds whose outputs are kept when room is made early.
const RECENT: usize = 10;

/// How many tokens a request has, about.
pub(super) fn tokens(prompt: &Prompt) -> u64 {
    let said: usize = prompt.entries.iter().map(size).sum();
    ((prompt.system.len() + said) * 10 / TENTHS) as u64
}

fn size(entry: &Entry) -> usize {
    match entry {
        Entry::User(text) => text.len(),
        Entry::Results(results) => results.iter().map(|result| result.text.len()).sum(),
        Entry::Model(parts) => parts
            .iter()
            .map(|part| match part {
                Part::Text(text) => text.len(),
                Part::Call(call) => call.arguments.to_object().to_string().len(),
                Part::Opaque(value) => value.to_string().len(),
            })
            .sum(),
    }
}

/// Where more than three fifths of the context are used, outputs go that are older than some rounds.
pub(super) fn mask_early(entries: &mut [Entry], context: u64) {
    let used: usize = entries.iter().map(size).sum();
    if (used * 10 / TENTHS) as u64 > context / 5 * 3 {
        mask(entries, RECENT, 1_000);
    }
}

/// Makes room after an API refused a dialogue as too long, more with each level; gives whether there is any more room now.
/// A level that changes nothing is passed over.
pub(super) fn squeeze(entries: &mut [Entry], level: &mut u32) -> bool {
    loop {
        let (recent, longest) = match level {
            1 => (RECENT, 1_000),
            2 => (2, 1_000),
            3 => (0, 2_000),
            4 => (0, 200),
            _ => return false,
        };
        if mask(entries, recent, longest) {
            return true;
        }
        *level += 1;
    }
}

/// Takes out the outputs that are longer than `longest`, but for those of the last rounds.
fn mask(entries: &mut [Entry], recent: usize, longest: usize) -> bool {
    let rounds = entries
        .iter()
        .filter(|entry| matches!(entry, Entry::Results(_)))
        .count();
    let old = rounds.saturating_sub(recent);
    let results = entries.iter_mut().filter_map(|entry| match entry {
        Entry::Results(results) => Some(results),
        _ => None,
    });
    let mut changed = false;
    for result in results.take(old).flatten() {
        if result.text.len() > longest {
            result.text = format!(
                "[{} bytes of the output of `{}` were left out here to make room; call it again if they are needed]",
                result.text.len(),
                result.tool
            );
            changed = true;
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialogue::ToolResult;

    fn entries(count: usize, size: usize) -> Vec<Entry> {
        let result = |index: usize| {
            Entry::Results(vec![ToolResult {
                call: format!("c{index}"),
                tool: "bash".to_owned(),
                ok: true,
                text: "x".repeat(size),
            }])
        };
        (0..count).map(result).collect()
    }

    fn masked(entries: &[Entry]) -> usize {
        let texts = entries.iter().filter(|entry| matches!(entry, Entry::Results(results) if results[0].text.contains("left out")));
        texts.count()
    }

    #[test]
    fn b123_room_is_made_from_the_oldest_and_only_so_often() {
        let mut few = entries(12, 5_000);
        let mut level = 1;
        assert!(squeeze(&mut few, &mut level));
        assert_eq!((masked(&few), level), (2, 1));
        level += 1;
        assert!(squeeze(&mut few, &mut level));
        assert_eq!(masked(&few), 10);
        level += 1;
        assert!(squeeze(&mut few, &mut level));
        assert_eq!((masked(&few), level), (12, 3));
        level += 1;
        assert!(
            !squeeze(&mut few, &mut level),
            "there is nothing more to take"
        );
        let mut early = entries(12, 5_000);
        mask_early(&mut early, 100_000);
        assert_eq!(masked(&early), 0);
        mask_early(&mut early, 20_000);
        assert_eq!(masked(&early), 2);
    }
}
