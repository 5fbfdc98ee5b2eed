import HearthBase

/// What follows when a release becomes live.
extension ModelManager {
    /// What happens to the models from now on, in this process. Any number of listeners; one that is busy misses nothing but
    /// what a newer event of the same family made out of date.
    ///
    /// ```swift
    /// for await event in manager.events() {
    ///     if case .activated(let release) = event { print("\(release.identity) is live") }
    /// }
    /// ```
    public nonisolated func events() -> AsyncStream<ModelEvent> { hub.stream() }

    /// Has `body` called on the main actor each time a release became live, once for each activation, and never before new
    /// requests get it. A release that was live when the app started counts when ``loadStored()`` finds it.
    public func onReady(_ body: @escaping @MainActor @Sendable (InstalledRelease) -> Void) { readyBodies.append(body) }

    /// Has `swap` awaited each time a release became live, before anybody hears of it: the place to load its engine in place of
    /// the old one. Where it throws, ``ModelEvent/swapFailed(_:_:)`` is posted, and nobody is told that the release is ready.
    public func onActivation(_ swap: @escaping @Sendable (InstalledRelease) async throws -> Void) {
        swapBodies.append(swap)
    }

    /// To be called whenever the disk says that a release is live: swaps, then posts, then says that it is ready. Saying the
    /// same twice is harmless.
    func becameLive(_ release: InstalledRelease) async {
        let family = release.identity.family
        guard announced[family] != release.identity else { return }
        announced[family] = release.identity
        do {
            for swap in swapBodies { try await swap(release) }
        } catch {
            Log.write(.warning, "delivery.live", "\(release.identity) is live and cannot be loaded: \(error)")
            // The next word on this release is news again.
            if announced[family] == release.identity { announced[family] = nil }
            hub.post(.swapFailed(release, error))
            return
        }
        // Another became live meanwhile: that one is the news.
        guard announced[family] == release.identity else { return }
        hub.post(.activated(release))
        for body in readyBodies { await body(release) }
    }
}
