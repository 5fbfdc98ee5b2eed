import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthInference
import HearthStore
import HearthTestSupport
import HearthTransfer
import Testing

/// Releases that no engine can load.
@Suite(.timeLimit(.minutes(10))) struct LiveModelsFailureTests {
    private let lab: LiveModelsLab

    init() throws { lab = try LiveModelsLab() }

    @Test func whatCannotBeLoadedLeavesTheOldOneAnswering() async throws {
        let manager = lab.manager()
        try await lab.install("1.0.0", "one", with: manager)
        let models = lab.models(manager)
        let chat = LanguageModelSession(model: try await models.model(lab.family))
        #expect(try await lab.answer(chat) == "one")
        var events = manager.events().makeAsyncIterator()
        try await lab.install("2.0.0", "broken", with: manager)
        #expect(try await lab.answer(chat) == "one")
        _ = await events.next()
        guard case .swapFailed(let release, _)? = await events.next() else {
            Issue.record("nothing was said of it")
            return
        }
        #expect(release.identity.version.name == "2.0.0")
    }

    /// Opens every release except those with the text "broken", and counts the attempts to open these.
    private func models(_ manager: ModelManager, attempts: Locked<Int>, isBroken: Locked<Bool>) -> LiveModels {
        LiveModels(manager: manager) { files in
            let text = try String(contentsOf: files.weights.url, encoding: .utf8)
            if text == "broken" {
                attempts.withLock { $0 += 1 }
                if isBroken.withLock({ $0 }) { throw LLMError(.cannotLoad, "no engine takes it") }
            }
            return NamedEngine(text) {}
        }
    }

    @Test(arguments: [false, true])
    func whatCannotBeLoadedIsTriedAgainAtSensibleMomentsOnly(_ isElsewhere: Bool) async throws {
        let manager = lab.manager()
        try await lab.install("1.0.0", "one", with: manager)
        let (attempts, isBroken) = (Locked(0), Locked(true))
        let models = models(manager, attempts: attempts, isBroken: isBroken)
        func answered() async throws -> String {
            let model = try await models.model(lab.family, policy: .localOnly)
            return try await lab.answer(LanguageModelSession(model: model))
        }
        #expect(try await answered() == "one")
        var events = manager.events().makeAsyncIterator()
        // This process makes it live, or another does and this one finds it at its next use.
        let newer = try await lab.install("2.0.0", "broken", with: isElsewhere ? lab.manager() : manager)
        for _ in 0..<3 { #expect(try await answered() == "one") }
        #expect(attempts.withLock { $0 } == 1, "once, not at every use")
        if !isElsewhere { _ = await events.next() }
        guard case .swapFailed(let release, _)? = await events.next() else {
            Issue.record("nothing was said of it")
            return
        }
        #expect(release.identity == newer.identity)
        // Looking again is such a moment, making it live again another, and unloading a third.
        await manager.loadStored()
        #expect(attempts.withLock { $0 } == 2)
        _ = try await manager.use(lab.family, version: newer.identity.version, variant: nil)
        #expect(attempts.withLock { $0 } == 3)
        #expect(try await answered() == "one")
        #expect(attempts.withLock { $0 } == 3)
        isBroken.withLock { $0 = false }
        await models.unload(lab.family)
        #expect(try await answered() == "broken")
        #expect(try await answered() == "broken")
        #expect(attempts.withLock { $0 } == 4)
    }

    /// If the old release is removed from the disk too, the caller gets the error of the new one.
    @Test func whatCannotBeLoadedIsAnErrorWhereNothingElseIsLeft() async throws {
        let manager = lab.manager()
        let old = try await lab.install("1.0.0", "one", with: manager)
        let (attempts, isBroken) = (Locked(0), Locked(true))
        let models = models(manager, attempts: attempts, isBroken: isBroken)
        let model = try await models.model(lab.family, policy: .localOnly)
        #expect(try await lab.answer(LanguageModelSession(model: model)) == "one")
        try await lab.install("2.0.0", "broken", with: lab.manager())
        try await models.pool.drop(old.identity)
        try await manager.store.remove(lab.family, version: old.identity.version, variant: nil)
        for count in 1...2 {
            let again = try await models.model(lab.family, policy: .localOnly)
            #expect(attempts.withLock { $0 } == count - 1, "nothing is loaded before it is used")
            await #expect(throws: LLMError.self) { try await again.lease() }
            #expect(attempts.withLock { $0 } == count)
        }
        isBroken.withLock { $0 = false }
        #expect(try await lab.answer(LanguageModelSession(model: model)) == "broken")
    }
}
