//! The client's end of the protocol: what Postern tells a server about itself, what it answers to a
//! server's own requests (no), and one request with its cancellation.

// Sampling and roots are deprecated in the protocol; declining them is not.
#![allow(deprecated)]

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientCapabilities, ClientConfig, ClientNotification,
    ClientRequest, CreateMessageRequestMethod, CreateMessageRequestParams, CreateMessageResult,
    ElicitRequestParams, ElicitResult, ElicitationAction, Implementation, RequestId, RequestMetaObject,
    ServerResult,
};
use rmcp::service::{NotificationContext, PeerRequestOptions, RequestContext};
use rmcp::{ClientHandler, ErrorData, Peer, RoleClient, ServiceError};

/// What happens on a connection beside calls.
#[derive(Default)]
pub(super) struct Events {
    /// The server says that its tools are no longer what it listed.
    pub(super) tools_changed: AtomicBool,
    /// What the server asked for and did not get, by kind, counted.
    declined: Mutex<Vec<&'static str>>,
}

impl Events {
    /// How many requests of the server have been declined so far.
    pub(super) fn declined(&self) -> usize {
        self.declined.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// What was declined after the first `seen`, for a message.
    pub(super) fn declined_since(&self, seen: usize) -> Option<String> {
        let declined = self.declined.lock().unwrap_or_else(PoisonError::into_inner);
        let mut kinds: Vec<&str> = declined.get(seen..)?.to_vec();
        kinds.sort_unstable();
        kinds.dedup();
        (!kinds.is_empty()).then(|| kinds.join(", "))
    }

    fn decline(&self, what: &'static str) {
        let mut declined = self.declined.lock().unwrap_or_else(PoisonError::into_inner);
        // A server that asks without end must not fill the memory.
        if declined.len() < 10_000 {
            declined.push(what);
        }
    }
}

/// Answers a server. No capability is offered, so a server that keeps to the protocol asks nothing.
pub(super) struct Handler(pub(super) Arc<Events>);

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let name = Implementation::new("postern", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), name)
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        self.0.decline("sampling/createMessage");
        Err(ErrorData::method_not_found::<CreateMessageRequestMethod>())
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.0.decline("elicitation/create");
        Ok(ElicitResult::new(ElicitationAction::Decline))
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.tools_changed.store(true, Ordering::Release);
    }
}

/// Sends a request and waits for its result. When the returned future is dropped, the server is told
/// that nobody waits any more; it lives on.
pub(super) async fn request(
    peer: &Peer<RoleClient>,
    request: ClientRequest,
    meta: Option<RequestMetaObject>,
) -> Result<ServerResult, ServiceError> {
    let mut options = PeerRequestOptions::no_options();
    options.meta = meta;
    let handle = peer.send_cancellable_request(request, options).await?;
    let mut abandoned = CancelOnDrop { peer, id: Some(handle.id.clone()) };
    let result = handle.await_response().await;
    abandoned.id = None;
    result
}

struct CancelOnDrop<'a> {
    peer: &'a Peer<RoleClient>,
    id: Option<RequestId>,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        // Outside a runtime there is no connection left to say it on.
        let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current()) else { return };
        let peer = self.peer.clone();
        runtime.spawn(async move {
            let params =
                CancelledNotificationParam::new(Some(id), Some("the caller does not wait any more".into()));
            let notification = ClientNotification::CancelledNotification(CancelledNotification::new(params));
            // A connection that has just closed needs no telling.
            let _ = peer.send_notification(notification).await;
        });
    }
}
