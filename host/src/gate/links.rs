//! Step 9, when a server stops in the middle of a call and wants a person to open a link: the person is shown
//! where it leads and decides. Postern opens nothing itself, and the script learns nothing of the link.

use postern_check::evidence::Origin;
use postern_check::{Reason, Verdict};
use serde_json::{Map, Value};

use super::attempt::Attempt;
use super::{Call, Inner};
use crate::ToolError;
use crate::approval::{ApprovalRequest, Binding};
use crate::policy::ArgumentFact;
use crate::upstream::{LinksWanted, Transport};

impl Inner {
    /// Asks about each link.
    pub(super) async fn ask_about_links(
        &self,
        attempt: &mut Attempt<'_>,
        call: &Call,
        wanted: &LinksWanted,
    ) -> Result<(), ToolError> {
        for url in wanted.links.values() {
            self.ask_about_link(attempt, call, url).await?;
        }
        Ok(())
    }

    async fn ask_about_link(
        &self,
        attempt: &mut Attempt<'_>,
        call: &Call,
        url: &url::Url,
    ) -> Result<(), ToolError> {
        let tool = call.definition.id();
        let host = url.host_str().unwrap_or_default();
        let whose = match self.is_own_address(&call.definition.server, url) {
            true => "its own address",
            false => "not an address of its own",
        };
        let reason = Reason::new(
            "link-wanted",
            format!(
                "the server stops until a person has opened a link on {host}, which is {whose}; say yes only \
                 when you have opened it yourself and trust {host}"
            ),
        );
        attempt.verdict = attempt.verdict.max(Verdict::Ask);
        attempt.reasons.insert(0, reason.clone());

        let arguments: Map<String, Value> = Map::from_iter([
            ("host".to_owned(), Value::from(host)),
            ("url".to_owned(), Value::from(url.as_str())),
        ]);
        let time = self.parts.approval_time;
        let binding = Binding { arguments, ..self.binding(call, uuid::Uuid::new_v4().to_string(), time) };
        let seal = self.parts.sealer.seal(&binding);
        let origin = |name: &str, value: &str| ArgumentFact {
            path: format!("/{name}"),
            value: value.to_owned(),
            authority: true,
            origin: Origin::Prose,
            from: vec![tool.clone()],
        };
        let request = ApprovalRequest {
            origins: vec![origin("host", host), origin("url", url.as_str())],
            reasons: vec![reason],
            ..self.request(&binding, &seal)
        };
        let asking = tokio::time::timeout(time, self.parts.approver.decide(request));
        let (reply, waited) = self.off_the_clock(asking).await;
        attempt.waited(waited);
        let (decision, recorded) = super::approve::recorded(&binding, reply.ok());
        attempt.approvals.push(recorded);
        let because = "its server wants a person to open a link";
        super::approve::may_go_on(attempt, &tool, because, decision)?;
        super::approve::open(&self.parts.sealer, attempt, &tool, &seal, &binding)
    }

    /// Whether a link leads to where the server itself is reached.
    fn is_own_address(&self, server: &str, url: &url::Url) -> bool {
        let own = self.parts.upstreams.config(server).map(|config| &config.transport);
        matches!(own, Some(Transport::Http { url: own, .. }) if own.origin() == url.origin())
    }
}
