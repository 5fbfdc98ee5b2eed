import HearthBase
import HearthCatalog
import HearthStore
import HearthTransfer

/// Checks for updates and pulls them, now or in the background.
struct UpdateChecking: Sendable {
    let updating: Updating
    let pulling: Pulling
    let live: LiveReleases
    let background = BackgroundUpdates()

    /// Finds the model of a family, as fresh as the policy demands.
    func model(
        _ family: Family, policy: ModelPolicy, options: PullOptions,
        progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> ModelAvailability {
        let here: ModelAvailability
        do {
            here = try await live.model(family)
        } catch let error as StoreError where error.code == .notInstalled && policy != .localOnly {
            let reference = ModelReference.family(family, version: nil, variant: nil)
            let offer = try await pulling.resolving.resolve(reference, options: options)
            return .downloaded(try await pulling.pull(offer, options: options, progress: progress).release)
        }
        switch policy {
        case .localOnly: return here
        case .localWithBackgroundUpdate:
            background.start(family) {
                _ = await self.check(of: family, installs: true, options: options) { _ in }
            }
            return here
        case .latest:
            var options = options
            options.refresh = true
            let check = await self.check(of: family, installs: true, options: options, progress: progress)
            try Task.checkCancellation()
            return check.installed.isEmpty ? here : try await live.model(family)
        }
    }

    /// Asks the sources for releases newer than the live ones, and pulls them unless told only to look.
    func check(
        of wanted: Family?, installs: Bool, options: PullOptions,
        progress: @escaping @Sendable (TransferProgress) -> Void
    ) async -> UpdateCheck {
        var check = UpdateCheck()
        do {
            check.findings = try await updating.updates(
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
                check.installed.append(try await pulling.pull(resolved, options: options, progress: progress).release)
            } catch {
                failed(&check, family, error)
            }
        }
        return check
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
