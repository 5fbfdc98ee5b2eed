import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// What is read back from the disk is believed no more than what comes over the network.
@Suite(.timeLimit(.minutes(10))) struct CachedCatalogTests {
    /// A lab whose origin has answered once, and then falls silent.
    private func lab() async throws -> SourceLab {
        let lab = try SourceLab(.manifest("1.0.0", serial: 7, tag: "\"a\""))
        _ = try await lab.listing()
        lab.http.answer(.offline)
        return lab
    }

    private func fields(_ lab: SourceLab) throws -> [String: Any] {
        let record = try JSONSerialization.jsonObject(with: Data(contentsOf: lab.record.url))
        return try #require(record as? [String: Any])
    }

    private func write(_ fields: [String: Any], _ lab: SourceLab) throws {
        try JSONSerialization.data(withJSONObject: fields).write(to: lab.record.url)
    }

    @Test func isWhatWasWritten() async throws {
        let lab = try await lab()
        let fields = try fields(lab)
        #expect(fields["format"] as? Int == 1)
        #expect(fields["location"] as? String == "https://h.example/models.json")
        #expect(fields["serial"] as? Int == 7)
        #expect(fields["entityTag"] as? String == "\"a\"")
        #expect(lab.version(try await lab.listing(.now)) == "1.0.0")
    }

    @Test(
        arguments: [
            ("format", 2), ("format", "1"), ("location", "http://h.example/models.json"),
            ("location", "file:///etc/passwd"),
            ("location", "https://me:pw@h.example/m.json"), ("location", "https:///m.json"), ("location", ""),
            ("location", "javascript:alert(1)"), ("asked", ""), ("sha256", "../../../etc/passwd"), ("sha256", ""),
            ("sha256", String(repeating: "0", count: 64)), ("entityTag", "\"a\"\r\nX-Evil: 1"), ("entityTag", ""),
            ("entityTag", String(repeating: "x", count: 5000)), ("lastModified", "\n"), ("fetched", "yesterday"),
            ("checked", 1), ("revalidate", "no"), ("serial", -1), ("serial", 1e300), ("serial", "7"),
        ] as [(String, any Sendable)])
    func aRecordThatIsNotOursIsNotUsed(_ field: String, _ value: any Sendable) async throws {
        let lab = try await lab()
        var fields = try fields(lab)
        fields[field] = value
        try write(fields, lab)
        #expect(await HubLab.code { _ = try await lab.listing(.now) } == "origin-unreachable")
        #expect(lab.http.requests.last?.headers["If-None-Match"] == nil)
        lab.http.answer(.manifest("2.0.0", serial: 8))
        #expect(lab.version(try await lab.listing(.now)) == "2.0.0", "and it does not stay in the way")
        lab.http.answer(.offline)
        #expect(lab.version(try await lab.listing(.now)) == "2.0.0")
    }

    @Test(arguments: ["", "{", "[]", "null", String(repeating: " ", count: 1 << 15)])
    func aRecordThatIsNoRecordIsNotUsed(_ text: String) async throws {
        let lab = try await lab()
        try Data(text.utf8).write(to: lab.record.url)
        #expect(await HubLab.code { _ = try await lab.listing(.now) } == "origin-unreachable")
    }

    @Test func linksAndFoldersAtItsPlaceAreNotFollowed() async throws {
        let lab = try await lab()
        let elsewhere = lab.folder.path("elsewhere.json")
        try FileManager.default.moveItem(atPath: lab.record.string, toPath: elsewhere.string)
        try LocalFileSystem().makeLink(at: lab.record, to: elsewhere.string)
        #expect(await HubLab.code { _ = try await lab.listing(.now) } == "origin-unreachable")
        try LocalFileSystem().removeFile(lab.record)
        try LocalFileSystem().makeFolder(lab.record, permissions: 0o755)
        #expect(await HubLab.code { _ = try await lab.listing(.now) } == "origin-unreachable")
    }

    @Test func changedBytesAreNotUsed() async throws {
        let lab = try await lab()
        let name = try #require(try LocalFileSystem().contents(of: lab.place).first { $0.count == 69 })
        let path = Path(lab.place.string + "/" + name)
        let other = ScriptedOrigin.Answer.manifest("9.9.9", serial: 99)
        try Data(other.body.utf8).write(to: path.url)
        #expect(await HubLab.code { _ = try await lab.listing(.now) } == "origin-unreachable")
        lab.http.answer(.manifest("1.0.0", serial: 7, tag: "\"a\""))
        _ = try await lab.listing(.now)
        lab.http.answer(.offline)
        #expect(lab.version(try await lab.listing(.now)) == "1.0.0", "the same name is written again")
    }

    @Test func anotherProcessThatIsAheadIsNotSetBack() async throws {
        let lab = try await lab()
        let kept = CatalogCache(folder: lab.catalogs, fileSystem: LocalFileSystem())
        var copy = try #require(try kept.read(lab.origin))
        copy.record.serial = 6
        #expect(try !kept.keep(copy, of: lab.origin))
        copy.record.serial = 8
        #expect(try kept.keep(copy, of: lab.origin))
        let lock = try #require(try FileLock.tryAcquire(lab.place.appending("lock")))
        #expect(try !kept.keep(copy, of: lab.origin))
        lock.release()
    }

    @Test func aPowerCutAtAnyInstructionLeavesACopy() async throws {
        let first = ScriptedOrigin.Answer.manifest("1.0.0", serial: 1).body
        let second = ScriptedOrigin.Answer.manifest("2.0.0", serial: 2).body
        let url = try #require(URL(string: "https://h.example/models.json"))
        let origin = Origin(name: "test", manifestURL: url)
        func copy(_ text: String, _ serial: UInt64) -> CachedCatalog {
            let data = Data(text.utf8)
            return CachedCatalog(
                record: CachedCatalog.Record(
                    location: url, asked: SHA256Digest(hashing: []), digest: SHA256Digest(hashing: data),
                    validators: CatalogValidators(),
                    fetched: Date(timeIntervalSince1970: 0), checked: Date(timeIntervalSince1970: 0), serial: serial),
                data: data)
        }
        let folder = try TemporaryFolder()
        let disk = try PowerCutDisk(root: folder.path)
        let kept = CatalogCache(folder: disk.root.appending("catalogs"), fileSystem: disk)
        _ = try kept.keep(copy(first, 1), of: origin)
        let begun = disk.operationCount
        _ = try kept.keep(copy(second, 2), of: origin)
        for cut in begun...disk.operationCount {
            for policy in PowerCutDisk.Policy.allCases {
                let after = try TemporaryFolder()
                try disk.rebuild(after: cut, policy: policy, into: after.path)
                let found = try CatalogCache(folder: after.path("catalogs"), fileSystem: LocalFileSystem()).read(origin)
                #expect(found == copy(first, 1) || found == copy(second, 2), "after \(cut) operations, \(policy)")
                if cut == disk.operationCount { #expect(found == copy(second, 2), "\(policy)") }
            }
        }
    }
}
