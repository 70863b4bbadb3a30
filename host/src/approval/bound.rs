//! What an approval is for, and nothing else: one call with these arguments of this definition of the
//! tool, under this policy, in this run, for this principal, asked about once, until then, once.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Map, Value};
use sha2::Sha256;

use crate::Result;
use crate::canonical::canonical;
use crate::policy::Agent;
use crate::secret_file::random_key;

/// Everything that an approval is bound to. A change of any part is another call.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// The question: two calls that are the same in all else are two approvals.
    pub question: String,
    /// The run.
    pub run: String,
    /// On whose behalf.
    pub agent: Agent,
    /// `server/tool`.
    pub tool: String,
    /// Of the tool's definition.
    pub definition_sha256: String,
    /// SHA-256 of the policy.
    pub policy_version: String,
    /// As they would be sent.
    pub arguments: Map<String, Value>,
    /// Until when the answer counts, in seconds since 1970.
    pub expires: i64,
}

/// A binding's seal: HMAC-SHA-256 under a key that only this host has.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Seal([u8; 32]);

impl Seal {
    /// In hex: to name a question, to compare by eye.
    pub fn text(&self) -> String {
        crate::sandbox::hex(&self.0)
    }
}

impl std::fmt::Debug for Seal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Seal({})", &self.text()[..8])
    }
}

/// Why a seal opens nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsealed {
    /// What would be done is not what was approved.
    #[error("what would be done is not what was approved")]
    Changed,
    /// The answer came too late, or was used too late.
    #[error("the approval has expired")]
    Expired,
    /// It was used before.
    #[error("the approval was used before")]
    Used,
}

/// Makes seals and opens each once.
pub struct Sealer {
    key: [u8; 32],
    used: Mutex<HashSet<Seal>>,
}

impl Sealer {
    /// With a key that nobody else has and that ends with the process.
    ///
    /// # Errors
    /// If the system gives no random bytes.
    pub fn new() -> Result<Self> {
        Ok(Self { key: random_key()?, used: Mutex::default() })
    }

    /// The seal of a binding.
    pub fn seal(&self, binding: &Binding) -> Seal {
        Seal(self.mac(binding).finalize().into_bytes().into())
    }

    /// Opens a seal for what is about to be done at `now` (seconds since 1970). Each opens once.
    ///
    /// # Errors
    /// If it is another binding's, too late, or was opened before.
    pub fn open(&self, seal: &Seal, binding: &Binding, now: i64) -> Result<(), Unsealed> {
        self.mac(binding).verify_slice(&seal.0).map_err(|_| Unsealed::Changed)?;
        if now > binding.expires {
            return Err(Unsealed::Expired);
        }
        match self.used.lock().unwrap_or_else(PoisonError::into_inner).insert(seal.clone()) {
            true => Ok(()),
            false => Err(Unsealed::Used),
        }
    }

    fn mac(&self, binding: &Binding) -> Hmac<Sha256> {
        let Binding { question, run, agent, tool, definition_sha256, policy_version, arguments, expires } =
            binding;
        let arguments = canonical(&Value::Object(arguments.clone())).to_string();
        let expires = expires.to_string();
        let Agent { id, owner } = agent;
        mac(
            &self.key,
            &[question, run, id, owner, tool, definition_sha256, policy_version, &arguments, &expires],
        )
    }
}

/// The code of a list of texts under a key. Each goes in with its length: no two lists are the same bytes.
pub(super) fn mac(key: &[u8; 32], parts: &[&str]) -> Hmac<Sha256> {
    let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(key)
        .unwrap_or_else(|_| unreachable!("HMAC takes keys of every length"));
    for part in parts {
        mac.update(&(part.len() as u64).to_be_bytes());
        mac.update(part.as_bytes());
    }
    mac
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn binding(arguments: Value) -> Binding {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        Binding {
            question: "q".into(),
            run: "run".into(),
            agent: Agent::default(),
            tool: "bank/pay".into(),
            definition_sha256: "aa".into(),
            policy_version: "bb".into(),
            arguments,
            expires: 100,
        }
    }

    #[test]
    fn a_seal_opens_once_and_in_time() {
        let sealer = Sealer::new().unwrap();
        let call = binding(json!({"to": "a", "amount": 1}));
        let seal = sealer.seal(&call);
        assert_eq!(sealer.open(&seal, &call, 101), Err(Unsealed::Expired));
        let reordered = binding(json!({"amount": 1, "to": "a"}));
        assert_eq!(sealer.open(&seal, &reordered, 100), Ok(()));
        assert_eq!(sealer.open(&seal, &call, 100), Err(Unsealed::Used));
        assert_eq!(
            Sealer::new().unwrap().open(&seal, &call, 1),
            Err(Unsealed::Changed),
            "another host's key"
        );
    }
}
