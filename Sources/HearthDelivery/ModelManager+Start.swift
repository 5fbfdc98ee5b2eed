import HearthBase
import HearthCatalog
import HearthStore
import HearthTransfer

/// The calls of an app's start: both run at the same time, and neither blocks the app.
///
/// ```swift
/// Task { await manager.loadStored() }        // milliseconds: announces the live releases
/// Task { await manager.checkForUpdates() }   // in the background: pulls and activates newer releases
/// ```
extension ModelManager {
    /// Finds the live releases in milliseconds, without the network and without opening an engine.
    ///
    /// Each is announced once, to `onReady` and ``events()``. A release that failed its probation is rolled back first.
    /// A later call notices releases that other processes made live.
    @discardableResult
    package func loadStored() async -> StoredModels {
        var stored = StoredModels()
        let bundled = await bundledReleases()
        do {
            try await recover()
        } catch {
            // A read-only home, or one locked by another process, can still be read.
            Log.write(.info, "live", "what ended processes left stays until the next start: \(error)")
        }
        let counts = announcements
        do {
            (stored.models, stored.problems) = try await store.usable(beside: bundled)
        } catch {
            Log.write(.warning, "live", "what is stored cannot be read: \(error)")
            stored.failure = error
            stored.models = bundled.mapValues { .bundled($0) }
        }
        for (family, problem) in stored.problems { Self.log(problem, of: family) }
        // A model that is gone is announced again when it comes back.
        let known = stored.failure == nil ? Set(announced.keys) : []
        for family in known.union(stored.models.keys).sorted() {
            if announcements[family] == counts[family] {
                await announce(stored.models[family] ?? .none, in: family)
            } else {
                // Another release became live since the read, so the result may be out of date.
                await becameLive(nil, in: family)
            }
        }
        return stored
    }

    /// Asks the sources for releases newer than the live ones, and pulls them if `action` says so. Never throws: a
    /// failure, such as a missing network, is part of the result and an event.
    /// - Parameters:
    ///   - wanted: the only family to check; `nil` for all that are installed.
    ///   - action: whether to pull newer releases.
    ///   - options: the options of downloads; by default they do not use a metered network.
    ///   - progress: as in `pull`.
    @discardableResult
    package func checkForUpdates(
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
            guard let resolved = finding.offer else {
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
        Log.write(.info, "live", "no update\(family.map { " of \($0)" } ?? ""): \(error)")
        hub.post(.checkFailed(family, error))
    }

    /// Finds the model of a family, as fresh as the policy demands.
    ///
    /// ```swift
    /// let model = try await manager.model(family, policy: .localWithBackgroundUpdate)
    /// ```
    /// - Parameters:
    ///   - options: the options of a download.
    ///   - progress: as in `pull`; not called for a background update.
    /// - Returns: the live release or the bundled one, never ``ModelAvailability/none``.
    /// - Throws: `StoreError` with `not-installed` if there is no local model and the policy is
    ///   ``ModelPolicy/localOnly``; the errors of `pull` if there is no local model and it cannot be pulled.
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
            updateInBackground(family, options)
            return here
        case .latest:
            var options = options
            options.asksAgain = true
            let check = await checkForUpdates(of: family, options: options, progress: progress)
            try Task.checkCancellation()
            return check.installed.isEmpty ? here : try await local(family)
        }
    }

    /// The local model of a family, active or not.
    private func local(_ family: Family) async throws -> ModelAvailability {
        let availability = try await availability(of: family)
        if availability != .none { return availability }
        return .downloaded(try await installed(family))
    }

    /// Starts a background update of a family, unless one is running.
    private func updateInBackground(_ family: Family, _ options: PullOptions) {
        guard acceptsBackgroundUpdates, backgroundUpdates[family] == nil else { return }
        backgroundUpdates[family] = Task {
            await self.checkForUpdates(of: family, options: options)
            self.backgroundUpdates[family] = nil
        }
    }

    /// Waits for background updates, for tests and for an app that is about to end.
    public func finishBackgroundUpdates() async {
        for task in backgroundUpdates.values { await task.value }
    }

    /// Cancels background updates and starts no others; for an app that is about to end.
    ///
    /// Returns, also in a cancelled task, when they have ended and only the received bytes are on the disk.
    public func stopBackgroundUpdates() async {
        acceptsBackgroundUpdates = false
        for task in backgroundUpdates.values { task.cancel() }
        await finishBackgroundUpdates()
    }
}

extension UpdateFinding {
    /// The reason why the source gave no answer; `nil` if it answered.
    fileprivate var silence: String? {
        if case .noUpdate(.unreachable(let problem)) = reason { return problem }
        if case .cached(_, let problem)? = freshness { return problem }
        return nil
    }
}
