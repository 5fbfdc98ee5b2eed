import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthDelivery

/// What is being made of a release is nobody's left-over.
@Suite(.timeLimit(.minutes(5))) struct PreparedSweepTests {
    /// Has another process look after a family before a folder to build in is made.
    private final class SweptDisk: ForwardingFileSystem {
        let base: any FileSystem = LocalFileSystem()
        let body = Locked<(@Sendable () throws -> Void)?>(nil)

        func makeFolder(_ path: Path, permissions: UInt32) throws {
            if path.parent.parent.lastComponent == "prepared", HomeLayout.isTemporary(path.lastComponent) {
                try body.withLock(\.self)?()
            }
            try base.makeFolder(path, permissions: permissions)
        }
    }

    /// Sweeps as a recovery does: with the commit lock, where that is free.
    private static func sweep(_ fixture: StoreFixture, _ family: Family) throws {
        guard let lock = try FileLock.tryAcquire(fixture.layout.lock) else { return }
        defer { lock.release() }
        try PreparedFiles(layout: fixture.layout, fileSystem: LocalFileSystem()).sweep(family)
    }

    @Test func whoSweepsAtTheBeginningLeavesWhatIsMade() async throws {
        let disk = SweptDisk()
        let fixture = try StoreFixture(fileSystem: disk)
        let release = try await fixture.install(try StoreFixture.identity())
        let family = release.identity.family
        disk.body.withLock { $0 = { try Self.sweep(fixture, family) } }
        let preparer = ClosurePreparer { target in
            try Data("made".utf8).write(to: target.url)
            try Self.sweep(fixture, family)
        }
        let opened = try await fixture.manager(preparer: preparer).weightsToOpen(of: release)
        #expect(opened.lastComponent == "made.bin")
        #expect(try fixture.temporaryNames().isEmpty)
    }

    @Test func aLockThatIsHeldStaysAndOneThatIsNotGoes() async throws {
        let fixture = try StoreFixture()
        let identity = try StoreFixture.identity()
        let parent = fixture.layout.preparedFolder(of: identity.family)
        try LocalFileSystem().makeFolders(parent)
        let file = parent.appendingTemporary(besides: identity.folderName).withSuffix(".lock")
        let lock = try #require(try FileLock.tryAcquire(file))
        try Self.sweep(fixture, identity.family)
        #expect(try fixture.exists(file))
        lock.release()
        try Self.sweep(fixture, identity.family)
        #expect(try !fixture.exists(file))
    }
}
