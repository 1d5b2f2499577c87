//! What was used up of a budget. It is asked before each request; when four fifths of something are used the model is told once,
//! and when all of it is, the work ends.

use std::time::{Duration, Instant};

use legwork_model::{Budget, Price, Spent};

use crate::dialogue::Usage;

/// Counts against a budget.
#[derive(Debug)]
pub(crate) struct Meter {
    budget: Budget,
    price: Option<Price>,
    wall: Duration,
    begun: Instant,
    spent: Spent,
    /// In millionths of a millionth of a dollar.
    cost: u128,
    lines: u64,
    /// By the kinds of [`Self::kinds`].
    told: [bool; 5],
}

/// A part of a budget that is nearly or wholly used up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) name: &'static str,
    /// As in "the budget of 3 steps".
    pub(crate) limit: String,
}

impl Meter {
    pub(crate) fn new(budget: Budget, price: Option<Price>, wall: Duration, model: &str) -> Self {
        let own = budget.seconds.map_or(wall, Duration::from_secs);
        Self {
            budget,
            price,
            wall: wall.min(own),
            begun: Instant::now(),
            spent: Spent {
                model: model.to_owned(),
                cost: price.map(|_| 0),
                ..Spent::default()
            },
            cost: 0,
            lines: 0,
            told: [false; 5],
        }
    }

    /// Counts a request, whether there was an answer or not.
    pub(crate) fn request(&mut self, usage: Usage, answered: bool) {
        let spent = &mut self.spent;
        spent.requests += 1;
        spent.steps += u32::from(answered);
        spent.input = spent
            .input
            .saturating_add(usage.input)
            .saturating_add(usage.cache_write);
        spent.cached = spent.cached.saturating_add(usage.cache_read);
        spent.output = spent.output.saturating_add(usage.output);
        if let Some(price) = self.price {
            let of = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
            self.cost += of(usage.input, price.input)
                + of(usage.cache_read, price.cache_read)
                + of(usage.cache_write, price.cache_write)
                + of(usage.output, price.output);
            spent.cost = Some(u64::try_from(self.cost / 1_000_000).unwrap_or(u64::MAX));
        }
    }

    pub(crate) fn lines(&mut self, lines: u64) {
        self.lines = lines;
    }

    pub(crate) fn spent(&self) -> &Spent {
        &self.spent
    }

    /// Time that does not count: the user was waited for.
    pub(crate) fn rest(&mut self, time: Duration) {
        self.begun += time;
    }

    /// What is left of the time.
    pub(crate) fn time(&self) -> Duration {
        self.wall.saturating_sub(self.begun.elapsed())
    }

    /// What is used up, counting a request of `prompt` tokens that is about to be sent.
    pub(crate) fn over(&self, prompt: u64) -> Option<Mark> {
        self.over_with(0, prompt)
    }

    /// As [`over`](Self::over), with so many more steps that are under way.
    pub(crate) fn over_with(&self, steps: u32, prompt: u64) -> Option<Mark> {
        let mut kinds = self.kinds(prompt);
        kinds[0].0 = kinds[0].0.saturating_add(steps.into());
        let over = kinds.into_iter().find(|(used, limit, _)| used >= limit);
        over.map(|(_, _, mark)| mark)
    }

    /// What four fifths are used of since this was last asked.
    pub(crate) fn nearly(&mut self) -> Vec<Mark> {
        let mut marks = Vec::new();
        for (index, (used, limit, mark)) in self.kinds(0).into_iter().enumerate() {
            if used.saturating_mul(5) >= limit.saturating_mul(4)
                && !std::mem::replace(&mut self.told[index], true)
            {
                marks.push(mark);
            }
        }
        marks
    }

    fn kinds(&self, prompt: u64) -> [(u64, u64, Mark); 5] {
        let budget = &self.budget;
        let mark = |name, limit| Mark { name, limit };
        let dollars = budget.dollars.unwrap_or(u64::MAX);
        let seconds = |time: Duration| time.as_secs();
        let wall = self.wall.as_secs_f64();
        [
            (
                self.spent.steps.into(),
                budget.steps.into(),
                mark("steps", format!("{} steps", budget.steps)),
            ),
            (
                self.spent.tokens().saturating_add(prompt),
                budget.tokens,
                mark("tokens", format!("{} tokens", budget.tokens)),
            ),
            (
                self.spent.cost.unwrap_or(0),
                dollars,
                mark("money", cents(dollars)),
            ),
            (
                seconds(self.begun.elapsed()),
                seconds(self.wall),
                mark("time", format!("{wall} s")),
            ),
            (
                self.lines,
                budget.lines,
                mark("changed lines", format!("{} changed lines", budget.lines)),
            ),
        ]
    }
}

/// Millionths of a dollar, as people write them.
fn cents(millionths: u64) -> String {
    format!(
        "${}.{:02}",
        millionths / 1_000_000,
        millionths % 1_000_000 / 10_000
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input: u64, output: u64) -> Usage {
        Usage {
            input,
            output,
            ..Usage::default()
        }
    }

    #[test]
    fn each_part_of_a_budget_is_counted_told_once_and_ends() {
        let budget = Budget {
            steps: 5,
            tokens: 1000,
            dollars: Some(10_000),
            seconds: None,
            lines: 10,
        };
        let price = Price {
            input: 3_000_000,
            output: 15_000_000,
            cache_read: 300_000,
            cache_write: 3_750_000,
        };
        let meter = || Meter::new(budget, Some(price), Duration::from_mins(1), "m");
        let mut steps = meter();
        for _ in 0..4 {
            assert!(steps.nearly().is_empty() && steps.over(0).is_none());
            steps.request(usage(1, 1), true);
        }
        // A request that failed is no step, but it is counted.
        steps.request(usage(1, 1), false);
        assert_eq!(steps.nearly()[0].name, "steps");
        assert!(steps.nearly().is_empty(), "once");
        steps.request(usage(1, 1), true);
        assert_eq!(steps.over(0).unwrap().limit, "5 steps");
        assert_eq!((steps.spent().steps, steps.spent().requests), (5, 6));

        let mut tokens = meter();
        tokens.request(usage(500, 100), true);
        assert!(tokens.over(399).is_none());
        assert_eq!(
            tokens.over(400).unwrap().name,
            "tokens",
            "before it is sent"
        );

        let mut money = meter();
        money.request(usage(0, 600), true);
        assert_eq!(money.spent().cost, Some(9_000));
        assert_eq!(money.nearly().len(), 1);
        money.request(
            Usage {
                cache_read: 100,
                cache_write: 0,
                input: 200,
                output: 30,
            },
            true,
        );
        assert_eq!(money.spent().cost, Some(9_000 + 30 + 600 + 450));
        assert_eq!(money.over(0).unwrap().limit, "$0.01");

        let mut lines = meter();
        lines.lines(10);
        assert_eq!(lines.over(0).unwrap().name, "changed lines");
        let time = Meter::new(
            Budget {
                seconds: Some(0),
                ..budget
            },
            None,
            Duration::from_mins(1),
            "m",
        );
        assert_eq!(time.over(0).unwrap().name, "time");
        assert_eq!(time.spent().cost, None);
    }
}
