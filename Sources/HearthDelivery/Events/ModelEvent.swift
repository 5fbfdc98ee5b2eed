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

    /// The topic of an event: a newer event replaces an unread one of the same topic.
    enum Topic: Hashable {
        case disk(Family), removal(ReleaseIdentity), refusal(ReleaseIdentity), live(Family), update(Family?)

        var isOfOneRelease: Bool {
            switch self {
            case .removal, .refusal: true
            case .disk, .live, .update: false
            }
        }
    }

    var topic: Topic {
        switch self {
        case .installed(let release): .disk(release.identity.family)
        case .activated(let release), .swapFailed(let release, _): .live(release.identity.family)
        case .removed(let identity): .removal(identity)
        case .heldBack(let identity, _): .refusal(identity)
        case .rolledBack(let identity, _, _): .live(identity.family)
        case .updateFound(let finding): .update(finding.family)
        case .noUpdate(let family, _): .update(family)
        case .checkFailed(let family, _): .update(family)
        }
    }
}

/// The unread events of a listener: the newest of each topic, in the order in which they came. Of removed and held-back
/// releases, only the newest ``mostReleases`` are kept.
struct EventBox: Sendable {
    static let mostReleases = 64

    private var pending: [(topic: ModelEvent.Topic, event: ModelEvent)] = []

    var count: Int { pending.count }

    mutating func put(_ event: ModelEvent) {
        let topic = event.topic
        pending.removeAll { $0.topic == topic }
        pending.append((topic, event))
        guard topic.isOfOneRelease, pending.count(where: { $0.topic.isOfOneRelease }) > Self.mostReleases,
            let oldest = pending.firstIndex(where: { $0.topic.isOfOneRelease })
        else { return }
        pending.remove(at: oldest)
    }

    mutating func take() -> ModelEvent? { pending.isEmpty ? nil : pending.removeFirst().event }
}

/// Sends events to all listeners, without waiting for any.
final class EventHub: Sendable {
    private struct Weak: Sendable { weak var mailbox: EventMailbox? }

    private let listeners = Locked<[Weak]>([])

    deinit {
        for listener in listeners.withLock({ $0 }) { listener.mailbox?.close() }
    }

    /// A stream of events from now on. It ends with the hub, the stream or its reader's task.
    func stream() -> AsyncStream<ModelEvent> {
        let mailbox = EventMailbox()
        listeners.withLock { listeners in
            listeners.removeAll { $0.mailbox == nil }
            listeners.append(Weak(mailbox: mailbox))
        }
        return AsyncStream {
            await mailbox.next()
        }
    }

    func post(_ event: ModelEvent) {
        for listener in listeners.withLock({ $0 }) { listener.mailbox?.put(event) }
    }

    /// The number of listeners, for tests.
    var listenerCount: Int { listeners.withLock { $0.filter { $0.mailbox != nil }.count } }
}

/// The unread events and the reader of one listener.
private final class EventMailbox: Sendable {
    private struct State {
        var box = EventBox()
        var reader: (id: UInt64, continuation: CheckedContinuation<ModelEvent?, Never>)?
        var cancelled: Set<UInt64> = []
        var nextID: UInt64 = 0
        var isClosed = false
    }

    private let state = Locked(State())

    func put(_ event: ModelEvent) {
        let (reader, first) = state.withLock { state in
            state.box.put(event)
            guard let reader = state.reader else {
                return (nil as CheckedContinuation<ModelEvent?, Never>?, nil as ModelEvent?)
            }
            state.reader = nil
            return (reader.continuation, state.box.take())
        }
        reader?.resume(returning: first)
    }

    func close() {
        let reader = state.withLock { state in
            state.isClosed = true
            defer { state.reader = nil }
            return state.reader?.continuation
        }
        reader?.resume(returning: nil)
    }

    /// The next event; `nil` if the mailbox is closed and empty, or if the reader is cancelled.
    func next() async -> ModelEvent? {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        defer { state.withLock { _ = $0.cancelled.remove(id) } }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (answer, earlier) = state.withLock {
                    state -> (ModelEvent??, CheckedContinuation<ModelEvent?, Never>?) in
                    if state.cancelled.remove(id) != nil { return (.some(nil), nil) }
                    if let event = state.box.take() { return (.some(event), nil) }
                    if state.isClosed { return (.some(nil), nil) }
                    // A stream has one reader: a second replaces the first.
                    let earlier = state.reader?.continuation
                    state.reader = (id, continuation)
                    return (nil, earlier)
                }
                earlier?.resume(returning: nil)
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let reader = state.withLock { state -> CheckedContinuation<ModelEvent?, Never>? in
                guard let reader = state.reader, reader.id == id else {
                    state.cancelled.insert(id)
                    return nil
                }
                state.reader = nil
                return reader.continuation
            }
            reader?.resume(returning: nil)
        }
    }
}
