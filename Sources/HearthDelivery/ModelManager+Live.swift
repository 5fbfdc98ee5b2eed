import HearthBase
import HearthCatalog
import HearthStore

/// Announces releases that become live.
extension ModelManager {
    /// Streams the model events of this process from now on, to any number of listeners. A listener that does not read
    /// loses the oldest events beyond 256.
    ///
    /// ```swift
    /// for await event in manager.events() {
    ///     if case .activated(let release) = event { print("\(release.identity) is live") }
    /// }
    /// ```
    public nonisolated func events() -> AsyncStream<ModelEvent> { hub.stream() }

    /// Registers a callback on the main actor for each model that becomes usable.
    ///
    /// It is called once for each activation, and never before new requests get the model. A release that was live at
    /// the app's start counts when `loadStored()` finds it, and so does a bundled one.
    public func onReady(_ body: @escaping @MainActor @Sendable (ModelAvailability) -> Void) { readyBodies.append(body) }

    /// Registers a callback for each release that becomes live, awaited before its event. Load the new engine there.
    ///
    /// If `swap` throws, ``ModelEvent/swapFailed(_:_:)`` is posted, and the release is not reported as ready.
    ///
    /// If another release of the family becomes live meanwhile, `swap` is called for it before the earlier call ends,
    /// and either may end first. So each call ensures at its end that the release live by then serves.
    public func onActivation(_ swap: @escaping @Sendable (ModelAvailability) async throws -> Void) {
        swapBodies.append(swap)
    }

    /// Announces the live model of a release's family; a bundled one goes before an older download.
    func becameLive(_ release: InstalledRelease) async { await becameLive(release, in: release.identity.family) }

    /// Announces the live model of a family, which may be a bundled one.
    ///
    /// Called whenever something may have become live: reads the live model from the disk, calls `onActivation`, posts
    /// the event, then calls `onReady`. A repetition is harmless.
    func becameLive(_ release: InstalledRelease?, in family: Family) async {
        while true {
            let count = announcements[family]
            let found: ModelAvailability
            do {
                found = try await usableModel(of: family)
            } catch {
                Log.write(.info, "live", "\(family): \(error)")
                guard let release else { return }
                found = .downloaded(release)
            }
            // If another release became live during the read, the result may be out of date: read again.
            if announcements[family] == count { return await announce(found, in: family) }
        }
    }

    /// Announces a live model that was read from the disk after the family's latest announcement.
    func announce(_ model: ModelAvailability, in family: Family) async {
        guard let identity = model.identity else {
            // A model that comes back is announced again, and lookups under way read again.
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
        // Another release became live meanwhile; its own call announces it.
        guard announced[identity.family] == identity else { return }
        if case .downloaded(let release) = model { hub.post(.activated(release)) }
        for body in readyBodies { await body(model) }
    }

    /// Reports that a live release could not be loaded in place of the one before. The release is then announced again
    /// by the next call, as for ``onActivation(_:)``.
    public func couldNotLoad(_ model: ModelAvailability, _ error: any Error) {
        guard let identity = model.identity else { return }
        Log.write(.warning, "live", "\(identity) is live and cannot be loaded: \(error)")
        if announced[identity.family] == identity { announced[identity.family] = nil }
        if case .downloaded(let release) = model { hub.post(.swapFailed(release, error)) }
    }
}
