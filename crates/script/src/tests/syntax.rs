//! What the compiler accepts and refuses. The results and messages are those of Elasticsearch 9.4.3.

use serde_json::json;

use super::{cause, painless, run};

#[test]
fn items_of_lists_are_members_by_their_number() {
    for (source, expected) in [
        ("def l = ['a', 'b']; return l.0", json!("a")),
        ("def l = ['a', 'b']; l.1 = 'z'; return l.1", json!("z")),
        ("def l = ['a', ['b', 'c']]; return l.1.0", json!("b")),
        ("def l = ['a', 'b']; return l?.0", json!("a")),
        ("def l = [4, 5]; return l .0", json!(4)),
        ("def l = [4, 5]; return l.0 + l.1", json!(9)),
        ("def l = [4, 5]; l.0++; return l.0", json!(5)),
        ("def l = [4, 5]; return l.0.toString()", json!("4")),
        ("return [[1, 2], 3].0.1", json!(2)),
        ("Map m = ['12': 'x']; return m.12", json!("x")),
        ("def m = ['0': ['q']]; return m.0.0", json!("q")),
        ("return 1.5 + 2", json!(3.5)),
    ] {
        assert_eq!(painless(source).expect(source), expected, "{source}");
    }
    let given = run("painless", "return params.l.1.a", &json!({"l": [7, {"a": 9}]}));
    assert_eq!(given.expect("runs"), json!(9));
    assert!(cause("def l = ['a']; return l.01").contains("unexpected token ['1']"));
}

#[test]
fn arrays_have_several_dimensions() {
    for (source, expected) in [
        ("int[][] a = new int[2][2]; a[0][1] = 5; return a[0][1] + a[1][0]", json!(5)),
        ("int[][] a = new int[2][3]; return a.length + ',' + a[0].length", json!("2,3")),
        ("int[][][] a = new int[2][3][4]; a[1][2][3] = 9; return a[1][2][3]", json!(9)),
        ("String[][] a = new String[1][2]; return a[0][0]", json!(null)),
        ("def a = new int[2][2]; a[0] = new int[5]; return a[0].length", json!(5)),
        ("def a = new double[2][1]; return a[1][0]", json!(0.0)),
        ("def a = new int[0][5]; return a.length", json!(0)),
    ] {
        assert_eq!(painless(source).expect(source), expected, "{source}");
    }
    assert_eq!(cause("int[][] a = new int[2][-1]; return 1"), "negative_array_size_exception: -1");
    assert!(cause("def a = new int[100000][100000]; return 1").contains("memory"));
    assert!(cause("def a = new int[2000000000][2000000000][2000000000]; return 1").contains("memory"));
}

#[test]
fn loops_must_be_able_to_repeat_and_to_end() {
    for (source, expected) in [
        ("for (int i = 0; i < 3; i++) { return i }", "extraneous for loop"),
        ("for (;;) { return 1 }", "extraneous for loop"),
        ("for (int i = 0; false; i++) { } return 5", "extraneous for loop"),
        ("for (int i = 0; i < 3; i++) { if (i == 0) { return 1 } else { return 2 } }", "extraneous for loop"),
        ("for (;true;) { }", "no paths escape from for loop"),
        ("while (true) { break }", "extraneous while loop"),
        ("while (false) { return 1 } return 5", "extraneous while loop"),
        ("while (true) { } return 5", "no paths escape from while loop"),
        ("do { return 1 } while (true)", "extraneous do-while loop"),
        ("do { } while (params.x != null); return 1", "extraneous do-while loop"),
        ("do { int a = 1; } while (false); return 1", "extraneous do-while loop"),
        ("for (def x : [1, 2]) { return x } return 3", "extraneous foreach loop"),
        ("for (def x : [1, 2]) { } return 3", "extraneous foreach loop"),
        (
            "for (def x : [1, 2]) { try { return x } catch (Exception e) { return 2 } } return 4",
            "extraneous foreach loop",
        ),
        ("for (int i = 0; i < 3; i++) { continue; } return 5", "extraneous continue statement"),
        ("for (def x : [1, 2]) { if (x == 1) { continue; } }", "extraneous continue statement"),
        ("do { continue } while (false); return 5", "extraneous continue statement"),
        ("while (true) { int a = 1; } return 5", "invalid block: unreachable statement"),
        (
            "int a = 1; for (;;) { a++; if (a > 5) { return a } } return 3",
            "invalid block: unreachable statement",
        ),
        ("break", "invalid break statement: not inside loop"),
        ("continue; return 1", "invalid continue statement: not inside loop"),
    ] {
        assert_eq!(cause(source), format!("illegal_argument_exception: {expected}"), "{source}");
    }
    for (source, expected) in [
        ("int a = 1; while (true) { a++; if (a > 5) { return a } }", 6),
        ("int a = 1; do { a++; if (a > 5) { return a } } while (true)", 6),
        ("int i = 0; while (i++ < 5) { } return i", 6),
        ("for (int i = 0; i < 3; i++) { if (i == 1) { continue } return i } return 7", 0),
        ("for (def x : [1, 2]) { if (x == 1) { continue } return x }", 2),
        ("for (def x : [1, 2]) { try { return x } catch (Exception e) { } } return 4", 1),
        ("for (def x : [1, 2]) { for (def y : [1, 2]) { if (y == 1) { break } } } return 4", 4),
        ("for (def x : [1, 2]) { while (true) { if (x == 1) { return 1 } } } return 4", 1),
    ] {
        assert_eq!(painless(source).expect(source), json!(expected), "{source}");
    }
}
