import HearthBase

extension ModelManager {
    /// Pulls again what a transfer was begun for: its bytes are taken up where they end.
    /// - Throws: ``TransferControlError`` with `not-resumable`; otherwise as `pull`.
    public func pull(
        again plan: TransferPlan, options: PullOptions = PullOptions(),
        progress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
    ) async throws -> PullOutcome {
        let (resolved, options) = try await resolve(again: plan, options: options)
        return try await pull(resolved, options: options, progress: progress)
    }

    /// The release a transfer was begun for, and the options with what its plan remembers of them. The version it was begun for is
    /// taken whatever is newer by now; it counts as named where the user named it.
    /// - Throws: ``TransferControlError`` with `not-resumable`; otherwise as `resolve`.
    public func resolve(
        again plan: TransferPlan, options: PullOptions = PullOptions()
    ) async throws -> (ResolvedRelease, PullOptions) {
        guard let reference = plan.reference else {
            throw TransferControlError(
                .notResumable, "nobody wrote down what \(plan.label) was fetched for",
                context: ErrorContext(
                    model: plan.release?.description, file: plan.label,
                    remedy: "Pull it again: the bytes received are kept."))
        }
        var options = options
        options.activate = options.activate && plan.activates
        var resolved = try await resolve(reference, options: options)
        resolved.isNamed = resolved.isNamed && plan.isNamed
        resolved.triesHeldBack = resolved.isNamed
        return (resolved, options)
    }

    /// After a restart: goes on with every transfer that was under way when its process ended. Nobody asks for it now, so what is
    /// held back is not tried again, also where it was named: its error is `held-back`.
    /// - Returns: what was brought back, and the error of what was not.
    /// - Throws: `FileError` where the transfers cannot be listed.
    public func restoreTransfers(
        options: PullOptions = PullOptions()
    ) async throws -> [(plan: TransferPlan, error: (any Error)?)] {
        try await transfers.restore { plan in
            var (resolved, options) = try await self.resolve(again: plan, options: options)
            resolved.triesHeldBack = false
            _ = try await self.pull(resolved, options: options)
        }
    }
}
