//! Converts lines of Apache's and nginx's common and combined log formats to documents with the fields of the
//! Elastic Common Schema.

use jiff::fmt::strtime;
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};

/// Converts a line to a document; `None` for a line in another format.
pub fn document(line: &str) -> Option<Map<String, Value>> {
    let (host, rest) = line.split_once(' ')?;
    let (ident, rest) = rest.split_once(' ')?;
    // A user name may contain spaces.
    let (user, rest) = rest.split_once(" [")?;
    // Apache's format `vhost_combined` begins with the virtual host and its port.
    let (virtual_host, host, ident, user) = match user.strip_prefix("- ") {
        Some(user) if ident != "-" => (Some(host), ident, "-", user),
        _ => (None, host, ident, user),
    };
    let (time, rest) = rest.split_once(']')?;
    let (request, rest) = quoted(rest)?;
    let mut words = rest.trim_start().splitn(3, ' ');
    let status: u64 = words.next()?.parse().ok()?;
    let bytes = words.next().unwrap_or("-").trim_end();
    let rest = words.next().unwrap_or_default();
    let (referrer, rest) = quoted(rest).unwrap_or_default();
    let (agent, _) = quoted(rest).unwrap_or_default();
    let time = strtime::parse("%d/%b/%Y:%H:%M:%S %z", time).and_then(|time| time.to_timestamp()).ok()?;

    let mut document = Map::new();
    let mut put = |name: &str, value: Value| document.insert(name.to_owned(), value);
    put("@timestamp", time.to_zoned(TimeZone::UTC).strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into());
    put("source.address", host.into());
    if let Some(name) = virtual_host {
        put("url.domain", name.rsplit_once(':').map_or(name, |(name, _port)| name).into());
    }
    for (name, value) in [("client.user.identity", ident), ("user.name", user)] {
        if value != "-" && !value.is_empty() {
            put(name, value.into());
        }
    }
    put_request(&request, &mut put);
    put("http.response.status_code", status.into());
    if let Ok(bytes) = bytes.parse::<u64>() {
        put("http.response.body.bytes", bytes.into());
    }
    for (name, value) in [("http.request.referrer", referrer), ("user_agent.original", agent)] {
        if value != "-" && !value.is_empty() {
            put(name, value.into());
        }
    }
    Some(document)
}

/// Adds the fields of a request line such as `GET /path HTTP/1.1`. A request in another form is kept as it
/// is.
fn put_request(request: &str, put: &mut impl FnMut(&str, Value) -> Option<Value>) {
    let is_method = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_uppercase());
    if let Some((method, rest)) = request.split_once(' ')
        && is_method(method)
    {
        put("http.request.method", method.into());
        let (url, version) = rest.rsplit_once(" HTTP/").unwrap_or((rest, ""));
        put("url.original", url.into());
        if !version.is_empty() {
            put("http.version", version.into());
        }
    } else if request != "-" {
        put("event.original", request.into());
    }
}

/// Returns the next string in double quotes, with `\"` and `\\` unescaped, and the rest after it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let (_, inner) = text.split_once('"')?;
    let mut plain = String::new();
    let mut chars = inner.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '"' => return Some((plain, &inner[at + 1..])),
            '\\' => match chars.next() {
                Some((_, escaped @ ('"' | '\\'))) => plain.push(escaped),
                Some((_, other)) => plain.extend(['\\', other]),
                None => return None,
            },
            other => plain.push(other),
        }
    }
    None
}

/// Returns the mapping of such documents, for an index that does not exist yet.
pub fn mapping() -> Value {
    let keyword = || json!({"type": "keyword", "ignore_above": 1024});
    let searched = || json!({"type": "keyword", "ignore_above": 1024, "fields": {"text": {"type": "text"}}});
    json!({"properties": {
        "@timestamp": {"type": "date"},
        "source": {"properties": {"address": keyword()}},
        "client": {"properties": {"user": {"properties": {"identity": keyword()}}}},
        "user": {"properties": {"name": keyword()}},
        "http": {"properties": {
            "version": keyword(),
            "request": {"properties": {"method": keyword(), "referrer": searched()}},
            "response": {"properties": {"status_code": {"type": "short"}, "body": {"properties": {"bytes": {"type": "long"}}}}},
        }},
        "url": {"properties": {"domain": keyword(), "original": searched()}},
        "user_agent": {"properties": {"original": searched()}},
        "event": {"properties": {"original": searched()}},
    }})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_both_formats() {
        let check =
            |line: &str, expected: Value| assert_eq!(document(line).map(Value::Object), Some(expected));
        check(
            r#"127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326"#,
            json!({"@timestamp": "2000-10-10T20:55:36Z", "source.address": "127.0.0.1", "user.name": "frank",
                "http.request.method": "GET", "url.original": "/apache_pb.gif", "http.version": "1.0",
                "http.response.status_code": 200, "http.response.body.bytes": 2326}),
        );
        check(
            r#"2001:db8::1 - - [17/May/2015:10:05:03 +0000] "GET /a\"b c HTTP/1.1" 404 - "http://x/?q=\"1\"" "Mozilla/5.0 (X11)" "extra""#,
            json!({"@timestamp": "2015-05-17T10:05:03Z", "source.address": "2001:db8::1", "http.request.method": "GET",
                "url.original": "/a\"b c", "http.version": "1.1", "http.response.status_code": 404,
                "http.request.referrer": "http://x/?q=\"1\"", "user_agent.original": "Mozilla/5.0 (X11)"}),
        );
        check(
            r#"h - - [17/May/2015:10:05:03 +0000] "\x16\x03" 400 0 "-" "-""#,
            json!({"@timestamp": "2015-05-17T10:05:03Z", "source.address": "h", "event.original": "\\x16\\x03",
                "http.response.status_code": 400, "http.response.body.bytes": 0}),
        );
        check(
            r#"a.example:443 10.0.0.1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 12 "-" "-""#,
            json!({"@timestamp": "2015-05-17T10:05:03Z", "source.address": "10.0.0.1", "url.domain": "a.example",
                "http.request.method": "GET", "url.original": "/", "http.version": "1.1",
                "http.response.status_code": 200, "http.response.body.bytes": 12}),
        );
        for wrong in [
            "",
            "a b c",
            "h - - [never] \"GET / HTTP/1.1\" 200 1",
            "h - - [17/May/2015:10:05:03 +0000] \"GET",
        ] {
            assert_eq!(document(wrong), None, "{wrong}");
        }
    }
}
