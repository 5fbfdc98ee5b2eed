import Foundation
import Hearth
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthServer

/// The library over the native API.
@Suite(.timeLimit(.minutes(5))) struct LibraryCallTests {
    @Test func fromNothingToAModelInUse() async throws {
        try await NativeFixture.with { fixture in
            let first = try await fixture.call("GET", "/state").body
            #expect(first["firstRun"]?["step"]?.text == "choose-model")
            #expect(first["library"]?["canAnswer"] == .boolean(false))
            try await fixture.event("row") { $0["row"]?["state"]?.text == "not-downloaded" }
            let models = try await fixture.call("GET", "/models").body
            let row = try #require(models["rows"]?[0])
            #expect(row["id"]?.text == "talker")
            #expect(row["name"]?.text == "The talker")
            #expect(row["action"]?.text == "download")
            #expect(row["sizeBytes"]?.int == NativeFixture.Offer().bytes.count)
            try await fixture.download()
            let state = try await fixture.call("GET", "/state").body
            #expect(state["library"]?["canAnswer"] == .boolean(true))
            #expect(state["library"]?["selected"]?.text == "talker")
            let chosen = try await fixture.call("POST", "/models/talker/select", #"{"as": "text"}"#)
            #expect(chosen.status == 200)
            #expect(chosen.body["row"]?["isDefault"] == .boolean(true))
            #expect(try Configuration.load(home: fixture.hearth.home).defaultModel == "talker")
            try await fixture.event("engine") { $0["text"]?["isLoaded"] == .boolean(true) }
            let vision = try await fixture.call("POST", "/models/talker/select", #"{"as": "vision"}"#)
            #expect(vision.status == 422)
        }
    }

    @Test func aClassifierIsNotChosenToAnswer() async throws {
        try await NativeFixture.with(offers: [.init(role: "classifier")]) { fixture in
            try await fixture.download()
            for body in ["{}", #"{"as": "text"}"#, #"{"as": "vision"}"#] {
                let chosen = try await fixture.call("POST", "/models/talker/select", body)
                #expect(chosen.status == 422)
                #expect(chosen.body["error"]?["code"]?.text == "no-answers")
            }
            #expect(try Configuration.load(home: fixture.hearth.home).defaultModel == nil)
        }
    }

    @Test func anUpdateARollbackAPinAndTheEnd() async throws {
        try await NativeFixture.with { fixture in
            try await fixture.download()
            try NativeFixture.publish([.init(version: "1.1.0")], in: fixture.folder)
            _ = try await fixture.call("POST", "/models/refresh", #"{"now": true}"#)
            try await fixture.event("row") { $0["row"]?["update"]?.text == "1.1.0" }
            _ = try await fixture.call("POST", "/models/talker/download")
            try await fixture.event("row") { $0["row"]?["rollback"]?.text == "1.0.0" }
            let both = try await fixture.call("GET", "/models/talker").body
            #expect(both["releases"]?.items.map { $0["version"]?.text } == ["1.1.0", "1.0.0"])
            let back = try await fixture.call("POST", "/models/talker/rollback")
            #expect(back.body["row"]?["installed"]?.text == "1.0.0")
            #expect(back.body["row"]?["heldBack"]?[0]?["version"]?.text == "1.1.0")
            let pinned = try await fixture.call("POST", "/models/talker/pin", "{}")
            #expect(pinned.body["row"]?["pinned"]?.text == "1.0.0")
            let free = try await fixture.call("POST", "/models/talker/unpin")
            #expect(free.body["row"]?["pinned"] == .null)
            let verified = try await fixture.call("POST", "/models/talker/verify")
            #expect(verified.body["isIntact"] == .boolean(true))
            #expect(try await fixture.call("DELETE", "/models/talker").status == 200)
            let rows = try await fixture.call("GET", "/models").body["rows"]
            #expect(rows?[0]?["presence"]?.text == "none")
            #expect(try await fixture.call("POST", "/models/talker/rollback").status == 404)
        }
    }

    @Test func whatHasNoDigestComesAfterAYes() async throws {
        try await NativeFixture.with(offers: [.init(hasDigest: false)]) { fixture in
            await fixture.service.library.library.refresh()
            _ = try await fixture.call("POST", "/models/talker/download", "{}")
            let failed = try await fixture.event("row") { $0["row"]?["state"]?.text == "failed" }
            #expect(failed["row"]?["code"]?.text == "digest-missing")
            _ = try await fixture.call("POST", "/models/talker/download", #"{"unverified": true}"#)
            try await fixture.event("row") { $0["row"]?["state"]?.text == "downloaded" }
        }
    }

    @Test func anInstalledModelHasItsDescriptionWithoutItsOrigin() async throws {
        try await NativeFixture.with { fixture in
            try await fixture.download()
            let here = try await fixture.hearth.manager.localModels()
            #expect(here.map(\.model.summary) == ["Talks a lot."])
        }
    }

    /// Wrong bytes are shown as a failure after a restart too, until a person tries again.
    @Test func aCorruptedDownloadWaitsForAPerson() async throws {
        let folder = try TemporaryFolder()
        let offer = NativeFixture.Offer()
        let first = try await NativeFixture(folder: folder)
        try folder.write("origin/\(offer.filename)", offer.bytes.dropLast() + [7])
        await first.service.library.library.refresh()
        _ = try await first.call("POST", "/models/talker/download", "{}")
        let failed = try await first.event("row") { $0["row"]?["state"]?.text == "failed" }
        #expect(failed["row"]?["code"]?.text == "checksum-mismatch")
        await first.close()

        let second = try await NativeFixture(folder: folder)
        try folder.write("origin/\(offer.filename)", offer.bytes.dropLast() + [7])
        await second.service.library.library.refresh()
        await second.service.library.readTransfers()
        await second.service.library.tell()
        let row = try #require(try await second.call("GET", "/models").body["rows"]?[0])
        #expect(row["state"]?.text == "failed" && row["code"]?.text == "checksum-mismatch")
        #expect(row["action"]?.text == "download")
        let transfers = try await second.call("GET", "/transfers").body["transfers"]
        #expect(transfers?.items.map { $0["state"]?.text } == ["corrupted"])
        try folder.write("origin/\(offer.filename)", offer.bytes)
        _ = try await second.call("POST", "/models/talker/download", "{}")
        try await second.event("row") { $0["row"]?["state"]?.text == "downloaded" }
        await second.close()
    }

    @Test func whatDoesNotFitIsRefused() async throws {
        try await NativeFixture.with(offers: [.init(memory: 900_000_000_000_000)]) { fixture in
            await fixture.service.library.library.refresh()
            let reply = try await fixture.call("POST", "/models/talker/download", "{}")
            #expect(reply.status == 422)
            #expect(reply.body["error"]?["code"]?.text == "not-enough-memory")
        }
    }

    @Test func aModelIsListedBySettingsBeforeItWasEverHere() async throws {
        try await NativeFixture.with(offers: []) { fixture in
            try NativeFixture.publish([.init()], in: fixture.folder)
            let address = fixture.folder.path("origin/models.json").url.absoluteString + "#talker"
            try await SettingsFile(home: fixture.hearth.home).change {
                try $0.set("library.models", to: address)
                $0.origins = [:]
            }
            await fixture.service.library.library.refresh()
            await fixture.service.library.tell()
            let row = try #require(try await fixture.call("GET", "/models").body["rows"]?[0])
            #expect(row["isListed"] == .boolean(true))
            #expect(row["state"]?.text == "not-downloaded")
            // It is fetched from its own list, which is no origin.
            #expect(try await fixture.call("POST", "/models/talker/download", "{}").status == 202)
            try await fixture.event("row") { $0["row"]?["state"]?.text == "downloaded" }
            #expect(try await fixture.call("DELETE", "/models/listed/talker").status == 200)
            #expect(try Configuration.load(home: fixture.hearth.home).library.models.isEmpty)
        }
    }

    @Test func twoAddressesWithOneFileNameAreTwoModels() async throws {
        let bytes = NativeFixture.Offer().bytes
        let server = try FaultServer(FaultServer.file(bytes))
        try await NativeFixture.with(offers: []) { fixture in
            var ids: Set<String> = []
            for place in ["/a/tiny.gguf", "/b/tiny.gguf", "/b/tiny.gguf"] {
                let order = #"{"reference": "\#(try server.url(place).absoluteString)"}"#
                let added = try await fixture.call("POST", "/models/add", order)
                #expect(added.status == 200, "\(added.body)")
                let row = try #require(added.body["rows"]?[0])
                #expect(row["name"]?.text == "tiny")
                ids.insert(try #require(row["id"]?.text))
            }
            #expect(ids.count == 2 && ids.allSatisfy { $0.hasPrefix("tiny-") })
            let rows = try await fixture.call("GET", "/models").body["rows"]?.items ?? []
            #expect(Set(rows.compactMap { $0["id"]?.text }) == ids)
            // Each is downloaded from its own address.
            for id in ids {
                let order = #"{"unverified": true}"#
                #expect(try await fixture.call("POST", "/models/\(id)/download", order).status == 202)
                let end = try await fixture.event("row") {
                    $0["row"]?["id"]?.text == id && ["downloaded", "failed"].contains($0["row"]?["state"]?.text)
                }
                #expect(end["row"]?["state"]?.text == "downloaded", "\(end)")
            }
            #expect(try Configuration.load(home: fixture.hearth.home).library.models.count == 2)
        }
    }

    @Test(
        arguments: [
            ("org/repo", "hf:org/repo"), ("hf:org/repo:file.gguf", "hf:org/repo:file.gguf"),
            ("https://huggingface.co/org/repo/tree/main", "hf:org/repo"), (" org/repo \n", "hf:org/repo"),
            ("https://models.example.org/models.json", "https://models.example.org/models.json"),
            ("smollm2", "smollm2"),
        ])
    func referencesAreWhatPeoplePaste(text: String, reference: String) throws {
        #expect(try LibraryDesk.reference(AddOrder(reference: text)) == reference)
    }
}
