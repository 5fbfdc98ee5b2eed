import HearthBase
import HearthCatalog
import HearthDelivery
import HearthStore
import HearthTestSupport
import HearthTransfer
import Testing

@testable import Hearth

/// Engines that know whether they are loaded, and a count of everything that happened to them.
final class TrackedEngines: Sendable {
    /// An engine that only knows its release, and complains when it is used after its end.
    final class Engine: Sendable {
        let release: ReleaseIdentity
        let number: Int
        private let counts: Locked<Counts>
        private let isLoaded = Locked(true)

        init(_ release: ReleaseIdentity, number: Int, counts: Locked<Counts>) {
            self.release = release
            self.number = number
            self.counts = counts
        }

        /// Answers with the release that is loaded.
        func use() -> ReleaseIdentity {
            if !isLoaded.withLock({ $0 }) { counts.withLock { $0.usesAfterEnd += 1 } }
            return release
        }

        func end() {
            let was = isLoaded.withLock { isLoaded in
                defer { isLoaded = false }
                return isLoaded
            }
            counts.withLock { counts in
                counts.unloads += 1
                counts.loadedNow -= 1
                if !was { counts.secondUnloads += 1 }
            }
        }
    }

    struct Counts: Sendable, Equatable {
        var loads = 0
        var unloads = 0
        var secondUnloads = 0
        var usesAfterEnd = 0
        var loadedNow = 0
        var mostLoaded = 0
    }

    /// A release of the family `tiny`.
    static func release(_ version: String) throws -> ReleaseIdentity {
        ReleaseIdentity(
            family: try #require(Family("tiny")), version: try #require(ReleaseVersion(version)),
            variant: Variant("q4"))
    }

    let counts = Locked(Counts())
    private let failing = Locked<Set<ReleaseIdentity>>([])
    private let gates = Locked<[ReleaseIdentity: AsyncStream<Never>]>([:])

    /// Lets the loads of a release fail, or go through again.
    func fail(_ release: ReleaseIdentity, _ isFailing: Bool = true) {
        failing.withLock { failing in
            if isFailing { failing.insert(release) } else { failing.remove(release) }
        }
    }

    /// Holds the next load of a release until the returned gate is finished, or the load is cancelled.
    func hold(_ release: ReleaseIdentity) -> AsyncStream<Never>.Continuation {
        let (stream, gate) = AsyncStream<Never>.makeStream()
        gates.withLock { $0[release] = stream }
        return gate
    }

    func makeCache(budget: UInt64 = .max) -> ModelCache<Engine> {
        ModelCache(budget: budget) { release in
            if let gate = self.gates.withLock({ $0.removeValue(forKey: release) }) { for await _ in gate {} }
            try Task.checkCancellation()
            if self.failing.withLock({ $0.contains(release) }) {
                throw StoreError(.releaseDamaged, "\(release) cannot be loaded")
            }
            let number = self.counts.withLock { counts in
                counts.loads += 1
                counts.loadedNow += 1
                counts.mostLoaded = max(counts.mostLoaded, counts.loadedNow)
                return counts.loads
            }
            return LoadedEngine(Engine(release, number: number, counts: self.counts), bytes: 10)
        } unload: { _, engine in
            await Task.yield()
            engine.end()
        }
    }

    var now: Counts { counts.withLock { $0 } }
}

/// The stable code of the error a body throws, `nil` if it throws none.
func code<Result>(of body: () async throws -> Result) async -> String? {
    do {
        _ = try await body()
        return nil
    } catch {
        return (error as? any HearthFailure)?.codeText ?? "\(type(of: error))"
    }
}
