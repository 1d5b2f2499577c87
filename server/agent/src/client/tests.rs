//! Addresses, keys, the words of errors and the three formats; nothing here is sent anywhere.

use super::*;
use crate::dialogue::{Arguments, Entry, Part, ToolCall, ToolChoice, ToolResult};

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

/// Puts a stream of events together, cut into pieces of this size.
fn assembled(
    mut assembly: Box<dyn Assembly>,
    stream: &str,
    size: usize,
) -> Result<Reply, ModelError> {
    let mut decoder = Decoder::default();
    for piece in stream.as_bytes().chunks(size) {
        for event in decoder.push(piece).unwrap() {
            if assembly.take(&event)? {
                return assembly.end(true);
            }
        }
    }
    assembly.end(false)
}

fn chat(stream: &str) -> Result<Reply, ModelError> {
    assembled(Box::new(chat::Chunks::default()), stream, 7)
}

fn items(stream: &str) -> Result<Reply, ModelError> {
    assembled(Box::new(responses::Items::default()), stream, 7)
}

fn messages(stream: &str) -> Result<Reply, ModelError> {
    assembled(Box::new(anthropic::Messages::default()), stream, 7)
}

const CHAT: &str = "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"grün \"}}]}\n\n\
    data: {\"choices\":[{\"delta\":{\"content\":\"你好\"}}]}\n\n\
    data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"read\",\"arguments\":\"{\\\"pa\"}}]}}]}\n\n\
    data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"bash\",\"arguments\":\"{}\"}}]}}]}\n\n\
    data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"th\\\":\\\"x\\\"}\"}}]}}]}\n\n\
    data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n\
    data: {\"choices\":[],\"usage\":{\"prompt_tokens\":50,\"completion_tokens\":7,\"prompt_tokens_details\":{\"cached_tokens\":40}}}\n\n\
    data: [DONE]\n\n";

const RESPONSES: &str = "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{}}\n\n\
    event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"gr\"}\n\n\
    data: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"reasoning\",\"id\":\"r\",\"encrypted_content\":\"e\"}}\n\n\
    data: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"grün\"}]}}\n\n\
    data: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"read\",\"arguments\":\"{\\\"path\\\":\\\"x\\\"}\"}}\n\n\
    data: {\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":50,\"output_tokens\":7,\"input_tokens_details\":{\"cached_tokens\":40}}}}\n\n";

#[test]
fn b120_answers_of_openai_are_put_together_whatever_the_cut() {
    let usage = Usage {
        input: 10,
        cache_read: 40,
        cache_write: 0,
        output: 7,
    };
    for size in [1, 2, 3, 7, 10_000] {
        let reply = assembled(Box::new(chat::Chunks::default()), CHAT, size).unwrap();
        assert_eq!((reply.text().as_str(), reply.usage), ("grün 你好", usage));
        let calls: Vec<_> = reply
            .calls()
            .map(|call| (call.id.as_str(), call.name.as_str()))
            .collect();
        assert_eq!(calls, [("a", "read"), ("b", "bash")]);
        assert_eq!(
            reply.calls().next().unwrap().arguments,
            Arguments::parse("{\"path\":\"x\"}")
        );
        let reply = assembled(Box::new(responses::Items::default()), RESPONSES, size).unwrap();
        assert_eq!((reply.text().as_str(), reply.usage), ("grün", usage));
        assert!(
            matches!(reply.parts[0], Part::Opaque(_)),
            "thoughts are given back"
        );
        assert_eq!(reply.calls().next().unwrap().id, "c");
    }
}

#[test]
fn b118_an_answer_without_its_end_is_none() {
    let cut = |stream: &str, mark: &str| stream[..stream.find(mark).unwrap()].to_owned();
    assert!(matches!(
        chat(&cut(CHAT, "data: {\"choices\":[{\"delta\":{},\"finish")),
        Err(ModelError::Cut(_))
    ));
    // Some servers end without `[DONE]`.
    assert!(chat(&cut(CHAT, "data: [DONE]")).is_ok());
    assert!(matches!(
        items(&cut(RESPONSES, "data: {\"type\":\"response.completed")),
        Err(ModelError::Cut(_))
    ));
    let stop = "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n";
    assert!(matches!(messages(stop), Err(ModelError::Cut(_))));
    assert!(messages(&format!("{stop}data: {{\"type\":\"message_stop\"}}\n\n")).is_ok());
}

#[test]
fn b117_an_error_in_a_stream_ends_the_answer() {
    let begun = "data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\n";
    let failed = chat(&format!(
        "{begun}data: {{\"error\":{{\"message\":\"busy\",\"type\":\"server_error\"}}}}\n\n"
    ));
    assert!(
        matches!(failed, Err(ModelError::Overloaded { .. })),
        "{failed:?}"
    );
    let failed = items(
        "data: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"slow\"}}}\n\n",
    );
    assert!(
        matches!(failed, Err(ModelError::RateLimited { .. })),
        "{failed:?}"
    );
    let failed =
        items("data: {\"type\":\"error\",\"code\":\"server_error\",\"message\":\"x\"}\n\n");
    assert!(
        matches!(failed, Err(ModelError::Overloaded { .. })),
        "{failed:?}"
    );
    assert!(matches!(
        chat("data: nonsense\n\n"),
        Err(ModelError::Garbled(_))
    ));
}

#[test]
fn every_format_says_the_whole_dialogue() {
    let call = ToolCall {
        id: "c1".to_owned(),
        name: "read".to_owned(),
        arguments: Arguments::parse("{broken"),
    };
    let prompt = Prompt {
        system: "sys".to_owned(),
        entries: vec![
            Entry::User("do".to_owned()),
            Entry::Model(vec![Part::Text("I look".to_owned()), Part::Call(call)]),
            Entry::Results(vec![ToolResult {
                call: "c1".to_owned(),
                tool: "read".to_owned(),
                ok: false,
                text: "no".to_owned(),
            }]),
            Entry::User("go on".to_owned()),
        ],
        choice: ToolChoice::None,
        max_output: 9,
    };
    let roles = |messages: &Value| -> Vec<String> {
        let all = messages.as_array().unwrap().iter();
        all.map(|message| message["role"].as_str().unwrap().to_owned())
            .collect()
    };
    let body = anthropic::body("m", &prompt);
    assert_eq!(roles(&body["messages"]), ["user", "assistant", "user"]);
    assert_eq!(body["messages"][2]["content"][0]["tool_use_id"], "c1");
    assert!(
        body["messages"][1]["content"][1]["input"].is_object(),
        "the history stays valid"
    );
    let body = chat::body("m", &prompt, false);
    assert_eq!(
        roles(&body["messages"]),
        ["system", "user", "assistant", "tool", "user"]
    );
    let arguments = body["messages"][2]["tool_calls"][0]["function"]["arguments"]
        .as_str()
        .unwrap();
    assert!(
        serde_json::from_str::<Value>(arguments)
            .unwrap()
            .is_object()
    );
    assert_eq!(
        (&body["max_tokens"], &body["tool_choice"]),
        (&9.into(), &"none".into())
    );
    assert_eq!(chat::body("m", &prompt, true)["max_completion_tokens"], 9);
    let body = responses::body("m", &prompt);
    assert_eq!(body["input"][3]["type"], "function_call_output");
    assert_eq!(
        (&body["store"], &body["instructions"]),
        (&false.into(), &"sys".into())
    );
}
