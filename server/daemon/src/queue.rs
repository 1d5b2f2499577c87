//! Who runs next. A value: no locks, no clock, no tasks of tokio.
//!
//! Strictly in the order of arrival: nobody overtakes a task that waits for memory, so nobody waits for ever.

use std::collections::{BTreeMap, VecDeque};

use legwork_model::TaskId;

/// Tasks that wait and tasks that run.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    slots: usize,
    memory: u64,
    waiting: VecDeque<(TaskId, u64)>,
    running: BTreeMap<TaskId, u64>,
}

impl Queue {
    /// An empty queue for `slots` tasks at once that have no more than `memory` bytes together. A task that is larger
    /// than that alone runs alone.
    pub(crate) fn new(slots: u32, memory: u64) -> Self {
        let slots = usize::try_from(slots).unwrap_or(usize::MAX).max(1);
        Self {
            slots,
            memory,
            waiting: VecDeque::new(),
            running: BTreeMap::new(),
        }
    }

    /// Puts a task that takes `memory` bytes at the end. Does nothing if it is there already.
    pub(crate) fn push(&mut self, task: TaskId, memory: u64) {
        if !self.is_waiting(&task) && !self.is_running(&task) {
            self.waiting.push_back((task, memory));
        }
    }

    /// Takes the first task out if there is room for it; it counts as running from now on.
    pub(crate) fn start(&mut self) -> Option<TaskId> {
        let (_, memory) = self.waiting.front()?;
        let used: u64 = self
            .running
            .values()
            .fold(0, |sum, memory| sum.saturating_add(*memory));
        let fits = used.saturating_add(*memory) <= self.memory || self.running.is_empty();
        if self.running.len() >= self.slots || !fits {
            return None;
        }
        let (task, memory) = self.waiting.pop_front()?;
        self.running.insert(task.clone(), memory);
        Some(task)
    }

    /// A running task ended.
    pub(crate) fn finish(&mut self, task: &TaskId) {
        self.running.remove(task);
    }

    /// Takes a waiting task out; `false` if it does not wait.
    pub(crate) fn remove(&mut self, task: &TaskId) -> bool {
        let before = self.waiting.len();
        self.waiting.retain(|(other, _)| other != task);
        before != self.waiting.len()
    }

    /// Whether it waits.
    pub(crate) fn is_waiting(&self, task: &TaskId) -> bool {
        self.waiting.iter().any(|(other, _)| other == task)
    }

    /// Whether it runs.
    pub(crate) fn is_running(&self, task: &TaskId) -> bool {
        self.running.contains_key(task)
    }

    /// How many wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// How many run.
    pub(crate) fn running(&self) -> usize {
        self.running.len()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Step {
        Push(u64),
        Start,
        FinishOne(usize),
        Remove(usize),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            (1_u64..150).prop_map(Step::Push),
            Just(Step::Start),
            any::<usize>().prop_map(Step::FinishOne),
            any::<usize>().prop_map(Step::Remove),
        ];
        proptest::collection::vec(step, 0..80)
    }

    proptest! {
        #[test]
        fn nothing_is_lost_run_twice_or_overtaken_and_the_limits_hold(slots in 1_u32..5, steps in steps()) {
            let mut queue = Queue::new(slots, 100);
            let mut model: VecDeque<(TaskId, u64)> = VecDeque::new();
            let mut running: Vec<(TaskId, u64)> = Vec::new();
            for step in steps {
                match step {
                    Step::Push(memory) => {
                        let task = TaskId::random();
                        queue.push(task.clone(), memory);
                        queue.push(task.clone(), memory);
                        model.push_back((task, memory));
                    }
                    Step::Start => {
                        if let Some(task) = queue.start() {
                            let first = model.pop_front().expect("something waited");
                            prop_assert_eq!(&task, &first.0);
                            running.push(first);
                        } else if running.is_empty() {
                            prop_assert!(model.is_empty(), "an idle machine refuses nobody");
                        }
                    }
                    Step::FinishOne(index) if !running.is_empty() => {
                        let (task, _) = running.remove(index % running.len());
                        queue.finish(&task);
                    }
                    Step::Remove(index) if !model.is_empty() => {
                        let (task, _) = model.remove(index % model.len()).expect("the index is below the length");
                        prop_assert!(queue.remove(&task));
                        prop_assert!(!queue.remove(&task));
                    }
                    Step::FinishOne(_) | Step::Remove(_) => {}
                }
                prop_assert_eq!(queue.waiting(), model.len());
                prop_assert_eq!(queue.running(), running.len());
                prop_assert!(running.len() <= usize::try_from(slots).unwrap());
                let used: u64 = running.iter().map(|(_, memory)| memory).sum();
                prop_assert!(used <= 100 || running.len() == 1);
                prop_assert!(running.iter().all(|(task, _)| queue.is_running(task) && !queue.is_waiting(task)));
            }
            while !model.is_empty() {
                for (task, _) in running.drain(..) {
                    queue.finish(&task);
                }
                let task = queue.start();
                prop_assert_eq!(task.as_ref(), model.front().map(|(task, _)| task));
                running.extend(model.pop_front());
            }
        }
    }
}
