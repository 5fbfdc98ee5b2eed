import HearthBase
import HearthCatalog
import HearthStore

/// An event about the models of this device.
public enum ModelEvent: Sendable {
    /// A release was installed and verified; it need not be live.
    case installed(InstalledRelease)
    /// A release became live: new requests get it. Posted after the engines in memory were swapped.
    case activated(InstalledRelease)
    /// A release was removed.
    case removed(ReleaseIdentity)
    /// A release failed its probe, or crashed the program twice. Updates skip it until a newer one appears.
    case heldBack(ReleaseIdentity, reason: String)
    /// A live release was rolled back, and `to` serves again, unless it is `nil`.
    case rolledBack(from: ReleaseIdentity, to: ReleaseIdentity?, reason: String)
    /// A release is live on the disk, but its engine could not be loaded: the one before still serves.
    case swapFailed(InstalledRelease, any Error)
    /// A check found a newer release than the live one.
    case updateFound(UpdateFinding)
    /// A check found no update, for this reason; the release may be up to date.
    case noUpdate(Family, NoUpdate)
    /// A check, or the download after it, failed; `nil` if it failed for all families. Installed releases still work.
    case checkFailed(Family?, any Error)

    /// The family of the event, `nil` for all.
    public var family: Family? {
        switch self {
        case .installed(let release), .activated(let release), .swapFailed(let release, _): release.identity.family
        case .removed(let identity), .heldBack(let identity, _), .rolledBack(let identity, _, _): identity.family
        case .updateFound(let finding): finding.family
        case .noUpdate(let family, _): family
        case .checkFailed(let family, _): family
        }
    }
}

/// Sends events to all listeners, without waiting for any.
final class EventHub: Sendable {
    /// The most unread events of a listener; the oldest beyond are lost.
    static let capacity = 256

    private struct Listeners {
        var next: UInt64 = 0
        var continuations: [UInt64: AsyncStream<ModelEvent>.Continuation] = [:]
    }

    private let listeners = Locked(Listeners())

    deinit {
        for continuation in listeners.withLock({ Array($0.continuations.values) }) { continuation.finish() }
    }

    /// A stream of events from now on. It ends with the hub, the stream or its reader's task.
    func stream() -> AsyncStream<ModelEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: ModelEvent.self, bufferingPolicy: .bufferingNewest(Self.capacity))
        let id = listeners.withLock { listeners in
            listeners.next += 1
            listeners.continuations[listeners.next] = continuation
            return listeners.next
        }
        continuation.onTermination = { [weak self] _ in
            self?.listeners.withLock { _ = $0.continuations.removeValue(forKey: id) }
        }
        return stream
    }

    func post(_ event: ModelEvent) {
        for continuation in listeners.withLock({ Array($0.continuations.values) }) { continuation.yield(event) }
    }

    /// The number of listeners, for tests.
    var listenerCount: Int { listeners.withLock { $0.continuations.count } }
}
