//! `legwork lsp`: the language server on standard input and output.

use std::sync::Arc;

use futures::FutureExt as _;
use legwork_lsp::{Settings, serve};
use legwork_wire::Places;

use crate::{failure::Failure, start};

/// Serves until the client is gone.
pub(crate) async fn lsp(places: &Places) -> Result<(), Failure> {
    log();
    let found = Arc::new(places.clone());
    let settings = Settings {
        connect: Arc::new(move |start| {
            let places = Arc::clone(&found);
            async move {
                if start {
                    start::connect(&places)
                        .await
                        .map_err(|failure| match failure.hint.as_str() {
                            "" => failure.message,
                            hint => format!("{}; {hint}", failure.message),
                        })
                } else {
                    start::reach(&places)
                        .await
                        .map_err(|error| error.to_string())
                }
            }
            .boxed()
        }),
        doctor: {
            let places = places.clone();
            Arc::new(move || {
                let places = places.clone();
                async move { Ok(legwork_daemon::doctor(&places).await) }.boxed()
            })
        },
        agent: {
            let places = places.clone();
            Arc::new(move || {
                // Names that mean nothing are told by the command line; here they would be told at every task.
                let (config, _warnings) =
                    places.read_config().map_err(|error| error.to_string())?;
                config.worker().ok_or_else(|| places.agent_hint())
            })
        },
        preview: places.runtime.join("preview"),
        version: env!("CARGO_PKG_VERSION"),
    };
    serve(tokio::io::stdin(), tokio::io::stdout(), settings).await;
    Ok(())
}

/// Standard output is the protocol's alone: what there is to say goes where editors keep a server's own words.
fn log() {
    let filter = std::env::var("LEGWORK_LOG").unwrap_or_else(|_| "warn".to_owned());
    let filter = tracing_subscriber::EnvFilter::try_new(filter)
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn"));
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(false);
    // Whoever embeds this has set one up already.
    let _kept = subscriber.try_init();
}
