//! The `catalog` interface: which tools there are, for scripts. Only tools that are granted show.

use serde_json::{Value, json};

use super::{GateParts, resolve};
use crate::sandbox::Answer;
use crate::upstream::ToolDefinition;

/// The most tools that one search gives.
const MOST: u32 = 200;

pub(super) async fn search(parts: &GateParts, query: &str, limit: u32) -> Answer {
    let catalog = parts.upstreams.catalog_of(|server| parts.grants.any_of(server)).await;
    let granted = catalog.tools.iter().filter(|tool| parts.grants.allow(&tool.server, &tool.name));
    let found = rank(granted.map(|tool| &**tool), query);
    let shown = found.into_iter().take(limit.min(MOST) as usize).map(summary).collect();
    Ok(Value::Array(shown).to_string())
}

pub(super) async fn describe(parts: &GateParts, tool: &str) -> Answer {
    let (server, name) = resolve::parse(tool, &parts.upstreams)?;
    parts.grants.check(server, name)?;
    let tool = parts.upstreams.tool(server, name).await?;
    Ok(definition(&tool).to_string())
}

/// Tools that have every word of the query somewhere, best first: a hit in the name counts most.
/// An empty query gives all.
pub(crate) fn rank<'a>(
    tools: impl Iterator<Item = &'a ToolDefinition>,
    query: &str,
) -> Vec<&'a ToolDefinition> {
    let words: Vec<String> = query.to_lowercase().split_whitespace().map(str::to_owned).collect();
    let mut found: Vec<(u32, &ToolDefinition)> = tools
        .filter_map(|tool| {
            let name = tool.id().to_lowercase();
            let title = tool.title.as_deref().unwrap_or_default().to_lowercase();
            let description = tool.description.as_deref().unwrap_or_default().to_lowercase();
            let score = |word: &String| match word {
                word if name.contains(word) => Some(4),
                word if title.contains(word) => Some(2),
                word if description.contains(word) => Some(1),
                _ => None,
            };
            words.iter().map(score).sum::<Option<u32>>().map(|score| (score, tool))
        })
        .collect();
    found.sort_by(|(a, x), (b, y)| b.cmp(a).then_with(|| x.id().cmp(&y.id())));
    found.into_iter().map(|(_, tool)| tool).collect()
}

fn summary(tool: &ToolDefinition) -> Value {
    let mut summary = json!({ "name": tool.id() });
    set(&mut summary, "title", tool.title.as_deref().map(Value::from));
    set(&mut summary, "description", tool.description.as_deref().map(Value::from));
    summary
}

/// A tool's definition as scripts, `postern tools show` and embedders see it.
pub(crate) fn definition(tool: &ToolDefinition) -> Value {
    let mut definition = summary(tool);
    definition["inputSchema"] = tool.input_schema.clone();
    set(&mut definition, "outputSchema", tool.output_schema.clone());
    let annotations = serde_json::to_value(&tool.annotations).ok();
    set(&mut definition, "annotations", annotations.filter(|a| a.as_object().is_some_and(|a| !a.is_empty())));
    definition
}

fn set(object: &mut Value, key: &str, value: Option<Value>) {
    if let Some(value) = value {
        object[key] = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hit_in_the_name_comes_first() {
        let tool =
            |name: &str, about: &str| ToolDefinition::new("mail", name, json!({})).with_description(about);
        let tools =
            [tool("archive", "after you send it"), tool("send", "a message"), tool("list", "messages")];
        let names =
            |query: &str| rank(tools.iter(), query).into_iter().map(|t| t.name.as_str()).collect::<Vec<_>>();
        assert_eq!(names("send"), ["send", "archive"]);
        assert_eq!(names("Send MESSAGE"), ["send"]);
        assert_eq!(names(""), ["archive", "list", "send"]);
        assert!(names("nothing").is_empty());
    }
}
