import HearthBase

/// What an app does when it starts: both at once, and neither makes anybody wait.
///
/// ```swift
/// Task { await manager.loadStored() }        // milliseconds: what was live is live again
/// Task { await manager.checkForUpdates() }   // behind: what is newer is brought, and takes its place
/// ```
extension ModelManager {
    /// Finds out which releases are live, without the network and without opening an engine: milliseconds. Each counts as
    /// having become live, once, so that `onReady` and ``events()`` tell of it. A release that failed its probation was rolled back
    /// before.
    ///
    /// Said again later, it notices what other processes made live since.
    @discardableResult
    public func loadStored() async -> StoredModels {
        var stored = StoredModels()
        var bundled: [Family: BundledRelease] = [:]
        for release in await bundledReleases() { bundled[release.identity.family] = release }
        do {
            try await recover()
        } catch {
            // A home that can only be read, or one at work, is still good for reading.
            Log.write(.info, "delivery.live", "what ended processes left stays until the next start: \(error)")
        }
        let counts = announcements
        do {
            let live = try await store.live()
            stored.problems = live.problems
            for family in Set(live.releases.keys).union(bundled.keys) {
                let pinned = live.pinned[family]
                stored.models[family] = .deciding(
                    bundled: bundled[family], active: live.releases[family], pinned: pinned)
            }
        } catch {
            Log.write(.warning, "delivery.live", "what is stored cannot be read: \(error)")
            stored.failure = error
            stored.models = bundled.mapValues { .bundled($0) }
        }
        for (family, problem) in stored.problems {
            Log.write(.warning, "delivery.live", "\(family) cannot be used: \(problem)")
        }
        // What is gone is news when it comes back.
        let known = stored.failure == nil ? Set(announced.keys) : []
        for family in known.union(stored.models.keys).sorted() {
            if announcements[family] == counts[family] {
                await announce(stored.models[family] ?? .none, in: family)
            } else {
                // It took long until its turn came, and another became live: what was found may be out of date.
                await becameLive(nil, in: family)
            }
        }
        return stored
    }

    /// Asks the origins for what is newer than the live releases, and brings it unless only to look. Never throws and never
    /// gets in anybody's way: what fails, be it for want of a network, is part of the answer and an event.
    ///
    /// - Parameters:
    ///   - wanted: only this family; `nil` for all that are installed.
    ///   - action: whether to bring what is found.
    ///   - options: what downloads may do; on a metered network they are left for another time unless said otherwise.
    ///   - progress: as in `pull`.
    @discardableResult
    public func checkForUpdates(
        of wanted: Family? = nil, _ action: UpdateAction = .install, options: PullOptions = PullOptions(),
        progress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
    ) async -> UpdateCheck {
        var check = UpdateCheck()
        do {
            check.findings = try await updates(
                of: wanted, options.asksAgain ? .now : .asPublished, ignoresMemory: options.ignoreMemory)
        } catch {
            failed(&check, wanted, error)
            return check
        }
        for finding in check.findings {
            let family = finding.family
            guard let resolved = finding.resolved else {
                if let problem = finding.silence {
                    failed(
                        &check, family,
                        DeliveryError(
                            .sourceUnreachable, "the source of \(family) gives no answer: \(problem)",
                            context: ErrorContext(
                                model: family.name, found: problem, remedy: "What is installed works on.")))
                } else if case .noUpdate(let reason) = finding.reason {
                    hub.post(.noUpdate(family, reason))
                }
                continue
            }
            hub.post(.updateFound(finding))
            guard action == .install else { continue }
            do {
                try Task.checkCancellation()
                check.installed.append(try await pull(resolved, options: options, progress: progress).release)
            } catch {
                failed(&check, family, error)
            }
        }
        return check
    }

    private func failed(_ check: inout UpdateCheck, _ family: Family?, _ error: any Error) {
        check.failures.append(UpdateCheck.Failure(family: family, error: error))
        guard !(error is CancellationError) else { return }
        Log.write(.info, "delivery.live", "no update\(family.map { " of \($0)" } ?? ""): \(error)")
        hub.post(.checkFailed(family, error))
    }

    /// The model of a family, as fresh as the policy wants it.
    ///
    /// ```swift
    /// let model = try await manager.model(family, policy: .localWithBackgroundUpdate)
    /// ```
    /// - Parameters:
    ///   - options: what a download may do.
    ///   - progress: as in `pull`; not called for an update that comes behind.
    /// - Returns: the live release or the one that came with the app, never ``ModelAvailability/none``.
    /// - Throws: ``StoreError`` with `not-installed` where nothing is here and the network may not be asked; what `pull` throws
    ///   where nothing is here and nothing can be had.
    public func model(
        _ family: Family, policy: ModelPolicy = .localWithBackgroundUpdate, options: PullOptions = PullOptions(),
        progress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
    ) async throws -> ModelAvailability {
        let here: ModelAvailability
        do {
            here = try await local(family)
        } catch let error as StoreError where error.code == .notInstalled && policy != .localOnly {
            let reference = ModelReference.family(family, version: nil, variant: nil)
            return .downloaded(try await pull(reference, options: options, progress: progress).release)
        }
        switch policy {
        case .localOnly: return here
        case .localWithBackgroundUpdate:
            updateBehind(family, options)
            return here
        case .latest:
            var options = options
            options.asksAgain = true
            let check = await checkForUpdates(of: family, options: options, progress: progress)
            try Task.checkCancellation()
            return check.installed.isEmpty ? here : try await local(family)
        }
    }

    /// What is here of a family, whether anything made it live or not.
    private func local(_ family: Family) async throws -> ModelAvailability {
        let availability = try await availability(of: family)
        if availability != .none { return availability }
        return .downloaded(try await installed(family))
    }

    /// Checks a family once at a time, with nobody waiting for it.
    private func updateBehind(_ family: Family, _ options: PullOptions) {
        guard !looksBehindNoMore, updatesBehind[family] == nil else { return }
        updatesBehind[family] = Task {
            await self.checkForUpdates(of: family, options: options)
            self.updatesBehind[family] = nil
        }
    }

    /// Returns when the updates that came behind are done, for tests and for an app that is about to end.
    public func finishBackgroundUpdates() async {
        for task in updatesBehind.values { await task.value }
    }

    /// Cancels the updates that came behind and begins no other; returns when they have ended and the disk says nothing of them but
    /// what has come. Also in a task that was cancelled. For an app that is about to end.
    public func stopBackgroundUpdates() async {
        looksBehindNoMore = true
        for task in updatesBehind.values { task.cancel() }
        await finishBackgroundUpdates()
    }
}

extension ModelStore {
    /// The live release of each family, what is wrong with those that cannot be used, and what the user holds on to.
    func live() async throws -> (
        releases: [Family: InstalledRelease], problems: [Family: any Error], pinned: [Family: ReleaseIdentity]
    ) {
        try await inspect()
        var releases: [Family: InstalledRelease] = [:]
        var problems: [Family: any Error] = [:]
        var pinned: [Family: ReleaseIdentity] = [:]
        for family in try shelf.families() {
            do {
                let state = try activation.state(of: family)
                pinned[family] = state.pinned
                if let identity = state.active { releases[family] = try read(identity) }
            } catch {
                problems[family] = error
            }
        }
        return (releases, problems, pinned)
    }

    /// A lease on an installed release: until it is given back, no process unlinks its files.
    ///
    /// A release that is just being removed, and put back because somebody else reads it, is waited for.
    /// - Throws: `not-installed`, `home-busy`, `home-unusable`.
    public func lease(_ identity: ReleaseIdentity) async throws -> ReleaseLease {
        try await inspect()
        let leases = ReleaseLeases(layout: layout, fileSystem: fileSystem)
        do {
            return try leases.acquire(identity)
        } catch let error as StoreError where error.code == .notInstalled {
            guard try fileSystem.status(at: layout.folder(of: identity.family), followLinks: false) != nil else {
                throw error
            }
            // Nobody removes anything while the commit lock is ours: now it is there or it is not.
            return try await committing { try leases.acquire(identity) }
        }
    }
}

extension UpdateFinding {
    /// Why nobody could say whether there is something newer; `nil` if somebody did.
    fileprivate var silence: String? {
        if case .noUpdate(.unreachable(let problem)) = reason { return problem }
        if case .kept(_, let problem)? = standing { return problem }
        return nil
    }
}
