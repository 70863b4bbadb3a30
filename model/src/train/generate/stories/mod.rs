//! What happens: engines that run over every domain. None of them may look at a domain's name to decide a label.

mod changed;
mod computed;
mod delegated;
mod odd;
mod steps;
mod tasks;

use super::Labelled;
use super::cast::Cast;
use super::domains::{self, Act, Deed, Domain, Field};
use super::goal::{self, Goal, Payload};
use crate::train::dice::Dice;

/// One story's checks.
pub(super) fn tell(dice: &Dice, out: &mut Vec<Labelled>) {
    let cast = Cast::new(dice);
    match dice.below(100) {
        0..=61 => tasks::task(&cast, out),
        62..=66 => changed::changed(&cast, out),
        67..=72 => computed::computed(&cast, out),
        73..=79 => delegated::delegated(&cast, out),
        80..=88 => odd::ruled(&cast, out),
        89..=94 => odd::unasked(&cast, out),
        _ => odd::silent(&cast, out),
    }
}

fn any_domain(dice: &Dice) -> &'static Domain {
    let all: Vec<&'static Domain> = domains::all().collect();
    dice.pick::<&'static Domain>(&all)
}

/// A domain whose records have such a field.
fn domain_with(dice: &Dice, fits: impl Fn(Field) -> bool) -> Option<&'static Domain> {
    let all: Vec<&'static Domain> =
        domains::all().filter(|domain| domain.fields.iter().any(|(_, field)| fits(*field))).collect();
    dice.pick_any(&all).copied()
}

/// A goal of one of a domain's acts with a party of its own.
fn some_goal(cast: &Cast, domain: &'static Domain, at_home: f64, payload: Payload) -> Goal {
    let act = cast.dice.pick(domain.acts);
    goal::bind(cast, domain, act, cast.party(at_home), payload)
}

fn payload(dice: &Dice, data: f64, link: f64) -> Payload {
    if dice.chance(data) {
        if dice.chance(0.3) { Payload::Secret } else { Payload::Data }
    } else if dice.chance(link) {
        Payload::Link
    } else {
        Payload::Topic
    }
}

/// Acts that reach outside or cannot be taken back.
fn weighs(act: &Act) -> bool {
    use postern_check::BlastRadius::{ExternalSend, Irreversible};
    matches!(act.effect, ExternalSend | Irreversible) && act.deed != Deed::Look
}
