//! The life of one feature, step by step.

use features::Source;
use features::lifecycle::{
    Admission, Condition, ConditionType, Dangling, FeatureStatus, Inputs, OnDangling, Outcome,
    Plan, Progress, State, Step, Target, TaskOutcome, TaskState, name, step,
};

const STRIP: &str = "strip-field(apps/v1 statefulsets, spec.maxUnavailable)";

struct Story {
    plan: Plan,
    status: Option<FeatureStatus>,
    now: u64,
    known: bool,
    target: Option<bool>,
    immediate: bool,
    on_dangling: OnDangling,
    dependents: Vec<String>,
    conditions: Vec<Condition>,
}

impl Story {
    /// A feature that is on.
    fn on() -> Self {
        let mut story = Self {
            plan: Plan {
                ensure: vec!["ensure-crd(widgets)".to_owned()],
                cleanup: vec![STRIP.to_owned()],
            },
            status: None,
            now: 0,
            known: true,
            target: Some(true),
            immediate: false,
            on_dangling: OnDangling::Hold,
            dependents: Vec::new(),
            conditions: Vec::new(),
        };
        story.run_all();
        assert_eq!(story.state(), State::On);
        story
    }

    fn step(&mut self, outcome: Option<(&str, Outcome)>, scanned: Option<u64>) -> Step {
        let epoch = self.status.as_ref().map_or(0, |it| it.epoch);
        let outcome = outcome.map(|(task, outcome)| TaskOutcome {
            epoch,
            task: task.to_owned(),
            outcome,
        });
        self.step_with(outcome.as_ref(), scanned)
    }

    fn step_with(&mut self, outcome: Option<&TaskOutcome>, scanned: Option<u64>) -> Step {
        let inputs = Inputs {
            now: self.now,
            known: self.known,
            target: self.target.map(|enabled| Target {
                enabled,
                source: Source::Dynamic,
                immediate: self.immediate,
            }),
            on_dangling: self.on_dangling,
            unmet_dependencies: &[],
            active_dependents: &self.dependents,
            plan: &self.plan,
            outcome,
            scanned,
            adopts: false,
        };
        let next = step(self.status.as_ref(), &inputs).expect("the feature is announced");
        self.status = Some(next.status.clone());
        self.conditions.clone_from(&next.conditions);
        next
    }

    /// Runs tasks, all of which succeed, up to one of this name; tells which ran.
    fn run_until(&mut self, last: &str) -> Vec<String> {
        let mut ran = Vec::new();
        let mut next = self.step(None, None);
        while let Some(run) = next.run.filter(|it| it.name != last) {
            next = self.step(Some((&run.name, Outcome::Done)), None);
            ran.push(run.name);
        }
        ran
    }

    fn run_all(&mut self) -> Vec<String> {
        self.run_until("")
    }

    fn status(&self) -> &FeatureStatus {
        self.status.as_ref().expect("it was announced")
    }

    fn state(&self) -> State {
        self.status().state
    }

    fn condition(&self, kind: ConditionType) -> (Option<bool>, &str, &str) {
        let found = self.conditions.iter().find(|it| it.kind == kind);
        let found = found.expect("all conditions are there");
        (found.status, found.reason, &found.message)
    }
}

#[test]
fn off_closes_waits_cleans_and_verifies_in_this_order() {
    let mut story = Story::on();
    assert_eq!(story.status().admission, Admission::Open);
    story.target = Some(false);
    let ran = story.run_all();
    let order = [
        name::WAIT_DEPENDENTS,
        name::WAIT_SERVERS,
        name::WAIT_USES,
        STRIP,
        name::VERIFY_CLEAN,
    ];
    assert_eq!(ran, order);
    assert_eq!((story.state(), story.status().epoch), (State::Off, 3));
    assert_eq!(story.status().admission, Admission::Closed);
    assert_eq!(story.condition(ConditionType::Clean).0, Some(true));
    let history = story.status().history.iter();
    let states: Vec<State> = history.map(|it| it.to).collect();
    let order = [
        State::Off,
        State::TurningOn,
        State::On,
        State::TurningOff,
        State::Off,
    ];
    assert_eq!(states, order);
}

#[test]
fn a_flip_in_mid_cleaning_is_recorded_and_old_outcomes_do_not_count() {
    let mut story = Story::on();
    story.target = Some(false);
    story.run_until(STRIP);
    story.step(Some((STRIP, Outcome::Progress(Progress::default()))), None);
    let old = story.status().epoch;
    story.target = Some(true);
    let begun = story.step(None, None);
    assert_eq!(
        (story.state(), story.status().epoch),
        (State::TurningOn, old + 1)
    );
    assert!(
        story
            .status()
            .history
            .last()
            .is_some_and(|it| it.partial_cleanup)
    );
    let late = TaskOutcome {
        epoch: old,
        task: begun.run.expect("a task").name,
        outcome: Outcome::Done,
    };
    let before = story.status().clone();
    story.step_with(Some(&late), None);
    assert_eq!(*story.status(), before);
    story.run_all();
    assert_eq!(story.state(), State::On);
}

#[test]
fn uses_that_remain_hold_the_feature_unless_they_are_accepted() {
    let left = || Outcome::Blocked(vec!["default/web".to_owned()].into());
    let mut story = Story::on();
    story.target = Some(false);
    story.run_until(name::VERIFY_CLEAN);
    let held = story.step(Some((name::VERIFY_CLEAN, left())), None);
    assert_eq!(story.state(), State::TurningOff);
    assert_eq!(story.condition(ConditionType::Clean).0, Some(false));
    assert_eq!((held.run, held.retry_at), (None, Some(5)));
    story.now = 5;
    assert_eq!(story.run_until(name::VERIFY_CLEAN), [STRIP]);
    story.on_dangling = OnDangling::Accept;
    story.step(Some((name::VERIFY_CLEAN, left())), None);
    assert_eq!(
        (story.state(), story.status().dangling),
        (State::Off, Dangling::Found(1))
    );
    assert_eq!(story.condition(ConditionType::Clean).0, Some(false));
    story.step(None, Some(0));
    assert_eq!(story.condition(ConditionType::Clean).0, Some(true));
    story.step(None, Some(7));
    assert_eq!(
        story.condition(ConditionType::Clean),
        (Some(false), "UsesRemain", "7 uses")
    );
}

#[test]
fn nothing_moves_where_servers_disagree_or_do_not_know_the_feature() {
    let mut story = Story::on();
    story.target = Some(false);
    story.run_until(name::WAIT_USES);
    let before = story.status().clone();
    story.target = None;
    assert_eq!(story.step(None, None).run, None);
    assert_eq!(story.condition(ConditionType::Agreed).0, Some(false));
    (story.target, story.known) = (Some(true), false);
    assert_eq!(story.step(None, None).run, None);
    assert_eq!(story.condition(ConditionType::Known).0, Some(false));
    assert_eq!(*story.status(), before);
    (story.target, story.known) = (Some(false), true);
    story.run_all();
    assert_eq!(story.state(), State::Off);
    assert_eq!(step(None, &unknown()), None);
}

fn unknown() -> Inputs<'static> {
    static PLAN: Plan = Plan {
        ensure: Vec::new(),
        cleanup: Vec::new(),
    };
    Inputs {
        now: 0,
        known: false,
        target: None,
        on_dangling: OnDangling::Hold,
        unmet_dependencies: &[],
        active_dependents: &[],
        plan: &PLAN,
        outcome: None,
        scanned: None,
        adopts: false,
    }
}

#[test]
fn a_task_that_this_binary_does_not_know_is_left_to_another() {
    let mut story = Story::on();
    story.target = Some(false);
    story.run_until(STRIP);
    story.plan.cleanup.clear();
    let before = story.status().clone();
    assert_eq!(story.step(None, None).run, None);
    assert_eq!(story.condition(ConditionType::Blocked).1, "UnknownTask");
    assert_eq!(*story.status(), before);
}

#[test]
fn failures_are_retried_with_backoff_and_fatal_ones_are_not() {
    let mut story = Story::on();
    story.target = Some(false);
    story.run_until(STRIP);
    for delay in [1, 2, 4, 8] {
        let next = story.step(Some((STRIP, Outcome::Retry("etcd".to_owned()))), None);
        assert_eq!(next.retry_at, Some(story.now + delay));
        story.now += delay;
        assert!(story.step(None, None).run.is_some());
    }
    let next = story.step(
        Some((STRIP, Outcome::Fatal("no such field".to_owned()))),
        None,
    );
    assert_eq!((next.run, next.retry_at), (None, None));
    assert_eq!(
        story.status().current_task().map(|it| it.state),
        Some(TaskState::Failed)
    );
    assert_eq!(story.condition(ConditionType::Blocked).1, "TaskFailed");
}

#[test]
fn a_flapping_feature_dwells_but_the_kill_switch_counts_at_once() {
    let mut story = Story::on();
    for target in [false, true] {
        story.target = Some(target);
        story.run_all();
    }
    story.target = Some(false);
    let next = story.step(None, None);
    assert_eq!((story.state(), next.retry_at), (State::On, Some(60)));
    assert_eq!(story.condition(ConditionType::Flapping).0, Some(true));
    story.immediate = true;
    story.step(None, None);
    assert_eq!(story.state(), State::TurningOff);
    story.run_all();
    (story.target, story.immediate) = (Some(true), false);
    assert_eq!(story.step(None, None).retry_at, Some(120));
    story.now = 120;
    story.run_all();
    assert_eq!(story.state(), State::On);
}

#[test]
fn a_feature_stays_on_while_another_needs_it() {
    let mut story = Story::on();
    story.target = Some(false);
    story.dependents = vec!["Dependent".to_owned()];
    story.step(None, None);
    assert_eq!(story.state(), State::On);
    let blocked = story.condition(ConditionType::Blocked);
    assert_eq!(blocked, (Some(true), "DependentsOn", "Dependent"));
    story.dependents.clear();
    story.run_all();
    assert_eq!(story.state(), State::Off);
}
