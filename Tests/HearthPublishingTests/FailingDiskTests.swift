import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthPublishing
import HearthStore
import HearthTestSupport
import HearthTransfer
import Testing

@Suite struct FailingDiskTests {
    /// A new release, and one whose bytes are replaced: the two ways through the code.
    private func publishBoth(_ origin: TestOrigin) async throws {
        let new = try origin.source("m-v1.1.0-q4.gguf", [2])
        let other = try origin.source("m-v1.0.0-q4.gguf", [3])
        try await origin.publish(new, other) { $0.replaces = true }
    }

    /// Every entry of the manifest names files that are there and hold what it says.
    private func expectWhole(_ manifest: Path, _ label: String) throws {
        let text = try LocalFileSystem().contents(ofFile: manifest, limit: 1 << 20)
        for release in try Catalog(manifest: text, url: manifest.url).releases {
            for file in [release.file, release.index].compactMap(\.self) {
                let location = try #require(file.locations.first)
                let digest = try LocalFileSystem().digest(ofFile: Path(location.path))
                #expect(digest == file.digest, "\(file.name), \(label)")
            }
        }
    }

    @Test(arguments: [ENOSPC, EIO])
    func whicheverChangeFailsTheManifestIsTheOldOneOrTheNew(_ errorNumber: Int32) async throws {
        var call = 0
        while true {
            call += TestExtent.isFull ? 1 : 7
            var origin = try TestOrigin()
            try await origin.publish(origin.source("m-v1.0.0-q4.gguf"))
            let before = try origin.text()
            let disk = FaultyFileSystem()
            disk.fail(call: call, errno: errorNumber)
            origin.fileSystem = disk
            var failure: (any Error)?
            do {
                try await publishBoth(origin)
            } catch {
                failure = error
            }
            guard disk.mutations.count >= call else {
                #expect(failure == nil)
                break
            }
            let failed = disk.mutations[call - 1]
            let label = "\(failed.operation) of \(failed.path.lastComponent)"
            // Only a replaced file that cannot be taken away is no failure.
            #expect(failure is FileError || failed.operation == .removeFile, "\(label)")
            try expectWhole(origin.manifest, label)
            if failure != nil, try origin.text() != before {
                // The rename is done, and only bringing it to the disk failed.
                #expect(failed.operation == .synchronizeFolder, "\(label)")
            }
            let left = try origin.names("origin") + origin.names()
            #expect(!left.contains { $0.contains(Path.temporaryMark) }, "\(label)")

            // What is left over does not stand in the way of the next attempt.
            origin.fileSystem = LocalFileSystem()
            try await publishBoth(origin)
            try expectWhole(origin.manifest, label)
            #expect(try origin.catalog().releases.count == 2)
        }
        #expect(call > 20)
    }

    @Test(arguments: [FaultyFileSystem.Operation.read, .openExisting])
    func whicheverReadingFailsTheManifestStays(_ operation: FaultyFileSystem.Operation) async throws {
        var origin = try TestOrigin()
        try await origin.publish(origin.source("m-v1.0.0-q4.gguf"))
        let before = try origin.text()
        var call = 1
        var isDone = false
        while !isDone {
            let disk = FaultyFileSystem()
            disk.fail(call: call, of: operation, errno: EIO)
            origin.fileSystem = disk
            do {
                try await publishBoth(origin)
                isDone = true
            } catch {
                #expect(error is FileError)
                #expect(try origin.text() == before)
                call += 1
            }
        }
        #expect(call > 4)
    }

    @Test func aFullDiskSaysSoBeforeTheBytesAreCopied() async throws {
        var origin = try TestOrigin()
        let source = try origin.source("m-v1.0.0-q4.gguf", [UInt8](repeating: 1, count: 4 << 20))
        let disk = FaultyFileSystem()
        disk.fillDisk(after: 1 << 20)
        origin.fileSystem = disk
        let error = try await #require(throws: FileError.self) { try await origin.publish(source) }
        #expect(error.code == .diskFull)
        #expect(!disk.mutations.contains { $0.operation == .write })
        #expect(try origin.names().isEmpty)
        disk.heal()
        try await origin.publish(source)
        try expectWhole(origin.manifest, "afterwards")
    }

    @Test func aPowerCutAtAnyMomentLeavesTheOldManifestOrTheNew() async throws {
        var origin = try TestOrigin()
        try await origin.publish(origin.source("m-v1.0.0-q4.gguf"))
        // The files to be published are not on the disk under test.
        let disk = try PowerCutDisk(root: origin.path)
        origin.fileSystem = disk
        try await publishBoth(origin)
        #expect(disk.operationCount > 15)
        var serials: Set<UInt64> = []
        for operation in 0...disk.operationCount {
            for policy in PowerCutDisk.Policy.allCases {
                let after = try TemporaryFolder()
                try disk.rebuild(after: operation, policy: policy, into: after.path)
                let label = "\(policy) after \(disk.operations.prefix(operation).last ?? "nothing")"
                try expectWhole(after.path("models.json"), label)
                let manifest = after.path("models.json")
                let text = try LocalFileSystem().contents(ofFile: manifest, limit: 1 << 20)
                let serial = try #require(try Catalog(manifest: text, url: manifest.url).serial)
                serials.insert(serial)
                if operation == disk.operationCount { #expect(serial == 2, "\(label)") }
            }
        }
        #expect(serials == [1, 2])
    }
}
