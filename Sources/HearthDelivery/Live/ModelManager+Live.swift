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

    /// Has `body` called on the main actor each time a model became usable, once for each activation, and never before new
    /// requests get it. A release that was live when the app started counts when ``loadStored()`` finds it, and so does one
    /// that came with the app.
    public func onReady(_ body: @escaping @MainActor @Sendable (ModelAvailability) -> Void) { readyBodies.append(body) }

    /// Has `swap` awaited each time a release became live, before anybody hears of it: the place to load its engine in place of
    /// the old one. Where it throws, ``ModelEvent/swapFailed(_:_:)`` is posted, and nobody is told that the release is ready.
    ///
    /// Where another release of the family becomes live meanwhile, `swap` is called for that one while the call before is still
    /// under way, and either may end first. So the body has to see to it, when it ends, that what is live serves by then.
    public func onActivation(_ swap: @escaping @Sendable (ModelAvailability) async throws -> Void) {
        swapBodies.append(swap)
    }

    /// The same for an installed release; what came with the app goes before an older one.
    func becameLive(_ release: InstalledRelease) async { await becameLive(release, in: release.identity.family) }

    /// The same where perhaps only what came with the app is left of a family.
    ///
    /// To be called whenever something may have become live: asks the disk what is, swaps, then posts, then says that it is ready.
    /// Saying the same twice is harmless.
    func becameLive(_ release: InstalledRelease?, in family: Family) async {
        while true {
            let count = announcements[family]
            let found: ModelAvailability
            do {
                found = try await whatIsLive(of: family)
            } catch {
                Log.write(.info, "delivery.live", "\(family): \(error)")
                guard let release else { return }
                found = .downloaded(release)
            }
            // Another became live while this was read: it may be out of date.
            if announcements[family] == count { return await announce(found, in: family) }
        }
    }

    /// Says what was found to be live of a family, by a look at the disk since which nothing was announced of it.
    func announce(_ model: ModelAvailability, in family: Family) async {
        guard let identity = model.identity else {
            // What is gone is news when it comes back, and whoever saw it before that has to look again.
            announced[family] = nil
            announcements[family, default: 0] += 1
            return
        }
        guard announced[family] != identity else { return }
        announced[family] = identity
        announcements[family, default: 0] += 1
        do {
            for swap in swapBodies { try await swap(model) }
        } catch {
            couldNotLoad(model, error)
            return
        }
        // Another became live meanwhile: that one is the news.
        guard announced[identity.family] == identity else { return }
        if case .downloaded(let release) = model { hub.post(.activated(release)) }
        for body in readyBodies { await body(model) }
    }

    /// To be called where a live release could not be loaded in place of the one before: tells the listeners. The next word on
    /// the release is news again, as for `onActivation`.
    public func couldNotLoad(_ model: ModelAvailability, _ error: any Error) {
        guard let identity = model.identity else { return }
        Log.write(.warning, "delivery.live", "\(identity) is live and cannot be loaded: \(error)")
        if announced[identity.family] == identity { announced[identity.family] = nil }
        if case .downloaded(let release) = model { hub.post(.swapFailed(release, error)) }
    }
}
