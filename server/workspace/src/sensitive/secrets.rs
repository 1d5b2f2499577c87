//! Keys and passwords that were written into a text, by the forms that their makers gave them.
//!
//! Each form is from its maker's own documentation or from the rules of well-known scanners. A form that cannot be told from
//! an ordinary word is not here: who is warned too often does not read.

use std::sync::LazyLock;

use regex::bytes::Regex;

/// What it is, with its article, and its form.
const FORMS: [(&str, &str); 18] = [
    (
        "a private key",
        r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----",
    ),
    ("a key of AWS", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b"),
    (
        "a token of GitHub",
        r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{82})\b",
    ),
    (
        "a token of GitLab",
        r"\bgl(?:pat|ptt|dt|rt|cbt)-[A-Za-z0-9_-]{20,}",
    ),
    (
        "a key of Anthropic",
        r"\bsk-ant-[a-z0-9]+-[A-Za-z0-9_-]{40,}",
    ),
    (
        "a key of OpenAI",
        r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}T3BlbkFJ[A-Za-z0-9_-]{20,}",
    ),
    ("a key of Google", r"\bAIza[A-Za-z0-9_-]{35}\b"),
    (
        "a token of Slack",
        r"\bxox[abeoprs]-(?:\d+-)*[A-Za-z0-9-]{20,}",
    ),
    (
        "a webhook of Slack",
        r"https://hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9+/]{40,}",
    ),
    (
        "a key of Stripe",
        r"\b[rs]k_(?:live|test|prod)_[A-Za-z0-9]{20,}",
    ),
    ("a token of npm", r"\bnpm_[A-Za-z0-9]{36}\b"),
    (
        "a token of PyPI",
        r"\bpypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{50,}",
    ),
    ("a token of crates.io", r"\bcio[A-Za-z0-9]{32}\b"),
    ("a token of Hugging Face", r"\bhf_[A-Za-z]{34}\b"),
    (
        "a key of SendGrid",
        r"\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}\b",
    ),
    (
        "a signed token",
        r"\beyJ[A-Za-z0-9_-]{16,}\.eyJ[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    ),
    (
        "an address with a password",
        r#"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@"'<>${}]{1,64}:[^\s/:@"'<>${}]{6,64}@[A-Za-z0-9.-]+\.[a-z]"#,
    ),
    (
        "a password",
        r#"(?i)\b(?:password|passwd|secret|api_?key|access_?token)["']?\s*[:=]\s*["'][A-Za-z0-9+/=_!@#%^&*-]{24,}["']"#,
    ),
];

static COMPILED: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
    FORMS
        .iter()
        .filter_map(|(what, form)| Some((*what, Regex::new(form).ok()?)))
        .collect()
});

/// The first of them that stands in a line that `is_new`.
pub(super) fn find(text: &[u8], is_new: &dyn Fn(&[u8]) -> bool) -> Option<&'static str> {
    let line_of = |at: usize| {
        let start = text[..at]
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        let end = text[at..]
            .iter()
            .position(|byte| *byte == b'\n')
            .map_or(text.len(), |end| at + end);
        &text[start..end]
    };
    COMPILED
        .iter()
        .find(|(_, form)| {
            form.find_iter(text)
                .any(|found| is_new(line_of(found.start())))
        })
        .map(|(what, _)| *what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_understood_and_finds_its_own() {
        assert_eq!(COMPILED.len(), FORMS.len());
        let x = |n: usize| "Xy7".repeat(n).chars().take(n).collect::<String>();
        let low = |n: usize| "ab".repeat(n).chars().take(n).collect::<String>();
        for (what, text) in [
            (
                "a private key",
                "-----BEGIN OPENSSH PRIVATE KEY-----".to_owned(),
            ),
            ("a private key", "-----BEGIN PRIVATE KEY-----".to_owned()),
            ("a key of AWS", format!("id = AKIA{}", "ABCD2345EFGH6723")),
            ("a token of GitHub", format!("ghp_{}", x(36))),
            ("a token of GitLab", format!("glpat-{}", x(20))),
            ("a key of Anthropic", format!("sk-ant-api03-{}", x(93))),
            (
                "a key of OpenAI",
                format!("sk-proj-{}T3BlbkFJ{}", x(40), x(40)),
            ),
            ("a key of Google", format!("AIza{}", x(35))),
            ("a token of Slack", format!("xoxb-123456789012-{}", x(24))),
            (
                "a webhook of Slack",
                format!("https://hooks.slack.com/services/{}", x(44)),
            ),
            ("a key of Stripe", format!("sk_live_{}", x(24))),
            ("a token of npm", format!("npm_{}", x(36))),
            ("a token of PyPI", format!("pypi-AgEIcHlwaS5vcmc{}", x(60))),
            ("a token of crates.io", format!("cio{}", x(32))),
            ("a token of Hugging Face", format!("hf_{}", low(34))),
            ("a key of SendGrid", format!("SG.{}.{}", x(22), x(43))),
            (
                "a signed token",
                format!("eyJ{}.eyJ{}.{}", x(20), x(20), x(20)),
            ),
            (
                "an address with a password",
                "postgres://app:hunter22@db.example.com/x".to_owned(),
            ),
            ("a password", format!("api_key: \"{}\"", x(32))),
        ] {
            assert_eq!(find(text.as_bytes(), &|_| true), Some(what), "{text}");
            assert_eq!(find(text.as_bytes(), &|_| false), None, "{text}");
        }
        for text in [
            "password = \"changeme\"",
            "postgres://user:$PASSWORD@db.example.com/",
            "https://example.com:8080/a@b",
            "sk-learn is a library, and AKIA is a name",
            "let token = std::env::var(\"GITHUB_TOKEN\")?;",
        ] {
            assert_eq!(find(text.as_bytes(), &|_| true), None, "{text}");
        }
    }
}
