import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore

/// Lets another process do something just before a call of the disk, once.
final class MeddlingDisk: ForwardingFileSystem {
    enum Call: Hashable { case read, rename, removeFolder }

    let base: any FileSystem = LocalFileSystem()
    private let meddling = Locked<[Call: @Sendable (Path) throws -> Void]>([:])

    func before(_ call: Call, _ deed: @escaping @Sendable (Path) throws -> Void) {
        meddling.withLock { $0[call] = deed }
    }

    /// Whether everything that was asked for has happened.
    var isDone: Bool { meddling.withLock { $0.isEmpty } }

    private func meddle(_ call: Call, _ path: Path) throws {
        guard path.string.contains("/marks/") else { return }
        try meddling.withLock { $0.removeValue(forKey: call) }?(path)
    }

    func open(_ path: Path, _ mode: OpenMode, permissions: UInt32) throws -> OpenFile {
        if mode == .read { try meddle(.read, path) }
        return try base.open(path, mode, permissions: permissions)
    }

    func rename(_ source: Path, to target: Path) throws {
        try meddle(.rename, source)
        try base.rename(source, to: target)
    }

    func removeFolder(_ path: Path) throws {
        try meddle(.removeFolder, path)
        try base.removeFolder(path)
    }
}

/// Marks come and go without a lock, and nobody stumbles over another's.
@Suite(.timeLimit(.minutes(10))) struct MarkFilesTests {
    private let one: ReleaseIdentity
    private let two: ReleaseIdentity
    private let disk = MeddlingDisk()
    private let fixture: StoreFixture

    init() async throws {
        one = try StoreFixture.identity("1.0.0")
        two = try StoreFixture.identity("2.0.0")
        fixture = try StoreFixture()
        try await fixture.install(one, activate: true)
        try await fixture.install(two)
    }

    private var files: MarkFiles { MarkFiles(layout: fixture.layout, fileSystem: disk) }
    private var others: MarkFiles { MarkFiles(layout: fixture.layout, fileSystem: LocalFileSystem()) }
    private var mark: ActivityMark { ActivityMark(.generate, at: fixture.time.now) }

    @Test(arguments: [true, false]) func aMarkThatWasNeverFinishedGoes(withTheNextStart isStart: Bool) async throws {
        let fixture = try StoreFixture()
        let identity = try StoreFixture.identity()
        let file = fixture.layout.marksFolder(of: identity).joined(ActivityMark.token())
        try LocalFileSystem().makeFolders(file.parent)
        let left = file.parent.appendingTemporary(besides: file.lastComponent)
        try Data("{".utf8).write(to: left.url)
        if isStart {
            #expect(try await fixture.store.recover().isEmpty)
        } else {
            let manager = fixture.manager()
            _ = try await manager.collect(try await manager.collectionPlan())
        }
        #expect(try fixture.temporaryNames().isEmpty)
    }

    @Test func aMarkThatGoesWhileItIsReadIsNone() async throws {
        let token = ActivityMark.token()
        try others.put(mark, one, token: token)
        disk.before(.read) { try LocalFileSystem().removeFile($0) }
        #expect(try await fixture.manager(fileSystem: disk).activate(two).isActive)
        #expect(disk.isDone)
    }

    @Test func aMarkThatIsJustWrittenSurvivesTidying() throws {
        let (others, family, token) = (others, one.family, ActivityMark.token())
        disk.before(.rename) { unfinished in
            try others.tidy(family)
            #expect(try LocalFileSystem().status(at: unfinished) == nil)
        }
        try files.put(mark, one, token: token)
        #expect(disk.isDone)
        #expect(try others.all(of: family).map(\.token) == [token])
        #expect(try fixture.temporaryNames().isEmpty)
    }

    /// Where it cannot be written at all there is an end.
    @Test func aMarkThatCannotBeWrittenIsGivenUp() throws {
        let faulty = FaultyFileSystem()
        faulty.fail(call: 1, of: .rename, errno: ENOENT, stays: true)
        let files = MarkFiles(layout: fixture.layout, fileSystem: faulty)
        #expect(throws: FileError.self) { try files.put(mark, one, token: ActivityMark.token()) }
        #expect(faulty.calls.filter { $0.operation == .rename }.count == 4)
    }

    @Test(arguments: [true, false]) func aFolderThatIsNotEmptyAnyMoreStays(_ isGone: Bool) throws {
        let (others, mark, one, token) = (others, mark, one, ActivityMark.token())
        try LocalFileSystem().makeFolders(fixture.layout.marksFolder(of: one))
        disk.before(.removeFolder) { folder in
            if isGone {
                try LocalFileSystem().removeFolder(folder)
            } else {
                try others.put(mark, one, token: token)
            }
        }
        try files.tidy(one.family)
        #expect(disk.isDone)
        #expect(try others.all(of: one.family).map(\.token) == (isGone ? [] : [token]))
    }

    /// The removal of a mark reaches the disk, also where its folder went with it.
    @Test func aMarkGoesWithItsFolder() throws {
        let faulty = FaultyFileSystem()
        let files = MarkFiles(layout: fixture.layout, fileSystem: faulty)
        let token = ActivityMark.token()
        try others.put(mark, one, token: token)
        faulty.fail(call: 1, of: .synchronizeFolder, errno: ENOENT)
        try files.remove(one, token: token)
        let synchronized = faulty.calls.filter { $0.operation == .synchronizeFolder }.map(\.path)
        let folder = fixture.layout.marksFolder(of: one)
        #expect(synchronized == [folder, folder.parent])
    }
}
