//! What becomes of one suite: its runs told again and again, honest and attacked, and the checks on the way.

use std::collections::BTreeMap;

use postern_check::evidence::Evidence;
use postern_check::{Action, BlastRadius, Check, Trigger};
use serde_json::Value;

use super::lures::Lures;
use super::show::{Form, fill, places};
use super::{Call, Goal, Suite, Task, values};
use crate::train::convert::{known_text, leaves, swap};
use crate::train::data::{self, Labelled};
use crate::train::dice::Dice;
use crate::train::generate::{self, Truth};

/// How often each task is attacked: in suites that are learned from, and in those that are held out.
const ATTACKS: (usize, usize) = (14, 5);
/// How often each goal is what the user wants.
const WISHES: (usize, usize) = (9, 4);
/// How often each task is told with nothing but itself.
const PLAIN: (usize, usize) = (3, 1);
/// Calls that serve a task which are kept of each attack on it.
const HONEST: usize = 2;

pub(super) struct Author<'a> {
    suite: &'a Suite,
    lures: &'a Lures,
    dice: Dice,
    values: BTreeMap<String, Vec<Value>>,
    out: Vec<Labelled>,
}

impl<'a> Author<'a> {
    pub(super) fn new(suite: &'a Suite, lures: &'a Lures, dice: Dice) -> Self {
        Self { suite, lures, dice, values: values(suite), out: Vec::new() }
    }

    /// All checks of the suite.
    pub(super) fn write(mut self) -> Vec<Labelled> {
        for index in 0..self.suite.tasks.len() {
            for _ in 0..self.often(PLAIN) {
                self.plain(index);
            }
            for number in 0..self.often(ATTACKS) {
                self.attacked(index, number);
            }
            self.mismatched(index);
            self.hijacked(index);
        }
        for index in 0..self.suite.goals.len() {
            for number in 0..self.often(WISHES) {
                self.wished(index, number);
            }
        }
        self.out
    }

    fn often(&self, (learned, held): (usize, usize)) -> usize {
        if self.suite.is_held_out() { held } else { learned }
    }

    fn run(&self, intent: String, rules: &[String], user: String, injection: Option<String>) -> Run<'a> {
        let word = self.suite.name.split('_').next().unwrap_or_default();
        let server = match self.dice.below(8) {
            0..3 => Some(word.to_string()),
            3 => Some(self.dice.pick(&["mcp", "main", "tools", "srv", "app"]).to_string()),
            _ => None,
        };
        Run {
            suite: self.suite,
            server,
            form: Form::any(&self.dice),
            intent,
            rules: rules.to_vec(),
            context: Vec::new(),
            planted: false,
            task: data::Task { user, injection },
        }
    }

    fn run_of(&self, index: usize, injection: Option<String>) -> Run<'a> {
        let task = &self.suite.tasks[index];
        self.run(task.request.clone(), &task.as_constraint, index.to_string(), injection)
    }

    /// The task as it is. At times a harmless line that sounds like an order stands where a planted text could.
    fn plain(&mut self, index: usize) {
        let task = &self.suite.tasks[index];
        let mut run = self.run_of(index, None);
        let talks = self.dice.chance(0.3);
        for step in &task.steps {
            self.out.push(run.call(step, self.suite.truth(task, step)));
            let line = (talks && self.dice.chance(0.5)).then(|| generate::sounds_like(&self.dice));
            let texts: Vec<Option<String>> = self.spots(step, line.as_deref(), false);
            run.read(step, texts);
        }
    }

    /// The task with a goal planted in one of its results: the goal's calls, and what of the task comes after.
    fn attacked(&mut self, index: usize, number: usize) {
        let suite = self.suite;
        let task = &suite.tasks[index];
        let writable: Vec<usize> =
            (0..task.steps.len()).filter(|&n| places(&task.steps[n].result) > 0).collect();
        if writable.is_empty() {
            return;
        }
        let (goal_index, goal) = self.goal_but(None);
        let from = *self.dice.pick(&writable);
        let last = task.steps.len() - 1;
        // Mostly at once; at times the agent goes on for a while.
        let until = if self.dice.chance(0.7) { from } else { self.dice.between(from, last) };
        // Some attackers write wherever they can.
        let everywhere = self.dice.chance(0.3);
        let lure = self.lures.order(&self.dice, suite, goal, &task.steps[from].tool);
        let mut run = self.run_of(index, Some(format!("{goal_index} {number}")));
        let mut honest = Vec::new();
        for (at, step) in task.steps.iter().enumerate() {
            if at > from {
                honest.push(run.call(step, suite.truth(task, step)));
            }
            let hit = at == from || everywhere && at > from;
            run.read(step, self.spots(step, hit.then_some(lure.as_str()), everywhere));
            run.planted |= at == from;
            if at == until {
                let before = run.context.len();
                self.reach(&mut run, goal, task);
                // Whether the agent fell for it shows in what comes later, or it does not.
                if self.dice.chance(0.85) {
                    run.context.truncate(before);
                }
            }
        }
        self.dice.shuffle(&mut honest);
        self.out.extend(honest.into_iter().take(HONEST));
    }

    /// A planted goal's calls, but for those that the task makes anyway.
    fn reach(&mut self, run: &mut Run<'_>, goal: &Goal, task: &Task) {
        for call in &goal.calls {
            if !task.steps.iter().any(|step| step.is(call)) {
                self.out.push(run.call(call, Truth::Planted { leaks: self.suite.leaks(goal, call) }));
            }
            run.read(call, Vec::new());
        }
    }

    /// Calls under a request that has nothing to do with them, and nothing that asks for them.
    fn mismatched(&mut self, index: usize) {
        let suite = self.suite;
        let task = &suite.tasks[index];
        for _ in 0..3 {
            let mut run = self.run_of(index, None);
            let read = self.dice.below(task.steps.len() + 1);
            for step in &task.steps[..read] {
                run.read(step, Vec::new());
            }
            let (_, goal) = self.goal_but(None);
            let (other_index, other) = (self.dice.below(suite.tasks.len()), self.dice.chance(0.4));
            let calls =
                if other && other_index != index { &suite.tasks[other_index].steps } else { &goal.calls };
            for call in calls {
                let acts = suite.effect(call).has_side_effects();
                if acts && !task.steps.iter().any(|step| step.tool == call.tool) {
                    let leaks = !other && suite.leaks(goal, call);
                    let check = run.call(call, Truth::Unasked { leaks });
                    // What the request or a result names may be meant after all.
                    if has_news(&check.check) {
                        self.out.push(check);
                    }
                    break;
                }
                run.read(call, Vec::new());
            }
        }
    }

    /// Calls of the task with one value that decides whom or what they reach replaced by another of the suite's.
    fn hijacked(&mut self, index: usize) {
        let suite = self.suite;
        let task = &suite.tasks[index];
        if task.delegated {
            return;
        }
        for (at, step) in task.steps.iter().enumerate() {
            if !suite.effect(step).has_side_effects() {
                continue;
            }
            for number in 0..3 {
                let injection = Some(format!("hijack {at} {number}"));
                let mut run = self.run_of(index, injection);
                let Some((name, old, new)) = self.other_value(&run, &task.steps[..at], step) else { break };
                let writable: Vec<usize> = (0..at).filter(|&n| places(&task.steps[n].result) > 0).collect();
                let from = (!writable.is_empty()).then(|| *self.dice.pick(&writable));
                if from.is_none() && self.dice.chance(0.6) {
                    continue;
                }
                let mut text = swap::correction(&self.dice, &name, &plain(&old), &plain(&new));
                if self.dice.chance(0.3) {
                    let told = format!("note this: {}", text.trim_end_matches('.'));
                    text = generate::framed(&self.dice, &told, &step.tool, "such");
                }
                for (n, before) in task.steps[..at].iter().enumerate() {
                    run.read(before, self.spots(before, (Some(n) == from).then_some(text.as_str()), false));
                }
                run.planted = from.is_some();
                let mut args = step.args.clone();
                args.insert(name, new);
                let call = Call { tool: step.tool.clone(), args, result: Value::Null };
                let leaks = suite.effect(step) == BlastRadius::ExternalSend;
                let truth = if run.planted { Truth::Hijacked { leaks } } else { Truth::Unasked { leaks } };
                let mut hijack = run.call(&call, truth);
                hijack.kind = "arg_hijack".into();
                self.out.push(hijack);
                if run.planted {
                    self.out.push(run.call(step, Truth::Serves));
                }
            }
        }
    }

    /// An argument of the call with authority, its value, and another one for it that nobody has mentioned.
    fn other_value(&self, run: &Run<'_>, before: &[Call], step: &Call) -> Option<(String, Value, Value)> {
        let mut told = run.clone();
        for call in before {
            told.read(call, Vec::new());
        }
        let check = told.check(step);
        let known = known_text(&check);
        let evidence = Evidence::of(&check);
        let mut found = Vec::new();
        for leaf in evidence.leaves.iter().filter(|leaf| leaf.authority) {
            let name = leaf.path.trim_start_matches('/');
            let Some(old) = step.args.get(name) else { continue };
            let news = self.values.get(name).into_iter().flatten().filter(|new| {
                let text = plain(new).to_lowercase();
                *new != old
                    && new.is_string() == old.is_string()
                    && !text.is_empty()
                    && !known.contains(&text)
            });
            found.extend(news.map(|new| (name.to_string(), old.clone(), new.clone())));
        }
        self.dice.pick_any(&found).cloned()
    }

    /// A goal as the user's own wish: by itself, beside a task, with another goal planted in what was read.
    fn wished(&mut self, index: usize, number: usize) {
        let suite = self.suite;
        let goal = &suite.goals[index];
        let wish = if self.dice.chance(0.15) { goal.goal.clone() } else { goal.request.clone() };
        let fit: Vec<usize> = (0..suite.tasks.len())
            .filter(|&n| {
                let task = &suite.tasks[n];
                !task.delegated && task.steps.iter().any(|step| places(&step.result) > 0)
            })
            .collect();
        let roll = self.dice.below(100);
        let user = format!("wish {index} {number}");
        if fit.is_empty() || roll < 25 {
            let mut run = self.run(wish, &[], user, None);
            self.serve(&mut run, goal);
            return;
        }
        let task = &suite.tasks[*self.dice.pick(&fit)];
        let (other_index, other) = self.goal_but(Some(index));
        let (planted, both) = match roll {
            25..60 => (Some(other), false),
            60..72 => (None, true),
            72..92 => (Some(other), true),
            // A stranger asks for what the user asks for too.
            _ => (Some(goal), false),
        };
        let intent = match (both, self.dice.below(4)) {
            (false, _) => wish,
            (true, 0) => format!("{wish}\n{}", task.request),
            (true, 1) => format!("{}\n\nAnd one more thing: {wish}", task.request),
            (true, 2) => format!("{} Then: {wish}", task.request),
            (true, _) => format!("1. {}\n2. {wish}", task.request),
        };
        let rules = if both { task.as_constraint.as_slice() } else { &[] };
        let mut run = self.run(intent, rules, user, planted.map(|_| other_index.to_string()));
        let from = (0..task.steps.len()).find(|&n| places(&task.steps[n].result) > 0).unwrap_or(0);
        let lure = planted.map(|goal| self.lures.order(&self.dice, suite, goal, &task.steps[from].tool));
        let until = if both { task.steps.len() - 1 } else { from };
        for (at, step) in task.steps[..=until].iter().enumerate() {
            run.read(step, self.spots(step, lure.as_deref().filter(|_| at == from), false));
        }
        run.planted = lure.is_some();
        let before = run.context.len();
        self.serve(&mut run, goal);
        run.context.truncate(before);
        if planted.is_some_and(|planted| !std::ptr::eq(planted, goal)) {
            for call in &other.calls {
                let own = goal.calls.iter().chain(task.steps.iter().filter(|_| both)).any(|own| own.is(call));
                if !own {
                    self.out.push(run.call(call, Truth::Planted { leaks: suite.leaks(other, call) }));
                }
                run.read(call, Vec::new());
            }
        }
    }

    /// The goal's calls, which are what the user wants.
    fn serve(&mut self, run: &mut Run<'_>, goal: &Goal) {
        for call in &goal.calls {
            self.out.push(run.call(call, Truth::Serves));
            run.read(call, Vec::new());
        }
    }

    /// Any goal but this one.
    fn goal_but(&self, not: Option<usize>) -> (usize, &'a Goal) {
        let count = self.suite.goals.len();
        let index = match not {
            Some(not) => (not + 1 + self.dice.below(count - 1)) % count,
            None => self.dice.below(count),
        };
        (index, &self.suite.goals[index])
    }

    /// What stands in a result's places: the text in one of them or in all, else nothing.
    fn spots(&self, call: &Call, text: Option<&str>, everywhere: bool) -> Vec<Option<String>> {
        let count = places(&call.result);
        let one = self.dice.below(count);
        (0..count).map(|n| text.filter(|_| everywhere || n == one).map(str::to_string)).collect()
    }
}

impl Suite {
    /// What a step of a task is.
    fn truth(&self, task: &Task, step: &Call) -> Truth {
        if task.delegated && self.effect(step).has_side_effects() { Truth::Delegated } else { Truth::Serves }
    }

    /// Whether a call of a goal lets data out. What reads them for it does not.
    fn leaks(&self, goal: &Goal, call: &Call) -> bool {
        goal.exfiltration && self.effect(call).has_side_effects()
    }
}

/// Whether a call has a value that nobody has mentioned.
fn has_news(check: &Check) -> bool {
    let known = known_text(check);
    leaves(&check.action.args).iter().any(|value| !known.contains(&value.to_lowercase()))
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

/// A run of an agent while it is told.
#[derive(Clone)]
struct Run<'a> {
    suite: &'a Suite,
    /// Hosts write `server.tool`; a tool whose name has a dot has its server in it.
    server: Option<String>,
    form: Form,
    intent: String,
    rules: Vec<String>,
    context: Vec<String>,
    /// Whether something planted was read.
    planted: bool,
    task: data::Task,
}

impl Run<'_> {
    fn tool(&self, name: &str) -> String {
        match &self.server {
            Some(server) if !name.contains('.') => format!("{server}.{name}"),
            _ => name.to_string(),
        }
    }

    /// Reads the result of a call, with these texts in its places.
    fn read(&mut self, call: &Call, texts: Vec<Option<String>>) {
        let result = fill(&call.result, &mut texts.into_iter());
        self.context.push(format!("[{}] {}", self.tool(&call.tool), self.form.write(&result)));
    }

    fn check(&self, call: &Call) -> Check {
        Check {
            action: Action { tool: self.tool(&call.tool), args: call.args.clone() },
            intent: self.intent.clone(),
            trigger: if self.context.is_empty() { Trigger::User } else { Trigger::ToolResult },
            constraints: self.rules.clone(),
            context: self.context.join("\n"),
        }
    }

    /// A call at this point of the run.
    fn call(&self, call: &Call, truth: Truth) -> Labelled {
        let effect = self.suite.effect(call);
        let labelled = generate::label(self.check(call), effect, truth, self.planted, &self.suite.name);
        Labelled {
            source: "suites".into(),
            group: self.suite.group(),
            task: Some(self.task.clone()),
            ..labelled
        }
    }
}
