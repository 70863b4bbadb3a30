//! The library as an embedder uses it: many runs in one process, tools of that process, no guard.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use postern::upstream::{LocalServer, ToolDefinition, ToolResult};
use postern::{Config, Host, Outcome, Script, ToolError};
use serde_json::{Map, Value, json};

struct Desk;

#[async_trait]
impl LocalServer for Desk {
    fn tools(&self) -> Vec<ToolDefinition> {
        let schema = json!({"type": "object"});
        vec![ToolDefinition::new("desk", "echo", schema.clone()), ToolDefinition::new("desk", "wait", schema)]
    }

    async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<ToolResult, ToolError> {
        if tool == "wait" {
            let ms = arguments["ms"].as_u64().unwrap_or_default();
            tokio::time::sleep(Duration::from_millis(ms)).await;
        }
        Ok(ToolResult::value(Value::Object(arguments)))
    }
}

fn host(change: impl FnOnce(&mut Config)) -> Host {
    let mut config = Config::default();
    change(&mut config);
    Host::builder(config)
        .without_guard()
        .without_records()
        .local_server("desk", Arc::new(Desk))
        .build()
        .unwrap()
}

/// pctx 0.5.0 changelog: races between runs that share a process.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn row_38_sixty_four_runs_at_once_do_not_mix() {
    let host = host(|config| config.limits.wall_time = Duration::from_secs(3));
    let runs = (0..64).map(|number| {
        let text = match number % 4 {
            0 | 1 => format!(
                "globalThis.mine = {number}; await tools.desk.wait({{ ms: 20 }});
                 console.log('run', {number}); await fs.writeFile('/workspace/n', String({number}));
                 return [globalThis.mine, (await tools.desk.echo({{ n: {number} }})).n, await fs.readFile('/workspace/n', 'utf8')];"
            ),
            2 => format!("await tools.desk.wait({{ ms: 10 }}); throw new RangeError('failed {number}')"),
            _ => "for (;;) { await tools.desk.wait({ ms: 5 }); if (globalThis.other) break; }".to_owned(),
        };
        let host = host.clone();
        tokio::spawn(async move { (number, host.run(Script::new(text)).await.unwrap()) })
    });
    for run in futures::future::join_all(runs).await {
        let (number, report) = run.unwrap();
        match number % 4 {
            0 | 1 => {
                assert_eq!(report.value, json!([number, number, number.to_string()]), "{report:?}");
                assert_eq!(report.stdout, format!("run {number}\n"));
            }
            2 => {
                assert_eq!(report.outcome, Outcome::ScriptError);
                assert_eq!(report.error.unwrap().message, format!("failed {number}"));
            }
            _ => assert!(
                // 200 calls come first where the machine is quick, 3 s where it is not.
                report.outcome == Outcome::Limit
                    && matches!(&*report.error.unwrap().code, "wall-time" | "calls"),
            ),
        }
    }
    let after = host.run(Script::new("return 'alive'")).await.unwrap();
    assert_eq!(after.value, "alive");
}

/// wasmtime#9188, UTCP code-mode#13: a run that never yields must not hold up the others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn row_01_busy_runs_leave_room_for_others() {
    let host = host(|config| config.limits.wall_time = Duration::from_secs(1));
    let busy: Vec<_> = (0..4)
        .map(|_| {
            let host = host.clone();
            tokio::spawn(async move {
                let began = Instant::now();
                let report = host.run(Script::new("for (;;) {}")).await.unwrap();
                (began.elapsed(), report)
            })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(200)).await;
    let report = host.run(Script::new("return (await tools.desk.echo({ n: 1 })).n")).await.unwrap();
    assert_eq!(report.value, 1);
    for run in busy {
        let (took, report) = run.await.unwrap();
        assert_eq!(report.error.unwrap().code, "wall-time");
        assert!(took < Duration::from_millis(1500), "{took:?}");
    }
}

/// ComponentizeJS#80, jco#668, StarlingMonkey#321: long-lived instances trapped or grew.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn row_36_thousands_of_calls_in_one_run_do_not_grow() {
    let host = host(|config| config.limits.max_calls = 30_000);
    let text = |calls: u32| {
        format!(
            "for (let i = 0; i < {calls}; i++) await tools.desk.echo({{ i, p: 'x'.repeat(500) }}); return 1;"
        )
    };
    let many = host.run(Script::new(text(5_000))).await.unwrap();
    let more = host.run(Script::new(text(20_000))).await.unwrap();
    assert_eq!((&many.value, &more.value), (&json!(1), &json!(1)), "{:?}", more.error);
    // Promises wait for a garbage collection, so there is a plateau and no straight line.
    assert!(more.usage.memory_bytes < 2 * many.usage.memory_bytes, "{:?} {:?}", many.usage, more.usage);

    let report = host
        .run(Script::new(
            "const all = await Promise.all(Array.from({ length: 1000 }, (_, i) => tools.desk.wait({ ms: 1, i })));
             return all.every((answer, i) => answer.i === i);",
        ))
        .await
        .unwrap();
    assert_eq!(report.value, true, "{:?}", report.error);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_can_be_given_up() {
    let host = host(|_| {});
    let cancel = tokio_util::sync::CancellationToken::new();
    let run = host.run(Script::new("await tools.desk.wait({ ms: 60000 })").cancel(cancel.clone()));
    let stop = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        cancel.cancel();
    };
    let (report, ()) = tokio::join!(run, stop);
    let report = report.unwrap();
    assert_eq!(report.outcome, Outcome::Cancelled);
    assert_eq!(report.calls[0].code.as_deref(), Some("cancelled"));
}
