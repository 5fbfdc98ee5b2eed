import Foundation
import HearthBase

/// What may end the program: the engine's own code, at a file it was not made for.
extension ModelStore {
    /// Has a preparer make something. A process that ends meanwhile leaves a mark, with how far it came; one that was told to end does not.
    nonisolated func build(
        _ recipe: PreparationRecipe, of release: InstalledRelease, by preparer: any ReleasePreparer,
        at work: PreparedWork, progress: @escaping @Sendable (Double) -> Void
    ) async throws {
        let target = preparedFiles.name(of: recipe, in: release)
        let mark = MakingMark(
            ActivityMark(.prepare, at: time.now, target: target), of: release.identity,
            in: MarkFiles(layout: layout, fileSystem: fileSystem))
        do {
            try await begin(mark)
            try await withTaskCancellationHandler {
                try await preparer.build(recipe, of: release, at: work.path) { fraction in
                    mark.reached(fraction)
                    progress(fraction)
                }
            } onCancel: {
                // Nobody waits for it here: whoever ends the program waits for the whole.
                Task { await self.end(mark) }
            }
            try Task.checkCancellation()
            await end(mark)
        } catch {
            await end(mark)
            throw error
        }
    }

    private func begin(_ mark: MakingMark) throws { try mark.begin() }

    private func end(_ mark: MakingMark) { mark.end() }

    /// Has something not made that ended processes while it was. Where somebody has it made once more all the same, one more end has it
    /// left at that, until it is asked for again. Under the commit lock.
    /// - Throws: ``ActivationError`` with `artefact-refused`.
    func refuseWhatEnds(
        _ recipe: PreparationRecipe, of release: InstalledRelease, under lease: ReleaseLease?
    ) throws {
        let making = preparedFiles.name(of: recipe, in: release)
        let left = try marks.all(of: release.identity.family).filter {
            $0.release == release.identity && $0.mark?.target == making && $0.isLeftOfMaking(at: time.now)
        }
        let isRefused = try preparedFiles.refusal(of: recipe, for: release) != nil
        guard let objection = MakingEnds(left.compactMap(\.mark)).objection(isRefused: isRefused) else { return }
        if !isRefused {
            let reason = "\(objection); 'hearth use \(release.identity)' has it made once more"
            try preparedFiles.refuse(recipe, for: release, because: reason, at: time.now) {
                try isRead(release.identity, besides: lease)
            }
        }
        for mark in left { try marks.remove(mark.release, token: mark.token) }
        throw ActivationError.artefactRefused(HomeLayout.join(release.folder, recipe.fileName), of: release, objection)
    }

    /// What was made all the same ends no program. Costs a look for the folder of the marks where there are none.
    func forgetEnds(of identity: ReleaseIdentity) {
        // One that cannot be looked for stays, and is looked for the next time.
        guard (try? shelf.isFolder(layout.marksFolder(of: identity))) == true else { return }
        clearMarks(of: identity.family) { $0.release == identity && $0.isLeftOfMaking(at: time.now) }
    }
}

extension MarkFiles.Found {
    /// Whether a process has ended while it made something of the release, and left this behind.
    fileprivate func isLeftOfMaking(at date: Date) -> Bool {
        guard let mark, mark.stage == .prepare, mark.target != nil else { return false }
        return mark.isLeft(at: date) { $0.isRunning }
    }
}
