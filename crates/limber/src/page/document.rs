//! The page as one document, and the headers that isolate it.

use std::sync::LazyLock;

use base64::Engine as _;
use sha2::{Digest, Sha256};

const HTML: &str = include_str!("page.html");
const STYLE: &str = include_str!("style.css");
/// The scripts in load order: each uses definitions of those before it.
const SCRIPTS: &[&str] = &[
    include_str!("script/base.js"),
    include_str!("script/table.js"),
    include_str!("script/indices.js"),
    include_str!("script/search.js"),
    include_str!("script/complete.js"),
    include_str!("script/console.js"),
    include_str!("script/live.js"),
    include_str!("script/main.js"),
];

/// The page and its content security policy.
#[derive(Debug)]
struct Document {
    html: String,
    policy: String,
}

static DOCUMENT: LazyLock<Document> = LazyLock::new(|| {
    let script = SCRIPTS.join("\n");
    let hash = |text: &str| base64::engine::general_purpose::STANDARD.encode(Sha256::digest(text));
    // Only the scripts that came with the page run, and no string can become HTML or a script (Trusted
    // Types).
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; connect-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
        hash(&script),
        hash(STYLE)
    );
    let html = HTML.replace("/*STYLE*/", STYLE).replace("/*SCRIPT*/", &script);
    Document { html, policy }
});

/// Returns the page. It is the same for everybody and contains no user data.
pub fn html() -> &'static str {
    &DOCUMENT.html
}

/// Returns the headers that are sent with the page.
pub fn headers() -> Vec<(&'static str, String)> {
    let fixed = [
        ("vary", "Accept"),
        ("cache-control", "no-cache"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ];
    let mut headers: Vec<_> = fixed.map(|(name, value)| (name, value.to_owned())).into();
    headers.push(("content-security-policy", DOCUMENT.policy.clone()));
    headers
}

/// Returns the headers that are sent with a race's report. Its strings come from tracks and servers, so it
/// runs in an origin of its own, which can reach no server. The policy in the report's head allows only its
/// own script.
pub fn report_headers() -> Vec<(&'static str, String)> {
    let fixed = [
        ("cache-control", "no-cache"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("content-security-policy", "sandbox allow-scripts; frame-ancestors 'none'"),
    ];
    fixed.map(|(name, value)| (name, value.to_owned())).into()
}

/// Whether a client that sends this `Accept` header prefers a page to JSON. Browsers name `text/html` first;
/// programs name JSON or accept anything.
pub fn is_preferred(accept: &str) -> bool {
    let quality_of = |wanted: &str| {
        accept.split(',').find_map(|part| {
            let mut parameters = part.split(';').map(str::trim);
            if !parameters.next()?.eq_ignore_ascii_case(wanted) {
                return None;
            }
            let quality = parameters.find_map(|parameter| parameter.strip_prefix("q="));
            Some(quality.map_or(1.0, |text| text.parse().unwrap_or(0.0)))
        })
    };
    let json = quality_of("application/json").unwrap_or(0.0_f32);
    quality_of("text/html").is_some_and(|html| html > 0.0 && html > json)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_get_the_page_and_programs_json() {
        let check = |accept: &str, expected: bool| assert_eq!(is_preferred(accept), expected, "{accept}");
        check("text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8", true);
        check("Text/HTML", true);
        check("*/*", false);
        check("", false);
        check("application/json", false);
        check("application/json, text/html", false);
        check("application/json;q=0.5, text/html", true);
        check("text/html;q=0.2, application/json;q=0.5", false);
        check("text/html;q=0", false);
        check("application/vnd.elasticsearch+json; compatible-with=8", false);
    }

    #[test]
    fn the_page_is_small_and_names_nothing_outside_of_itself() {
        let html = html();
        assert!(html.len() < 300 << 10, "{} bytes", html.len());
        let svg = "http://www.w3.org/2000/svg";
        for scheme in ["http://", "https://", "//cdn"] {
            assert!(!html.replace(svg, "").contains(scheme), "{scheme}");
        }
        // No API that turns a string into HTML or a script.
        for sink in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
            "javascript:",
        ] {
            assert!(!html.contains(sink), "{sink}");
        }
        // An end tag within the script would end the script.
        assert_eq!(html.matches("</script").count(), 1);
        assert_eq!(html.matches("<script").count(), 1);
    }
}
