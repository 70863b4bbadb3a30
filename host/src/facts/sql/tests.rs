use super::*;

fn codes(text: &str) -> String {
    let does = read(text);
    let mut out = Vec::new();
    let mut add = |is: bool, name: &'static str| {
        if is {
            out.push(name);
        }
    };
    add(does.destroys, "destroys");
    add(does.writes && !does.destroys, "writes");
    add(does.attaches, "attaches");
    add(does.pragma, "pragma");
    add(does.function.is_some(), "function");
    add(does.statements > 1, "several");
    add(does.unreadable, "unreadable");
    out.join(" ")
}

#[test]
fn what_sql_does_is_found_whatever_its_dress() {
    for (text, expected) in [
        ("SELECT count(*) FROM customers", ""),
        ("select 1;", ""),
        ("SELECT 1; -- done", ""),
        ("SELECT * FROM t WHERE note = 'drop table x; delete from y'", ""),
        ("SELECT replace(name, 'a', 'b'), \"update\", [delete] FROM t", ""),
        ("SELECT updated, deleted FROM t WHERE created > ?1 ORDER BY 1 LIMIT 5", ""),
        ("SELECT * FROM t WHERE id = %s", ""),
        ("WITH a AS (SELECT 1 AS n), b AS (SELECT n FROM a) SELECT * FROM b", ""),
        ("EXPLAIN QUERY PLAN SELECT * FROM t", ""),
        ("SELECT * FROM t FOR UPDATE", ""),
        ("PRAGMA table_info(customers)", ""),
        ("PRAGMA user_version", ""),
        ("(SELECT 1) UNION (SELECT 2)", ""),
        ("WITH d AS (SELECT 1) DELETE FROM customers WHERE 1=1 -- limit", "destroys"),
        ("with d as (delete from t where id = 1 returning *) select * from d", "destroys"),
        ("/* read */ DeLeTe/**/FROM customers", "destroys"),
        ("-- note\nDROP TABLE t", "destroys"),
        ("UPDATE t SET a = 1", "destroys"),
        ("UPDATE t SET a = (SELECT 1 WHERE 1)", "destroys"),
        ("UPDATE t SET a = 1 WHERE id = 2", "writes"),
        ("INSERT INTO t VALUES (1)", "writes"),
        ("REPLACE INTO t VALUES (1)", "writes"),
        ("INSERT INTO t VALUES (1) ON CONFLICT DO UPDATE SET a = 1", "destroys"),
        ("CREATE TABLE t (a)", "writes"),
        ("ALTER TABLE t DROP COLUMN a", "destroys"),
        ("SELECT * INTO copied FROM t", "writes"),
        ("EXPLAIN ANALYZE DELETE FROM t", "destroys"),
        ("SELECT 1; ATTACH DATABASE '/tmp/x.db' AS x", "attaches several"),
        ("VACUUM INTO '/tmp/copy.db'", "writes attaches"),
        ("PRAGMA writable_schema = ON", "pragma"),
        ("PRAGMA main.journal_mode(DELETE)", "pragma"),
        ("PRAGMA key", "pragma"),
        ("SELECT load_extension('x')", "function"),
        ("SELECT \"writefile\"('/tmp/x', data) FROM t", "function"),
        ("SELECT pg_read_file('/etc/passwd')", "function"),
        ("COPY t TO PROGRAM 'curl x'", "writes function"),
        ("SELECT 1; SELECT 2", "several"),
        ("SELECT FROM WHERE (", "unreadable"),
        ("SELECT 'open", "unreadable"),
        ("--", "unreadable"),
        ("/*! DROP TABLE t */", "destroys"),
        ("/* /* */ DELETE FROM t -- */", "destroys"),
    ] {
        let found = codes(text);
        if expected == "destroys" {
            assert!(found.starts_with("destroys"), "{text}: {found}");
        } else {
            assert_eq!(found, expected, "{text}");
        }
    }
}

#[test]
fn a_trigger_is_one_statement() {
    let trigger = "CREATE TRIGGER t AFTER INSERT ON a BEGIN UPDATE b SET n = n + 1 WHERE id = 1; INSERT INTO c VALUES (1); END";
    assert_eq!(read(trigger).statements, 1);
    assert_eq!(read(&format!("{trigger}; SELECT 1")).statements, 2);
}

#[test]
fn names_are_names() {
    for name in
        ["customers", "public.orders", "\"Order Items\"", "`a`", "[b]", "naïve_table", "order items", "t-1"]
    {
        assert!(is_name(name), "{name}");
    }
    for name in [
        "customers); DROP TABLE customers; --",
        "a'b",
        "t--",
        "t/**/",
        "t;",
        "t UNION SELECT 1",
        "\"a\";x\"",
        "t\nx",
        "f(x)",
    ] {
        assert!(!is_name(name), "{name}");
    }
}
