import Foundation
import Hearth
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthServer

/// Model files that a page sends, and the search of the catalog.
@Suite(.timeLimit(.minutes(5))) struct UploadCallTests {
    /// A small model with weights, and nothing behind them.
    private static func model() -> [UInt8] {
        let header = Array(GGUFBuilder.small.header())
        return header + [UInt8](repeating: 0, count: (32 - header.count % 32) % 32 + 128 + 64 * 4)
    }

    private func upload(
        _ fixture: NativeFixture, _ name: String, _ body: RequestBody, type: String = "application/octet-stream"
    ) async throws -> (status: Int, body: JSONValue) {
        let request = ServerRequest(
            method: "POST", target: "/hearth/v1/models/upload?name=\(name)", headers: ["Content-Type": type],
            caller: .owner, body: body)
        let reply = try #require(await fixture.service.reply(to: request))
        return (reply.status, try JSONValue(parsing: Data(try await reply.collectedBody())))
    }

    /// What uploads have left on the disk.
    private func leftovers(_ fixture: NativeFixture) async throws -> [String] {
        let folder = fixture.hearth.home.appending("server").appending("uploads")
        let files = try? LocalFileSystem().contents(of: folder)  // missing before the first upload
        return (files ?? []) + (try await fixture.hearth.manager.transfers.list()).map(\.label)
    }

    @Test func aFileIsInstalledAndUsable() async throws {
        try await NativeFixture.with(offers: []) { fixture in
            let bytes = Self.model()
            let reply = try await upload(fixture, "my-model-v1.2.0-q4_1.gguf", RequestBody(bytes))
            #expect(reply.status == 201, "\(reply.body)")
            let row = try #require(reply.body["row"])
            #expect(row["id"]?.text == "my-model" && row["installed"]?.text == "1.2.0")
            #expect(row["presence"]?.text == "downloaded" && row["isVerified"] == .boolean(true))
            let left = try await leftovers(fixture)
            #expect(left.isEmpty, "\(left)")
            let details = try await fixture.call("GET", "/models/my-model").body
            #expect(details["freedBytes"]?.int == bytes.count)
            // The same file again changes nothing.
            let again = try await upload(fixture, "my-model-v1.2.0-q4_1.gguf", RequestBody(bytes))
            let installed = try await fixture.hearth.manager.installed()
            #expect(again.status == 201 && installed.count == 1)
        }
    }

    @Test func whatIsNoModelIsRefusedAndLeavesNothing() async throws {
        try await NativeFixture.with(offers: []) { fixture in
            let good = Self.model()
            let rubbish = (0..<200).map { UInt8(truncatingIfNeeded: $0 &* 97) }
            let hugeCounts = Array("GGUF".utf8) + [3, 0, 0, 0] + [UInt8](repeating: 0xFF, count: 64)
            let cases: [(name: String, bytes: [UInt8], status: Int, code: String?)] = [
                ("a.gguf", rubbish, 422, "not-gguf"), ("a.gguf", [], 422, "not-gguf"),
                ("a.gguf", Array("GGU".utf8), 422, "not-gguf"), ("a.gguf", hugeCounts, 422, nil),
                ("a.gguf", Array(good.prefix(40)), 422, "gguf-truncated"),
                ("a.gguf", Array(NativeFixture.Offer().bytes), 422, "gguf-corrupt"),  // no weights
                ("a.gguf", good.dropLast(1), 422, "gguf-truncated"),
                ("a.gguf", good + rubbish, 422, "gguf-trailing-bytes"),
                ("", good, 422, "unusable-name"), ("a.bin", good, 422, "unusable-name"),
                (".gguf", good, 422, "unusable-name"), ("..%2Fa.gguf", good, 422, "unusable-name"),
                ("%2Fetc%2Fa.gguf", good, 422, "unusable-name"), ("a%5C..%00.gguf", good, 422, "unusable-name"),
                ("%E2%80%AEa.gguf", good, 422, "unusable-name"),
                ("\(String(repeating: "a", count: 300)).gguf", good, 422, "unusable-name"),
            ]
            for (name, bytes, status, code) in cases {
                let reply = try await upload(fixture, name, RequestBody(bytes))
                #expect(reply.status == status, "\(name) \(bytes.count) \(reply.body)")
                if let code { #expect(reply.body["error"]?["code"]?.text == code, "\(name)") }
                let message = try #require(reply.body["error"]?["message"]?.text)
                #expect(!message.isEmpty && !message.contains(fixture.folder.path.string), "\(message)")
            }
            let form = try await upload(fixture, "a.gguf", RequestBody(good), type: "text/plain")
            #expect(form.status == 415)
            let huge = RequestBody(declaredLength: 1 << 62, drained: {})
            let reply = try await upload(fixture, "a.gguf", huge)
            #expect(reply.status == 507 && reply.body["error"]?["code"]?.text == "insufficient-storage")
            let left = try await leftovers(fixture)
            #expect(left.isEmpty, "\(left)")
            let installed = try await fixture.hearth.manager.installed()
            #expect(installed.isEmpty)
        }
    }

    @Test func aCutUploadLeavesNothing() async throws {
        try await NativeFixture.with(offers: []) { fixture in
            let good = Self.model()
            let body = RequestBody(declaredLength: UInt64(good.count), drained: {})
            _ = body.append(Array(good.prefix(good.count / 2)))
            body.finish(.failure(ServerError.clientLeft))
            let reply = try await upload(fixture, "a.gguf", body)
            let left = try await leftovers(fixture)
            #expect(reply.status >= 400 && left.isEmpty, "\(left)")
        }
    }

    /// A disk whose free space shrinks with each look.
    private final class ShrinkingDisk: ForwardingFileSystem {
        let base: any FileSystem = LocalFileSystem()
        private let looks: Locked<[UInt64]>

        init(_ looks: [UInt64]) { self.looks = Locked(looks) }

        func freeSpace(at path: Path) -> UInt64 { looks.withLock { $0.count > 1 ? $0.removeFirst() : $0.first ?? 0 } }
    }

    @Test func aDiskIsNotFilled() async throws {
        #expect(ModelUpload.reserve(of: 1 << 40) == 1 << 30)
        #expect(ModelUpload.reserve(of: 2000) == 100)
        let folder = try TemporaryFolder()
        func code(_ looks: [UInt64], length: UInt64? = nil) async throws -> String? {
            let body = RequestBody(declaredLength: length, drained: {})
            if length == nil { _ = body.append(Self.model()) }
            body.finish()
            let request = ServerRequest(
                method: "POST", target: "/hearth/v1/models/upload?name=a.gguf",
                headers: ["Content-Type": ModelUpload.mediaType], caller: .owner, body: body)
            do {
                let upload = try await ModelUpload.receive(
                    NativeCall(request: request, path: [:]), home: folder.path("home"), on: ShrinkingDisk(looks))
                await upload.remove()
                return nil
            } catch {
                return (error as? NativeFailure)?.code
            }
        }
        #expect(try await code([2000], length: 1901) == "insufficient-storage")
        #expect(try await code([2000, 100]) == "insufficient-storage")
        #expect(try await code([2000, 101]) == nil)
        #expect(try LocalFileSystem().contents(of: folder.path("home/server/uploads")).isEmpty)
    }

    @Test func filesOfAnEndedProcessAreRemovedAtTheStart() async throws {
        let folder = try TemporaryFolder()
        try folder.write("home/server/uploads/abc/a.gguf", Data([1, 2, 3]))
        let fixture = try await NativeFixture(offers: [], folder: folder)
        let left = try await leftovers(fixture)
        #expect(left.isEmpty, "\(left)")
        await fixture.close()
    }

    @Test func theCatalogIsOnThePageWithoutANetwork() async throws {
        try await NativeFixture.with(offers: []) { fixture in
            try await SettingsFile(home: fixture.hearth.home).change { try $0.set("catalog.shipped", to: nil) }
            await fixture.home.reload()
            let all = try await fixture.call("GET", "/models/search").body
            let command = try await fixture.hearth.reopenedManagerRows()
            #expect(all["catalog"]?.items.map { $0["family"]?.text } == command)
            #expect(all["hub"]?.items.isEmpty == true && all["problem"] == nil)
            let coders = try await fixture.call("GET", "/models/search?q=coder%2030B").body["catalog"]
            #expect(coders?.items.map { $0["family"]?.text } == ["qwen3-coder-30b-a3b"])
            _ = try await fixture.call("GET", "/state")
            try await fixture.event("row") { $0["row"]?["id"]?.text == "qwen3-4b-2507" }
            let rows = try await fixture.call("GET", "/models").body["rows"]?.items ?? []
            #expect(rows.count == command.count)
            #expect(rows.filter { $0["badges"]?.items.contains(.string("recommended")) == true }.count == 1)
            let details = try await fixture.call("GET", "/models/gemma-3-1b").body
            #expect(details["license"]?.text == "gemma")
            #expect(details["row"]?["catalog"]?["kind"]?.text == "chat")
        }
    }
}

extension Hearth {
    /// The families that `hearth list --available` prints for a home without origins.
    fileprivate func reopenedManagerRows() async throws -> [String?] {
        let shown = try await reopened(try presentSettings()).manager.suggestions().models
        return shown.map(\.model.family.name)
    }
}
