import HearthBase

/// How long a worker may take, as its parent sees it.
struct WatchRule: Sendable {
    /// The longest load without progress, in seconds.
    var load = 120.0
    /// The processor time of one call into the template or the tokenizer, in seconds.
    var processor = 2.0
    /// The time of such a call on the wall, in seconds.
    var wall = 20.0
    /// What such a call has besides for each MiB of its text, in seconds of processor time, and four times as much on the
    /// wall: a long window takes texts with which a good tokenizer is busy for longer than ``processor``.
    var processorPerMebibyte = 12.0
    /// The longest step of a computation in which the engine does not once ask whether to go on, in seconds.
    var step = 30.0
    /// The longest time that a part of a picture may take, in seconds. It is computed without an end in between.
    var picture = 120.0
    /// The longest time between a cancellation and the reply to it, in seconds: more than a part of a picture takes on
    /// most machines.
    var cancellation = 60.0
    /// The longest time without a word while an order is under way, in seconds. A worker speaks once a second.
    var silence = 20.0

    /// What a worker did for too long; `nil` if it did nothing for too long.
    /// - Parameters:
    ///   - calls: of its last word.
    ///   - silence: seconds since its last word.
    ///   - load: seconds since the last progress of a load; `nil` without one.
    func excess(_ calls: [CallWatch.Call], silence: Double, load: Double?) -> String? {
        for call in calls {
            switch call.kind {
            case .template where isLong(call): return "its chat template did not end"
            case .tokenizer where isLong(call): return "its tokenizer did not end"
            case .step where call.silentSeconds > step: return "a step of its computation did not end"
            case .picture where call.wallSeconds > picture: return "a picture was not encoded in time"
            default: continue
            }
        }
        if let load { return load > self.load ? "its load did not go on" : nil }
        return silence > self.silence ? "it did not answer" : nil
    }

    /// The most bytes of text that count, whatever a worker says.
    private static let mostBytes: UInt64 = 64 << 20

    private func isLong(_ call: CallWatch.Call) -> Bool {
        let more = processorPerMebibyte * Double(min(call.bytes, Self.mostBytes)) / Double(1 << 20)
        return call.processorSeconds > processor + more || call.wallSeconds > wall + 4 * more
    }
}
