//! What a request holds, or a refusal that says what is wrong with it.

use axum::{
    body::{Bytes, HttpBody as _},
    extract::{DefaultBodyLimit, FromRequest, FromRequestParts, Query, Request},
    http::{StatusCode, request::Parts},
};
use legwork_model::{Digest, ParseDigestError};
use legwork_wire::ErrorKind;
use serde::de::DeserializeOwned;

use super::Refusal;

/// The largest body that is read. Unsaved buffers come in one.
pub(super) const LARGEST_BODY: usize = 64 << 20;

/// A JSON body. An empty one stands for `{}`.
#[derive(Debug)]
pub(super) struct Sent<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Sent<T> {
    type Rejection = Refusal;

    async fn from_request(mut request: Request, state: &S) -> Result<Self, Refusal> {
        // Said before it is sent, it need not be waited for.
        if request.body().size_hint().lower() > LARGEST_BODY as u64 {
            return Err(too_large());
        }
        DefaultBodyLimit::max(LARGEST_BODY).apply(&mut request);
        let bytes = Bytes::from_request(request, state).await.map_err(|error| {
            if error.status() == StatusCode::PAYLOAD_TOO_LARGE {
                too_large()
            } else {
                Refusal::usage("the request ended too early", "try it again")
            }
        })?;
        let json: &[u8] = if bytes.is_empty() { b"{}" } else { &bytes };
        match serde_json::from_slice(json) {
            Ok(value) => Ok(Self(value)),
            Err(error) => Err(Refusal::usage(
                format!("the request is not understood: {error}"),
                "the program that sent it may be of another version",
            )),
        }
    }
}

fn too_large() -> Refusal {
    let text = format!("the request is larger than {} MiB", LARGEST_BODY >> 20);
    let hint = "save some of the open files first";
    Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, ErrorKind::Usage, text, hint)
}

/// The query of the address.
#[derive(Debug)]
pub(super) struct Asked<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        match Query::<T>::from_request_parts(parts, state).await {
            Ok(Query(value)) => Ok(Self(value)),
            Err(error) => Err(Refusal::usage(
                format!("the address is not understood: {error}"),
                "",
            )),
        }
    }
}

/// The id or prefix in the path of the address.
#[derive(Debug)]
pub(super) struct Named(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for Named {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        match axum::extract::Path::<String>::from_request_parts(parts, state).await {
            Ok(axum::extract::Path(name)) => Ok(Self(name)),
            Err(error) => Err(Refusal::usage(
                format!("the address is not understood: {error}"),
                "",
            )),
        }
    }
}

/// The id or prefix, and the digest behind it, in the path of the address.
#[derive(Debug)]
pub(super) struct NamedContents(pub(super) String, pub(super) Digest);

impl<S: Send + Sync> FromRequestParts<S> for NamedContents {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let wrong =
            |error: String| Refusal::usage(format!("the address is not understood: {error}"), "");
        let path = axum::extract::Path::<(String, String)>::from_request_parts(parts, state).await;
        let axum::extract::Path((name, digest)) = path.map_err(|error| wrong(error.to_string()))?;
        match digest.parse() {
            Ok(digest) => Ok(Self(name, digest)),
            Err(error) => Err(wrong(ParseDigestError::to_string(&error))),
        }
    }
}
