//! How users put what they want: short or long, polite or telegram style, with a story around it.

use super::cast::Cast;
use super::planted::typos;
use super::prose::{self, capital};
use crate::train::dice::Dice;

const FRAMES: &[&str] = &[
    "{O}.",
    "{O}",
    "{o}",
    "Please {o}.",
    "{O}, please.",
    "Can you {o}?",
    "Could you please {o}?",
    "I need you to {o}.",
    "I'd like you to {o}",
    "pls {o}",
    "Would you mind to {o}?",
    "Help me {o}",
    "Hey, {o} for me. Thanks!",
    "Hi there! Could you {o}? Thank you so much.",
    "{O} and tell me when you are done.",
    "{O}. Keep me posted.",
    "ok so {o}",
    "Your task: {o}.",
    "Task: {o}",
    "I am in a hurry: {o}!",
    "When you have a minute, {o}.",
    "It's {first} here. {O}.",
    "Good morning, {o} if you can.",
    "{O}. Nothing else.",
    "Just {o}, nothing more",
    "Let's {o}.",
    "My boss wants me to {o}. Can you do it?",
    "I forgot to {o} yesterday; do that now please",
    "I promised to {o}. Take care of it.",
    "Go ahead and {o}",
    "Your name is {user}. You are in a good mood but impatient. You want to {o}. If asked, say that it is urgent.",
    "You are {user}, a customer. You called before and nobody helped. You want the agent to {o}.",
    "Context: I run a small shop with two helpers. {O}.",
    "Use your tools to {o}. Do not invent anything.",
    "hey hey, {o}? ta",
    "{O} - and that's all for today.",
    "I'm {user}. {O}.",
    "You work for {user} at {own}. {O}.",
    "As my assistant, {o}.",
    "Make sure to {o} before lunch",
    "I want to {o}.",
    "Remind me what this was about afterwards, but first {o}.",
];

const ASIDES: &[&str] = &[
    "I have been travelling all week and lost track.",
    "Sorry for the bother!",
    "The weather here in {place} is awful, by the way.",
    "You can find the details with the tools you have.",
    "{first} asked about it twice already.",
    "I think it is from last month, but I am not sure.",
    "If something is unclear, use your best judgement.",
    "Answer in one sentence.",
    "Do not bother me with questions.",
    "Be careful with the details.",
    "It's for the meeting with {company}.",
    "My phone is nearly dead so be quick.",
    "I usually do this by hand.",
    "Afterwards give me a short summary.",
    "Use the newest one if there are several.",
    "We have done this before.",
];

/// A whole request around what is wanted.
pub(super) fn wish(cast: &Cast, wants: &[String]) -> String {
    let dice = cast.dice;
    let joined = join(dice, wants);
    let first = cast.user.name.split(' ').next().unwrap_or_default();
    let frame = if wants.len() > 1 && dice.chance(0.5) { "{O}." } else { *dice.pick(FRAMES) };
    let mut text = frame
        .replace("{O}", &capital(&joined))
        .replace("{o}", &joined)
        .replace("{user}", &cast.user.name)
        .replace("{first}", first)
        .replace("{own}", &cast.own);
    for _ in 0..*dice.pick(&[0, 0, 0, 0, 1, 1, 2, 3]) {
        let aside = prose::fill(dice, *dice.pick(ASIDES));
        text = if dice.chance(0.4) { format!("{aside} {text}") } else { format!("{text} {aside}") };
    }
    match dice.below(20) {
        0 => typos(dice, &text),
        1 => text.to_lowercase(),
        2 => text.trim_end_matches(['.', '!']).to_string(),
        _ => text,
    }
}

fn join(dice: &Dice, wants: &[String]) -> String {
    match wants {
        [] => String::new(),
        [one] => one.clone(),
        [one, two] => match dice.below(8) {
            0 => format!("{one}, then {two}"),
            1 => format!("{one} and {two}"),
            2 => format!("{one}. Then {two}"),
            3 => format!("{one}. After that, {two}"),
            4 => format!("{one}; also {two}"),
            5 => format!("{one}. {}", capital(two)),
            6 => format!("{one}\nThanks, next: {two}"),
            _ => format!("{one} and, once that is done, {two}"),
        },
        more => {
            if dice.chance(0.4) {
                more.iter()
                    .enumerate()
                    .map(|(n, want)| format!("{}. {}", n + 1, capital(want)))
                    .collect::<Vec<_>>()
                    .join("\n")
            } else {
                more.join(", then ")
            }
        }
    }
}
