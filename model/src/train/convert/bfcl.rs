//! The Berkeley Function Calling Leaderboard: its ground-truth calls are honest calls.
//!
//! In the single-turn sets an answer lists what each argument may be, and the first choice is taken. In the
//! multi-turn set the answers are Python calls. What they return is known only to BFCL's simulators, which
//! are not run: the context names the earlier calls and says that their results are not known.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::pycall::Call;
use super::{Emit, Honest, json_lines, tail};
use crate::Error;
use crate::render::effect_of_name;

/// Sets of one turn, with their groups.
const SINGLE: [(&str, &str); 8] = [
    ("simple_python", "bfcl/single"),
    ("multiple", "bfcl/single"),
    ("parallel", "bfcl/single"),
    ("parallel_multiple", "bfcl/single"),
    ("live_simple", "bfcl/live"),
    ("live_multiple", "bfcl/live"),
    ("live_parallel", "bfcl/live"),
    ("live_parallel_multiple", "bfcl/live"),
];
const MULTI: &str = "multi_turn_base";
/// The simulators' classes, with the files that describe their functions.
const CLASSES: [(&str, &str); 8] = [
    ("GorillaFileSystem", "gorilla_file_system"),
    ("MathAPI", "math_api"),
    ("MessageAPI", "message_api"),
    ("TicketAPI", "ticket_api"),
    ("TradingBot", "trading_bot"),
    ("TravelAPI", "travel_booking"),
    ("TwitterAPI", "posting_api"),
    ("VehicleControlAPI", "vehicle_control"),
];
/// Calls taken of one question: the further ones say the same again.
const MOST_CALLS: usize = 3;
/// Letters of a request.
const MOST_INTENT: usize = 2500;

#[derive(Deserialize)]
struct Question {
    id: String,
    /// By turn.
    question: Vec<Vec<Message>>,
    #[serde(default)]
    involved_classes: Vec<String>,
}

#[derive(Deserialize)]
struct Message {
    role: String,
    content: String,
}

#[derive(Deserialize)]
struct Answer<T> {
    id: String,
    ground_truth: Vec<T>,
}

/// Converts both kinds of sets; returns how many calls could not be read.
pub(super) fn convert(folder: &Path, emit: Emit) -> Result<usize, Error> {
    for (set, group) in SINGLE {
        let questions = questions(folder, set)?;
        json_lines(&answers(folder, set), |answer: Answer<BTreeMap<String, Map<String, Value>>>| {
            single(&questions, answer, group, emit)
        })?;
    }
    let (questions, functions) = (questions(folder, MULTI)?, functions(folder)?);
    let mut left_out = 0;
    json_lines(&answers(folder, MULTI), |answer: Answer<Vec<String>>| {
        left_out += multi(&questions, &functions, answer, emit)?;
        Ok(())
    })?;
    Ok(left_out)
}

fn answers(folder: &Path, set: &str) -> std::path::PathBuf {
    folder.join("possible_answer").join(format!("BFCL_v4_{set}.json"))
}

fn questions(folder: &Path, set: &str) -> Result<HashMap<String, Question>, Error> {
    let mut all = HashMap::new();
    json_lines(&folder.join(format!("BFCL_v4_{set}.json")), |question: Question| {
        all.insert(question.id.clone(), question);
        Ok(())
    })?;
    Ok(all)
}

fn find<'a>(questions: &'a HashMap<String, Question>, id: &str) -> Result<&'a Question, Error> {
    questions.get(id).ok_or_else(|| Error::Data(format!("no question has the id {id}")))
}

fn said(turn: &[Message], role: &str) -> Vec<String> {
    turn.iter()
        .filter(|message| message.role == role)
        .map(|message| message.content.trim().to_string())
        .collect()
}

fn single(
    questions: &HashMap<String, Question>,
    answer: Answer<BTreeMap<String, Map<String, Value>>>,
    group: &str,
    emit: Emit,
) -> Result<(), Error> {
    let question = find(questions, &answer.id)?;
    let turn: &[Message] = question.question.first().map_or(&[], Vec::as_slice);
    let calls = answer.ground_truth.into_iter().flatten().take(MOST_CALLS);
    for (tool, choices) in calls {
        let honest = Honest {
            source: "bfcl",
            group: group.into(),
            args: first_choices(choices),
            intent: tail(&said(turn, "user").join("\n"), MOST_INTENT).to_string(),
            rules: said(turn, "system").iter().map(|rule| rule.chars().take(300).collect()).collect(),
            context: Vec::new(),
            effect: effect_of_name(&tool),
            user_task: answer.id.clone(),
            tool,
        };
        emit(honest.label())?;
    }
    Ok(())
}

/// The first of the values that each argument may have. An empty text among others means: left out.
fn first_choices(choices: Map<String, Value>) -> Map<String, Value> {
    let chosen = choices.into_iter().filter_map(|(name, value)| {
        let value = match value {
            Value::Array(mut several) if !several.is_empty() => {
                let optional = several.len() > 1;
                let first = several.swap_remove(0);
                if optional && first == "" {
                    return None;
                }
                first
            }
            other => other,
        };
        Some((name, inner_choices(value)))
    });
    chosen.collect()
}

/// Objects inside a value list what their fields may be, too.
fn inner_choices(value: Value) -> Value {
    match value {
        Value::Object(fields) => Value::Object(first_choices(fields)),
        Value::Array(items) => Value::Array(items.into_iter().map(inner_choices).collect()),
        other => other,
    }
}

/// The parameters' names of every function, in order, by class.
type Functions = HashMap<&'static str, HashMap<String, Vec<String>>>;

fn functions(folder: &Path) -> Result<Functions, Error> {
    #[derive(Deserialize)]
    struct Function {
        name: String,
        parameters: Parameters,
    }
    #[derive(Deserialize)]
    struct Parameters {
        properties: Map<String, Value>,
    }
    let mut all = Functions::new();
    for (class, file) in CLASSES {
        let of_class = all.entry(class).or_default();
        json_lines(
            &folder.join("multi_turn_func_doc").join(format!("{file}.json")),
            |function: Function| {
                let names = function.parameters.properties.into_iter().map(|(name, _)| name).collect();
                of_class.insert(function.name, names);
                Ok(())
            },
        )?;
    }
    Ok(all)
}

/// Returns how many calls could not be read.
fn multi(
    questions: &HashMap<String, Question>,
    functions: &Functions,
    answer: Answer<Vec<String>>,
    emit: Emit,
) -> Result<usize, Error> {
    let question = find(questions, &answer.id)?;
    let (mut turns, mut context, mut left_out) = (Vec::new(), Vec::new(), 0);
    for (turn, calls) in question.question.iter().zip(&answer.ground_truth) {
        turns.extend(said(turn, "user"));
        for text in calls {
            let Some((tool, class, args)) = resolve(text, question, functions) else {
                left_out += 1;
                continue;
            };
            let line =
                format!("[{tool}] called with {}; its result is not known", Value::Object(args.clone()));
            let honest = Honest {
                source: "bfcl",
                group: format!("bfcl/mt/{class}"),
                args,
                intent: tail(&turns.join("\n"), MOST_INTENT).to_string(),
                rules: Vec::new(),
                context: context.clone(),
                effect: effect_of_name(&tool),
                user_task: answer.id.clone(),
                tool,
            };
            emit(honest.label())?;
            context.push(line);
        }
    }
    Ok(left_out)
}

/// The function, its class, and the arguments by name. `None` if the text is no call with literals of a
/// function that the question involves.
fn resolve(
    text: &str,
    question: &Question,
    functions: &Functions,
) -> Option<(String, String, Map<String, Value>)> {
    let call = Call::parse(text).ok()?;
    let (class, names) = question
        .involved_classes
        .iter()
        .find_map(|class| Some((class, functions.get(class.as_str())?.get(&call.name)?)))?;
    if call.positional.len() > names.len() {
        return None;
    }
    let mut args: Map<String, Value> = names.iter().cloned().zip(call.positional).collect();
    args.extend(call.named);
    Some((call.name, class.clone(), args))
}
