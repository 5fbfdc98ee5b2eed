import Foundation
import Hearth
import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthServer

@Suite struct HearthModelsTests {
    private func hearth(_ folder: TemporaryFolder) throws -> Hearth {
        try Hearth(home: folder.path("home"), configuration: Configuration(), engines: EngineRegistry())
    }

    private func failure(_ body: () async throws -> Void) async -> APIFailure? {
        await #expect(throws: APIFailure.self) { try await body() }
    }

    @Test(
        arguments: [
            "/etc/passwd", "../model.gguf", "model.gguf", "hf:org/model", "https://a.example/models.json",
            "file:///x",
            "\u{0}", "a b", "@", ":", String(repeating: "a", count: 100_000), "unknown", "unknown:q4_1",
            "unknown@1.0.0",
        ])
    func aNameThatIsNoInstalledModelIsMissing(name: String) async throws {
        let folder = try TemporaryFolder()
        let models = HearthModels(try hearth(folder))
        #expect(await failure { _ = try await models.model(name) }?.status == 404)
        #expect(await failure { try await models.delete(name) }?.status == 404)
    }

    @Test(arguments: ["/etc/passwd", "./x.gguf", "https://a.example/models.json", "file:///etc/models.json", ""])
    func aPathOrAnAddressIsNotPulled(name: String) async throws {
        let folder = try TemporaryFolder()
        let models = HearthModels(try hearth(folder))
        #expect(await failure { try await models.pull(name) { _ in } }?.status == 404)
    }

    @Test func withoutAModelTheFailureSaysSo() async throws {
        let folder = try TemporaryFolder()
        let models = HearthModels(try hearth(folder))
        #expect(try await models.models().isEmpty)
        #expect(await failure { _ = try await models.model(nil) }?.message == "no model is installed")
    }

    @Test func aModelAnswersToItsNamesAndAliases() {
        var model = ServedModel(name: "mine")
        model.aliases = ["other"]
        for name in ["mine", "other", "mine:latest"] { #expect(model.answers(to: name)) }
        #expect(!model.answers(to: "gpt-4.1"))
    }

    @Test func anIdleModelLeavesAfterItsTime() async throws {
        let clock = ManualClock()
        let warmth = ModelWarmth(time: clock.time)
        let unloaded = Locked(0)
        let (ends, source) = AsyncStream<Void>.makeStream()
        func use(_ keepAlive: Duration?) {
            warmth.used("m", keepAlive: keepAlive) {
                unloaded.withLock { $0 += 1 }
                source.yield()
            }
        }
        use(.seconds(600))
        #expect(warmth.expiry(of: "m") != nil)
        await clock.sleepers(atLeast: 1)
        clock.advance(by: .seconds(301))
        #expect(unloaded.withLock { $0 } == 0)
        clock.advance(by: .seconds(300))
        for await _ in ends { break }
        #expect(unloaded.withLock { $0 } == 1)
        // A later use replaces the time.
        use(.seconds(300))
        #expect(warmth.expiry(of: "m") != nil)
        for limit in [nil, KeepAlive.longest] {
            use(limit)
            #expect(warmth.expiry(of: "m") == nil)
        }
    }

    /// A conversation of the page shortens no time that a client asked for.
    @Test(.timeLimit(.minutes(2))) func aConversationShortensNoClientsTime() async throws {
        try await NativeFixture.with { fixture in
            try await fixture.download()
            let clock = ManualClock()
            var settings = HearthModels.Settings()
            settings.keepAlive = .seconds(300)
            let models = HearthModels(fixture.hearth, settings: settings, time: clock.time)
            let model = try await models.model("talker")
            _ = try await models.engine(for: model).capabilities
            await models.usedByPage("talker")
            await clock.sleepers(atLeast: 1)
            await models.used(model, keepAlive: .seconds(3600))
            await models.usedByPage("talker")
            let pool = fixture.hearth.models.pool
            pool.dropIdle()
            clock.advance(by: .seconds(301))
            #expect(await models.loaded().first?.expires != nil)
            await clock.sleepers(atLeast: 1)
            clock.advance(by: .seconds(4000))
            while await !models.loaded().isEmpty { await Task.yield() }
        }
    }

    /// A change of settings that leaves the engines as they are.
    @Test(.timeLimit(.minutes(2))) func otherChoicesLetAWarmModelLeaveAllTheSame() async throws {
        try await NativeFixture.with { fixture in
            try await fixture.download()
            let clock = ManualClock()
            var settings = HearthModels.Settings()
            settings.keepAlive = .seconds(300)
            let models = HearthModels(fixture.hearth, settings: settings, time: clock.time)
            let model = try await models.model("talker")
            _ = try await models.engine(for: model).capabilities
            await models.used(model, keepAlive: nil)
            await clock.sleepers(atLeast: 1)
            settings.answersAnyName = true
            models.use(settings)
            #expect(try await models.model("unknown") == model)
            #expect(await models.loaded().count == 1)
            clock.advance(by: .seconds(301))
            while await !models.loaded().isEmpty { await Task.yield() }
        }
    }

    @Test(.timeLimit(.minutes(2))) func aLeasedModelIsAnswering() async throws {
        try await NativeFixture.with { fixture in
            try await fixture.download()
            let models = HearthModels(fixture.hearth)
            let model = try await models.model("talker")
            let live = try #require(try await models.engine(for: model) as? LiveModel)
            let lease = try await live.lease()
            #expect(await models.isAnswering(model))
            lease.end()
            // The page loads the new model for a moment, too.
            while await models.isAnswering(model) { await Task.yield() }
        }
    }
}
