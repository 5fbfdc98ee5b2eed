import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthTestSupport
import Testing

@testable import HearthServer

/// What a start of the server brings with it: the saved models in memory, and newer releases of the models in use.
@Suite(.timeLimit(.minutes(5))) struct StartWorkTests {
    private func version(_ fixture: NativeFixture, _ family: String = "talker") async throws -> String? {
        let family = try #require(Family(family))
        return try await fixture.hearth.manager.availability(of: family).identity?.version.name
    }

    /// The home of a new start, after a change of its settings.
    private func restarted(_ fixture: NativeFixture, _ settings: [String: String]) async throws -> ServedHome {
        try await SettingsFile(home: fixture.hearth.home).change { configuration in
            for (key, value) in settings { try configuration.set(key, to: value) }
        }
        await fixture.home.reload()
        return fixture.home
    }

    @Test(arguments: [("auto", "1.1.0"), ("offer", "1.0.0"), ("off", "1.0.0")])
    func theModelInUseIsUpdatedAsTheSettingSays(updates: String, expected: String) async throws {
        try await NativeFixture.with(offers: [.init(), .init(family: "other")]) { fixture in
            for family in ["talker", "other"] { try await fixture.download(family) }
            let home = try await restarted(fixture, ["defaultModel": "talker", "serve.updates": updates])
            try NativeFixture.publish(
                [.init(version: "1.1.0"), .init(family: "other", version: "1.1.0")], in: fixture.folder)
            let manager = try home.present.hearth.manager
            var events = manager.events().makeAsyncIterator()
            await home.updateModelsInUse()
            #expect(try await version(fixture) == expected)
            #expect(try await version(fixture, "other") == "1.0.0", "it is not in use")
            guard updates == "offer" else { return }
            guard case .updateFound(let finding)? = await events.next() else {
                Issue.record("no offer")
                return
            }
            #expect(finding.offer?.release.identity.version.name == "1.1.0")
        }
    }

    @Test func aPinnedModelStays() async throws {
        try await NativeFixture.with { fixture in
            try await fixture.download()
            let home = try await restarted(fixture, ["defaultModel": "talker"])
            let manager = try home.present.hearth.manager
            try await manager.pin(try await manager.installed(try #require(Family("talker"))).identity)
            try NativeFixture.publish([.init(version: "1.1.0")], in: fixture.folder)
            await home.updateModelsInUse()
            #expect(try await version(fixture) == "1.0.0")
        }
    }

    @Test(arguments: [("300", true), ("always", true), ("0", false)])
    func theSavedModelIsLoadedForAsLongAsAnIdleOneStays(keepAlive: String, isLoaded: Bool) async throws {
        try await NativeFixture.with { fixture in
            try await fixture.download()
            let home = try await restarted(fixture, ["defaultModel": "talker", "serve.keepAlive": keepAlive])
            await home.openSavedModels()
            let models = await home.status()["models"]?.items ?? []
            #expect(models.compactMap { $0["name"]?.text } == (isLoaded ? ["talker"] : []))
            let expires = models.first?["expires"]
            #expect((expires != nil) == (keepAlive == "300"))
        }
    }

    @Test func withoutAModelAStartLoadsNothing() async throws {
        try await NativeFixture.with { fixture in
            await fixture.home.openSavedModels()
            await fixture.home.updateModelsInUse()
            #expect(await fixture.home.status()["models"]?.items.isEmpty == true)
        }
    }
}
