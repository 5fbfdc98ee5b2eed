/// A failure of a ``FrameChannel``. After any of them the channel is of no further use.
package enum FrameError: Error, Hashable {
    /// A frame has no body or too long a body, or the stream ended within a frame.
    case malformed
    /// The process at the other end closed its end, or this channel was shut down.
    case closed
    /// A system call failed, with the value of `errno`.
    case system(Int32)
}
