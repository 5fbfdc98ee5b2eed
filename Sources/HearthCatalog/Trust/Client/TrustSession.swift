import Foundation
import HearthBase
import HearthHTTP

/// Performs a ``TrustUpdate``: requests files of an origin, and keeps what was verified.
///
/// ```swift
/// var session = try await TrustSession(metadata: url, http: http, store: store, time: .system)
/// try await session.refresh()
/// let file = try await session.find("models.json")
/// let data = try await session.download(file, below: targets, limit: 4 << 20)
/// ```
package struct TrustSession: Sendable {
    private let metadata: URL
    private let files: SignedFiles
    private let store: TrustStore
    private let now: Date
    private let lock: FileLock
    private var update: TrustUpdate

    /// Locks the store and reads its root.
    /// - Parameter metadata: the address of the folder of the metadata.
    /// - Throws: ``TrustError`` with `no-trusted-root`, `trust-busy`, or that of a damaged root; `FileError`.
    package init(metadata: URL, http: any HTTPClient, store: TrustStore, time: TimeSource) async throws {
        let (lock, root, checked) = try await blocking {
            let lock = try store.lock()
            return (lock, try store.read(.root), store.checked())
        }
        guard let root else {
            throw TrustError(
                .noTrustedRoot, "this device has no trusted root of \(metadata.shown)",
                context: ErrorContext(url: metadata.shown, remedy: "Give the publisher's root once."))
        }
        let now = max(time.now, checked ?? .distantPast)
        do {
            update = try TrustUpdate(root: root, now: now)
        } catch {
            throw Self.named(error, metadata)
        }
        self.metadata = metadata
        self.store = store
        self.lock = lock
        self.now = now
        files = SignedFiles(http: http)
    }

    /// Brings the four roles up to date.
    /// - Throws: ``TrustError``, `CatalogError`, `HTTPError`, `FileError`, `CancellationError`.
    package mutating func refresh() async throws {
        _ = try await perform(.start)
        // Only now: a refresh with a clock that is ahead fails, and must not set the floor for the right time.
        try await blocking { [store, now] in try store.keepChecked(now) }
    }

    /// Finds the signed entry of a file, in the targets role or in those it delegates to.
    /// - Throws: ``TrustError`` with `unknown-target`; as ``refresh()``.
    package mutating func find(_ path: String) async throws -> TargetFile {
        let before = update
        do {
            if let file = try await perform(.search(path)) { return file }
        } catch {
            // Another file may lie in other roles.
            update = before
            throw error
        }
        throw TrustError(
            .unknownTarget, "no signed list of \(metadata.shown) has \(path.quoted)",
            context: ErrorContext(file: path, url: metadata.shown, remedy: "Ask the publisher."))
    }

    /// Downloads and checks a file of at most `limit` bytes.
    /// - Throws: ``TrustError`` with `target-mismatch`, `metadata-missing` or `metadata-too-large`; as ``refresh()``.
    package func download(_ file: TargetFile, below targets: URL, limit: Int) async throws -> Data {
        do {
            return try await files.target(file, below: targets, limit: limit, isConsistent: update.root.isConsistent)
        } catch let error as TrustError {
            throw Self.named(error, metadata)
        }
    }

    /// Runs the update until it is refreshed or a search ends.
    private mutating func perform(_ first: TrustUpdate.Event) async throws -> TargetFile? {
        var event = first
        while true {
            try Task.checkCancellation()
            let effects: [TrustUpdate.Effect]
            do {
                effects = try update.next(event)
            } catch {
                throw Self.named(error, metadata)
            }
            var answer: TrustUpdate.Event?
            for effect in effects {
                switch effect {
                case .forget(let role): try await blocking { [store] in try store.forget(role) }
                case .keep(let role, let data): try await blocking { [store] in try store.keep(role, data) }
                case .load(let role): answer = .stored(try await stored(role))
                case .fetch(_, let name, let limit):
                    answer = try await files.bytes(name, below: metadata, limit: limit).map { .received($0) } ?? .absent
                case .refreshed: return nil
                case .found(let file): return file
                }
            }
            guard let answer else { preconditionFailure("an update stopped without a result") }
            event = answer
        }
    }

    /// A stored file; one that cannot be read is requested anew.
    private func stored(_ role: MetadataRole) async throws -> Data? {
        await blocking { [store] in
            do {
                return try store.read(role)
            } catch {
                Log.write(.warning, "the stored \(role) cannot be read: \(error)")
                return nil
            }
        }
    }

    private static func named(_ error: TrustError, _ url: URL) -> TrustError {
        var error = error
        error.context.url = url.shown
        return error
    }
}
