//! Addresses, keys and the words of errors; nothing here is sent anywhere.

use super::*;

fn config(provider: Provider, url: Option<&str>) -> ModelConfig {
    ModelConfig {
        provider,
        url: url.map(str::to_owned),
        name: "m".to_owned(),
        key_env: None,
        key_file: None,
        ca: None,
        context: 1000,
        max_output: 100,
        idle: 5,
        price: None,
    }
}

#[test]
fn b125_an_address_is_the_same_with_and_without_its_version() {
    let at = |provider, url| ModelClient::new(&config(provider, url), None).unwrap().base;
    for url in [
        "https://x.test",
        "https://x.test/",
        "https://x.test/v1",
        "https://x.test/v1/",
    ] {
        for provider in Provider::ALL {
            assert_eq!(at(provider, Some(url)), "https://x.test/v1", "{url}");
        }
    }
    assert_eq!(
        at(Provider::OpenAi, Some("https://openrouter.ai/api/v1")),
        "https://openrouter.ai/api/v1"
    );
    assert_eq!(
        at(Provider::OpenAi, Some("https://x.test/openai/v2")),
        "https://x.test/openai/v2"
    );
    assert_eq!(
        at(Provider::Anthropic, None),
        "https://api.anthropic.com/v1"
    );
}

#[test]
fn a_key_is_not_sent_where_it_could_be_read() {
    let key = || Some(ApiKey::new("sk-1", "K").unwrap());
    let made = |url| ModelClient::new(&config(Provider::OpenAi, Some(url)), key());
    assert!(
        made("https://x.test").is_ok()
            && made("http://127.0.0.1:9").is_ok()
            && made("http://[::1]:9").is_ok()
    );
    for url in [
        "http://x.test",
        "http://127.0.0.1.x.test",
        "https://u:p@x.test",
        "https://x.test/?key=1",
    ] {
        let failure = made(url).unwrap_err();
        assert!(
            !failure.hint.is_empty() && failure.kind == FailureKind::Setup,
            "{url}"
        );
    }
    assert!(ModelClient::new(&config(Provider::OpenAi, Some("http://x.test")), None).is_ok());
}

#[test]
fn certificates_that_are_none_are_told() {
    let mut config = config(Provider::OpenAi, None);
    config.ca = Some("/nowhere/ca.pem".to_owned());
    let failure = ModelClient::new(&config, None).unwrap_err();
    assert!(failure.message.contains("/nowhere/ca.pem"), "{failure:?}");
}

#[test]
fn errors_are_told_in_one_line() {
    assert_eq!(
        said(br#"{"error":{"message":"no\nway","code":"c"}}"#),
        "no way [c]"
    );
    assert_eq!(said(br#"{"error":"plain"}"#), "plain");
    assert_eq!(said(b"<html>\x1b[2J"), "<html> [2J");
    assert_eq!(said("ü".repeat(1000).as_bytes()).len(), 300);
}
