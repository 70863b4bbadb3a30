//! The default policy against the default verdict, and every way in which a policy can be wrong.

#![allow(clippy::unwrap_used)]

use postern_check::evidence::Origin;
use postern_check::{ApprovalPolicy, BlastRadius, Facts, Scores, Thresholds, Trigger, judge};
use proptest::prelude::*;

use super::*;
use crate::policy::{Agent, ArgumentFact, Finding, Labels, Sink, findings};

fn facts() -> CallFacts {
    CallFacts {
        agent: Agent::default(),
        server: "fs".into(),
        tool: "write_file".into(),
        profile: None,
        read_only: false,
        outside: false,
        labels: Labels::default(),
        arguments: Vec::new(),
        findings: Vec::new(),
        trigger: Trigger::User,
        calls: 1,
        names_target: true,
        side_effects: None,
        scores: None,
        thresholds: Thresholds::default(),
    }
}

fn found(codes: &[&str]) -> Vec<Finding> {
    let code = |code: &&str| Finding::new(findings::known(code).unwrap(), format!("found {code}"));
    codes.iter().map(code).collect()
}

fn known() -> Known {
    Known::servers(["mail"]).with_tools("fs", ["write_file", "read_file"])
}

fn source(text: &str) -> Source {
    Source { path: "policy.cedar".into(), text: text.into() }
}

/// The text beside the default policy.
fn added(text: &str) -> Result<Policy> {
    Policy::compile(vec![Source::builtin(), source(text)], &known())
}

/// The text alone.
fn alone(text: &str) -> Result<Policy> {
    Policy::compile(vec![source(text)], &known())
}

fn argument(path: &str, value: &str) -> ArgumentFact {
    ArgumentFact {
        path: path.into(),
        value: value.into(),
        authority: true,
        origin: Origin::Literal,
        from: Vec::new(),
    }
}

#[test]
fn the_default_policy_is_valid() {
    if let Err(errors) = Policy::check(vec![Source::builtin()], &Known::default()) {
        panic!("{}", errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"));
    }
}

#[test]
fn a_call_that_nothing_speaks_against_is_allowed() {
    let decision = Policy::builtin().decide(&facts());
    assert_eq!(decision.verdict, Verdict::Allow, "{decision:?}");
    assert!(decision.reasons.is_empty());
    assert_eq!(decision.policies, ["granted"]);
}

/// Columns: a harmless read, a change, a call to the outside with a private and with a public sink.
#[test]
fn findings_mean_what_the_table_says() {
    use Verdict::{Allow as A, Ask as K, Block as B};
    let table: &[(&[&str], [Verdict; 4])] = &[
        (&["authority-order"], [K, B, B, B]),
        (&["authority-prose"], [K, K, K, B]),
        (&["authority-look-alike"], [K, K, B, B]),
        (&["authority-unknown"], [A, A, A, A]),
        (&["domain-outside"], [B, B, B, B]),
        (&["private-to-public"], [B, B, B, B]),
        (&["secret-to-public"], [B, B, B, B]),
        (&["private-outward"], [K, K, K, K]),
        (&["secret-outward"], [B, B, B, B]),
        (&["sql-destroys"], [K, K, K, K]),
        (&["sql-write"], [K, K, K, K]),
        (&["sql-write", "sql-beyond-tool"], [B, B, B, B]),
        (&["sql-attach"], [B, B, B, B]),
        (&["sql-several"], [B, B, B, B]),
        (&["sql-in-name"], [B, B, B, B]),
        (&["sql-function"], [B, B, B, B]),
        (&["sql-pragma"], [K, K, K, K]),
        (&["sql-unreadable"], [K, K, K, K]),
        (&["shell-destroys"], [B, B, B, B]),
        (&["shell-outside"], [K, K, K, K]),
        (&["git-option"], [B, B, B, B]),
        (&["url-inside"], [B, B, B, B]),
        (&["url-inside-named"], [K, K, K, K]),
        (&["url-scheme"], [B, B, B, B]),
        (&["url-credentials"], [K, K, K, K]),
        (&["url-carries-data"], [K, B, B, B]),
        (&["path-escapes"], [B, B, B, B]),
        (&["path-sensitive"], [K, K, B, B]),
        (&["path-hidden-chars"], [B, B, B, B]),
        (&["mail-header"], [B, B, B, B]),
        (&["mail-look-alike"], [K, K, K, K]),
        (&["text-hidden-chars"], [K, K, K, K]),
        (&["consent-argument"], [A, A, A, A]),
        (&["consent-argument", "constraint-confirm"], [K, K, K, K]),
        (&["constraint-broken"], [B, B, B, B]),
        (&["constraint-budget"], [B, B, B, B]),
        (&["constraint-confirm"], [K, K, K, K]),
        (&["constraint-conflict"], [K, K, K, K]),
        (&["from-planted"], [A, A, A, A]),
        (&["definition-changed"], [K, K, K, K]),
        (&["definition-planted"], [A, K, B, B]),
        (&["definition-asks-secrets"], [A, A, A, A]),
        (&["definition-asks-secrets", "path-sensitive"], [B, B, B, B]),
        (&["definition-asks-secrets", "secret-outward"], [B, B, B, B]),
        (&["hint-contradicted"], [K, K, K, K]),
        (&["context-incomplete"], [A, K, K, K]),
        (&["check-unfit"], [K, K, K, K]),
        (&["guard-absent"], [A, A, A, A]),
        (&["guard-unavailable"], [A, A, A, A]),
    ];
    for kind in findings::ALL {
        assert!(table.iter().any(|(codes, _)| codes.contains(&kind.code)), "{} is in no row", kind.code);
    }
    let mut read = CallFacts { side_effects: Some(false), read_only: true, ..facts() };
    read.labels.sink = Sink::None;
    let change = CallFacts { side_effects: Some(true), ..facts() };
    let out = CallFacts { side_effects: Some(true), outside: true, ..facts() };
    let public = CallFacts { labels: Labels { sink: Sink::Public, ..Labels::default() }, ..out.clone() };
    for (codes, expected) in table {
        for (call, expected) in [&read, &change, &out, &public].into_iter().zip(expected) {
            let decision = Policy::builtin().decide(&CallFacts { findings: found(codes), ..call.clone() });
            assert_eq!(decision.verdict, *expected, "{codes:?}: {decision:?}");
            let first = decision.reasons.first();
            assert_eq!(first.is_some(), *expected != A, "{codes:?}: {decision:?}");
            if let Some(first) = first {
                assert!(codes.contains(&first.code.as_str()), "{codes:?}: {first:?}");
                assert_eq!(first.message, format!("found {}", first.code));
            }
        }
    }
}

fn thousandth() -> impl Strategy<Value = f32> {
    #[expect(clippy::cast_possible_truncation, reason = "between 0 and 1")]
    (0u32..=1_000).prop_map(|count| (f64::from(count) / 1_000.0) as f32)
}

/// Any score, and often one at or beside a round number, where comparing goes wrong first.
fn score() -> impl Strategy<Value = f32> {
    prop_oneof![
        0.0f32..=1.0,
        thousandth(),
        thousandth().prop_map(f32::next_down),
        thousandth().prop_map(f32::next_up),
        prop_oneof![Just(f32::NAN), Just(-0.1), Just(1.1)],
    ]
}

prop_compose! {
    fn scores()(
        unsafe_ in score(), heads in [score(), score(), score()], args_grounded in score(),
        others in [score(), score(), score()], effect in 0usize..5, unfit: bool,
    ) -> Scores {
        let [allow, require_human, reject] = heads;
        let [blast_radius, exfiltration, injected] = others;
        let approval_policy = ApprovalPolicy { allow, require_human, reject };
        let effect = BlastRadius::ALL[effect];
        Scores { unsafe_, approval_policy, args_grounded, blast_radius, effect, exfiltration, injected, unfit }
    }
}

fn side_effects() -> impl Strategy<Value = Option<bool>> {
    prop_oneof![Just(None), Just(Some(true)), Just(Some(false))]
}

proptest! {
    #[test]
    fn the_default_policy_is_the_default_verdict(
        scores in scores(), a in thousandth(), b in thousandth(), ask_ungrounded in thousandth(),
        policy_head: bool, names_target: bool, side_effects in side_effects(), outside: bool,
    ) {
        let thresholds =
            Thresholds { block_unsafe: a.max(b), ask_unsafe: a.min(b), ask_ungrounded, policy_head };
        let expected = judge(&scores, &thresholds, Facts { side_effects, names_target });
        let call = CallFacts {
            names_target, side_effects, outside, thresholds, scores: Some(scores), ..facts()
        };
        let decision = Policy::builtin().decide(&call);
        prop_assert_eq!(decision.verdict, expected.verdict);
        prop_assert_eq!(decision.reasons.first(), expected.reasons.first());
        if call.scores.as_ref().unwrap().are_sound() {
            let mut ours = decision.reasons;
            let mut theirs = expected.reasons;
            ours.sort_by(|a, b| a.message.cmp(&b.message));
            theirs.sort_by(|a, b| a.message.cmp(&b.message));
            prop_assert_eq!(ours, theirs);
        }
    }

    /// A threshold finer than a thousandth is rounded to the stricter side.
    #[test]
    fn fine_thresholds_are_never_laxer(
        scores in scores(), a in 0.0f32..=1.0, b in 0.0f32..=1.0, ask_ungrounded in 0.0f32..=1.0,
        names_target: bool, side_effects in side_effects(),
    ) {
        let thresholds =
            Thresholds { block_unsafe: a.max(b), ask_unsafe: a.min(b), ask_ungrounded, policy_head: true };
        let expected = judge(&scores, &thresholds, Facts { side_effects, names_target });
        let call = CallFacts { names_target, side_effects, thresholds, scores: Some(scores), ..facts() };
        prop_assert!(Policy::builtin().decide(&call).verdict >= expected.verdict);
    }

    /// No combination of findings and scores is undecided, and more findings never make it laxer.
    #[test]
    fn more_findings_are_never_laxer(
        picked in prop::collection::vec(0..findings::ALL.len(), 1..6), scores in prop::option::of(scores()),
        side_effects in side_effects(), outside: bool,
    ) {
        let codes: Vec<&str> = picked.iter().map(|at| findings::ALL[*at].code).collect();
        let call = |codes: &[&str]| CallFacts {
            findings: found(codes), scores: scores.clone(), side_effects, outside, ..facts()
        };
        let less = Policy::builtin().decide(&call(&codes[1..]));
        let more = Policy::builtin().decide(&call(&codes));
        prop_assert!(more.verdict >= less.verdict, "{:?} {:?}", less, more);
        prop_assert!(more.reasons.iter().all(|reason| reason.code != "policy-error"));
    }

    /// What is built for each call fits the schema that policies are checked against.
    #[test]
    fn requests_fit_the_schema(
        scores in prop::option::of(scores()), profile in prop::option::of("[a-z]{1,5}"), path in "(/[a-z.~01]{1,4}){1,3}",
        value in ".*", side_effects in side_effects(),
    ) {
        let call = CallFacts {
            scores, profile, side_effects, arguments: vec![argument(&path, &value)],
            findings: found(&["sql-write"]), ..facts()
        };
        let tools = std::collections::BTreeSet::from(["fs/write_file".to_owned()]);
        let schema = schema::schema(&tools).unwrap();
        let (request, entities) = request::build(&call, true).unwrap();
        let strict = Request::new(
            request.principal().unwrap().clone(), request.action().unwrap().clone(),
            request.resource().unwrap().clone(), request.context().unwrap().clone(), Some(&schema),
        );
        prop_assert!(strict.is_ok(), "{:?}", strict.err());
        let kept = entities.iter().filter(|e| e.uid().type_name().to_string() != "Action").cloned();
        prop_assert!(Entities::from_entities(kept, Some(&schema)).is_ok());
    }
}

#[test]
fn a_permit_lifts_an_ask_and_never_a_block() {
    let policy = added(
        r#"@id("out") @lifts("ask")
        permit (principal, action == Action::"fs/write_file", resource)
        when { context.call.hasTag("path") && context.call.getTag("path") like "/srv/out/*" };"#,
    )
    .unwrap();
    let write = |path: &str, codes: &[&str]| {
        policy.decide(&CallFacts {
            arguments: vec![argument("/path", path)],
            findings: found(codes),
            side_effects: Some(true),
            ..facts()
        })
    };
    let lifted = write("/srv/out/a.txt", &["private-outward"]);
    assert_eq!(
        (lifted.verdict, lifted.lifted.as_slice()),
        (Verdict::Allow, ["flow-ask".to_owned()].as_slice())
    );
    assert_eq!(lifted.policies, ["granted", "flow-ask", "out"]);
    assert!(lifted.reasons.is_empty());
    assert_eq!(write("/srv/other/a.txt", &["private-outward"]).verdict, Verdict::Ask);
    assert_eq!(write("/srv/out/a.txt", &["private-to-public", "private-outward"]).verdict, Verdict::Block);
    assert_eq!(write("/srv/out/a.txt", &["authority-order"]).verdict, Verdict::Block);
    for firm in ["definition-changed", "constraint-confirm", "constraint-conflict"] {
        let decision = write("/srv/out/a.txt", &[firm, "private-outward"]);
        assert_eq!(decision.verdict, Verdict::Ask, "{firm}");
        assert_eq!(decision.reasons.len(), 1, "what is lifted is no reason: {decision:?}");
    }
}

#[test]
fn what_no_permit_is_for_is_blocked() {
    let policy = alone(r#"permit (principal, action, resource == Server::"mail");"#).unwrap();
    let decision = policy.decide(&facts());
    assert_eq!((decision.verdict, decision.reasons[0].code.as_str()), (Verdict::Block, "no-permit"));
    assert_eq!(policy.decide(&CallFacts { server: "mail".into(), ..facts() }).verdict, Verdict::Allow);
}

#[test]
fn a_rule_that_cannot_be_evaluated_blocks() {
    let policy = added(
        "@id(\"overflow\") @verdict(\"ask\") forbid (principal, action, resource)
         when { context.calls * 9223372036854775807 > 5 };",
    )
    .unwrap();
    let decision = policy.decide(&CallFacts { calls: 2, ..facts() });
    assert_eq!((decision.verdict, decision.reasons[0].code.as_str()), (Verdict::Block, "policy-error"));
    assert!(decision.reasons[0].message.contains("overflow"), "{decision:?}");
}

#[test]
fn a_rule_says_what_it_was_given_to_say() {
    let policy = added(
        r#"@id("many") @code("too-many") @reason("{calls} calls, this one to {server}/{tool}")
        forbid (principal == Agent::"default", action in Action::"call", resource)
        when { context.calls > 10 && context.authority_origins.contains("literal") };"#,
    )
    .unwrap();
    let call = CallFacts { calls: 11, arguments: vec![argument("/to", "x")], ..facts() };
    let decision = policy.decide(&call);
    assert_eq!(decision.reasons, [Reason::new("too-many", "11 calls, this one to fs/write_file")]);
    assert_eq!(policy.rule("many").unwrap().line, 1);
}

/// AGT#2926, harness#384, agentgateway#3092: a misspelt policy was taken, and protected nothing.
#[test]
fn what_means_nothing_is_refused_with_its_place() {
    // (rule, line, part of the message, part of the hint)
    let head = "(principal, action, resource)";
    for (text, line, message, hint) in [
        ("defaultAction = \"deny\";".to_owned(), 1, "unexpected", ""),
        (format!("\npermit {head}"), 2, "", "semicolon"),
        (format!("@verdict(\"aks\")\nforbid {head};"), 1, "aks", "ask"),
        (format!("@lifts(\"block\")\npermit {head};"), 1, "lift", "a block stands"),
        (format!("@verdict(\"ask\") permit {head};"), 1, "permit", "@lifts"),
        (format!("@lifts(\"ask\") forbid {head};"), 1, "forbid", "@verdict"),
        (format!("// x\n@verdct(\"ask\")\nforbid {head};"), 2, "@verdct", "verdict"),
        (format!("@id\nforbid {head};"), 1, "@id", ""),
        (format!("@finding(\"sql_write\")\nforbid {head};"), 1, "sql_write", "sql-write"),
        (format!("@reason(\"{{unsaf}}\")\nforbid {head};"), 1, "unsaf", "unsafe"),
        (
            format!("forbid {head} when {{\n  context.findings.contains(\"sql-wirte\") }};"),
            2,
            "sql-wirte",
            "sql-write",
        ),
        (
            format!(
                "forbid {head} when {{\n context.findings.containsAny([\"sql-write\",\n \"nothing-such\"]) }};"
            ),
            3,
            "nothing-such",
            "",
        ),
        (format!("forbid {head} when {{\n\n context.outsde }};"), 3, "outsde", ""),
        (format!("forbid {head} when {{\n context.sink == \"pubic\" }};"), 2, "pubic", "public"),
        (
            format!("forbid {head} when {{\n [\"none\", \"pubic\"].contains(context.sink) }};"),
            2,
            "pubic",
            "public",
        ),
        (format!("forbid {head} when {{\n context.calls == \"many\" }};"), 2, "", ""),
        (format!("forbid {head} when {{ context.scores.unsafe > 5 }};"), 1, "scores", ""),
        (
            "forbid (principal,\n action == Action::\"fs/writ_file\",\n resource);".to_owned(),
            2,
            "writ_file",
            "write_file",
        ),
        (
            "forbid (principal,\n action == Action::\"fx/write_file\",\n resource);".to_owned(),
            2,
            "\"fx\"",
            "fs",
        ),
        (
            "forbid (principal, action == Action::\"write_file\", resource);".to_owned(),
            1,
            "write_file",
            "server/tool",
        ),
        ("forbid (principal, action == Action::\"call\", resource);".to_owned(), 1, "group", "action in"),
        ("forbid (principal, action, resource == Server::\"mial\");".to_owned(), 1, "mial", "mail"),
        (
            "forbid (principal, action == Action::\"fs/read_file\", resource == Server::\"mail\");"
                .to_owned(),
            1,
            "never apply",
            "",
        ),
        (
            format!(
                "forbid {head} when {{ context has scores && context.scores.unsafe >= 800 && context.scores.unsafe < 300 }};"
            ),
            1,
            "never apply",
            "",
        ),
        (
            format!("forbid {head} when {{ context has scores && context.scores.unsafe > 1000 }};"),
            1,
            "never apply",
            "",
        ),
        (format!("forbid {head} when {{ context.outside && !context.outside }};"), 1, "never apply", ""),
        (
            format!(
                "forbid {head} when {{ context.outside }} unless {{ context.outside || context.changes }};"
            ),
            1,
            "never apply",
            "",
        ),
        (
            format!(
                "forbid {head} when {{ context.sink == \"none\" && (context.sink == \"public\" || context.sink == \"private\") }};"
            ),
            1,
            "never apply",
            "",
        ),
        (format!("forbid {head} when {{ false }};"), 1, "never apply", ""),
        (format!("permit {head} when {{ principal == Server::\"fs\" }};"), 1, "", ""),
        ("permit (principal == ?principal, action, resource);".to_owned(), 1, "template", ""),
        (format!("@id(\"x\") permit {head};\n@id(\"x\") permit {head};"), 2, "\"x\"", "@id"),
        (format!("@id(\"granted\") permit {head};"), 1, "granted", "replace_default"),
        ("// nothing\n".to_owned(), 1, "no rule", ""),
    ] {
        let error = added(&text).expect_err(&text);
        let Error::Policy { line: at, message: said, hint: hinted, column, path, .. } = &error else {
            panic!("{text}: {error:?}");
        };
        assert_eq!((*at, path.as_path()), (line, std::path::Path::new("policy.cedar")), "{text}: {error}");
        assert!(*column >= 1 && error.code() == "policy-invalid");
        assert!(said.contains(message), "{text}: {error}");
        let hinted = hinted.clone().unwrap_or_default();
        assert!(hinted.contains(hint), "{text}: {error}: {hinted}");
    }
}

#[test]
fn everything_that_is_wrong_is_told_in_order() {
    let text = "permit (principal, action, resource) when { context.outsde };\nforbid (;\n@verdct(\"ask\") forbid (principal, action, resource);";
    let errors = Policy::check(vec![source(text)], &known()).unwrap_err();
    let lines: Vec<usize> = errors
        .iter()
        .map(|e| match e {
            Error::Policy { line, .. } => *line,
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!(lines, [1, 2, 3]);
}

#[test]
fn what_is_possible_is_taken() {
    for text in [
        "forbid (principal, action, resource) when { context has scores && context.scores.unsafe >= 300 && context.scores.unsafe < 301 };",
        "forbid (principal, action, resource) when { context.outside || !context.outside };",
        "forbid (principal, action, resource) when { context.sink != \"none\" && context.sink != \"public\" };",
        "forbid (principal, action in [Action::\"fs/read_file\", Action::\"mail/anything\"], resource);",
        "@lifts(\"ask\") permit (principal == Agent::\"x\", action, resource) when { principal.owner == \"me\" && resource.trust == \"trusted\" };",
        "forbid (principal, action, resource) when { context.call.hasTag(\"to\") && !(context.call.getTag(\"to\") like \"*@corp.example\") };",
        "forbid (principal, action, resource) when { context has profile && context.profile == \"reports\" && context.trigger == \"tool_result\" };",
    ] {
        if let Err(error) = added(text) {
            panic!("{text}: {error}");
        }
    }
}

#[test]
fn arguments_are_looked_at_only_if_a_rule_does() {
    assert!(!Policy::builtin().compiled().arguments);
    let policy = added("forbid (principal, action, resource) when { context.call.hasTag(\"to\") };").unwrap();
    assert!(policy.compiled().arguments);
    let call = CallFacts { arguments: vec![argument("/to", "x")], ..facts() };
    assert_eq!(policy.decide(&call).verdict, Verdict::Block);
}

#[test]
fn rules_without_a_name_may_stand_in_the_same_line_of_two_files() {
    let other = Source { path: "other.cedar".into(), ..source("forbid (principal, action, resource);") };
    let sources = vec![Source::builtin(), source("permit (principal, action, resource);"), other];
    let policy = Policy::compile(sources, &known()).unwrap();
    assert_eq!(policy.decide(&facts()).policies, ["granted", "line-1", "line-1-2"]);
}

#[test]
fn the_version_changes_with_the_text() {
    let one = added("permit (principal, action, resource);").unwrap();
    let two = added("permit (principal, action, resource); ").unwrap();
    assert_eq!(one.version().len(), 64);
    assert_ne!(one.version(), two.version());
    assert_ne!(one.version(), Policy::builtin().version());
}

/// Not a benchmark: it keeps a decision from becoming something that a call has to wait for.
#[test]
fn a_decision_is_cheap() {
    let call = CallFacts {
        arguments: (0..20).map(|at| argument(&format!("/a/{at}"), "some text of an argument")).collect(),
        findings: found(&["authority-prose", "sql-write"]),
        side_effects: Some(true),
        ..facts()
    };
    let policy = Policy::builtin();
    let mut times: Vec<_> = (0..500)
        .map(|_| {
            let start = std::time::Instant::now();
            assert_eq!(policy.decide(&call).verdict, Verdict::Ask);
            start.elapsed()
        })
        .collect();
    times.sort();
    let start = std::time::Instant::now();
    let rules =
        compile(vec![Source::builtin()], &Known::default(), false).map(|compiled| compiled.rules.len());
    assert_eq!(rules.ok(), Some(policy.rules().len()));
    let compiled = start.elapsed();
    println!(
        "decision: p50 {:?}, p99 {:?}; compiling the default policy {compiled:?}",
        times[250], times[495]
    );
    assert!(times[250] < std::time::Duration::from_millis(2), "{:?}", times[250]);
}
