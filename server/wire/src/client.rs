//! (room of the client: written next)
