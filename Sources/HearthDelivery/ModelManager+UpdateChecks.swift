import HearthBase
import HearthCatalog
import HearthStore
import HearthTransfer

/// Checks for updates and pulls them, now or in the background.
extension ModelManager {
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
            here = try await localModel(of: family)
        } catch let error as StoreError where error.code == .notInstalled && policy != .localOnly {
            let reference = ModelReference.family(family, version: nil, variant: nil)
            return .downloaded(try await pull(reference, options: options, progress: progress).release)
        }
        switch policy {
        case .localOnly: return here
        case .localWithBackgroundUpdate:
            background.start(family) { await self.checkForUpdates(of: family, options: options) }
            return here
        case .latest:
            var options = options
            options.refresh = true
            let check = await checkForUpdates(of: family, options: options, progress: progress)
            try Task.checkCancellation()
            return check.installed.isEmpty ? here : try await localModel(of: family)
        }
    }

    /// Asks the sources for releases newer than the live ones, and pulls them. Never throws: a
    /// failure, such as a missing network, is part of the result and an event. What brought wrong bytes before is not
    /// fetched again: only a pull that a person asks for does that.
    ///
    /// ```swift
    /// Task { await manager.loadStoredModel() }   // milliseconds: announces the live releases
    /// Task { await manager.checkForUpdates() }   // in the background: pulls and activates newer releases
    /// ```
    /// - Parameters:
    ///   - wanted: the only family to check; `nil` for all that are installed.
    ///   - installs: whether to pull newer releases; otherwise only catalogs are fetched.
    ///   - options: the options of downloads; by default they do not use a metered network.
    ///   - progress: as in `pull`.
    @discardableResult
    public func checkForUpdates(
        of wanted: Family? = nil, installs: Bool = true, options: PullOptions = PullOptions(),
        progress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
    ) async -> UpdateCheck {
        var options = options
        options.isUnattended = true
        return await check(of: wanted, installs: installs, options: options, progress: progress)
    }

    /// The same as the options say, such as for a person who asks for updates.
    package func check(
        of wanted: Family? = nil, installs: Bool = true, options: PullOptions,
        progress: @escaping @Sendable (TransferProgress) -> Void
    ) async -> UpdateCheck {
        var check = UpdateCheck()
        do {
            check.findings = try await updates(
                of: wanted, options.refresh ? .now : .asPublished, ignoresMemory: options.ignoreMemory)
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
                    live.events.post(.noUpdate(family, reason))
                }
                continue
            }
            live.events.post(.updateFound(finding))
            guard installs else { continue }
            do {
                try Task.checkCancellation()
                check.installed.append(try await pull(resolved, options: options, progress: progress).release)
            } catch {
                failed(&check, family, error)
            }
        }
        return check
    }

    /// Looks for a newer release of a family in the background, as ``checkForUpdates(of:installs:options:progress:)`` does,
    /// and returns when that has ended. ``stopBackgroundUpdates()`` ends it too.
    package func checkInBackground(_ family: Family, installs: Bool) async {
        await background.run(family) { await self.checkForUpdates(of: family, installs: installs) }
    }

    /// The local model of a family, active or not.
    private func localModel(of family: Family) async throws -> ModelAvailability {
        let availability = try await availability(of: family)
        return try await availability == .none ? .downloaded(installed(family)) : availability
    }

    private func failed(_ check: inout UpdateCheck, _ family: Family?, _ error: any Error) {
        check.failures.append((family, error))
        guard !(error is CancellationError) else { return }
        Log.write(.info, "live", "no update\(family.map { " of \($0)" } ?? ""): \(error)")
        live.events.post(.checkFailed(family, error))
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
