import Foundation
import HearthTestSupport
import Testing

@testable import HearthBase

@Suite(.timeLimit(.minutes(5))) struct LockedFileTests {
    private let folder: TemporaryFolder
    private let path: Path

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("home/settings.json")
    }

    private func lines(_ path: Path) -> [String] {
        // A missing file has no lines.
        let data = (try? LocalFileSystem().contents(ofFile: path, limit: 1 << 20)) ?? Data()
        return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private func append(_ line: String, to file: LockedFile) async throws {
        try await file.change { [path] in (Data((lines(path) + [line]).joined(separator: "\n").utf8), ()) }
    }

    @Test func nothingOfManyWritersIsLost() async throws {
        // A clock that stands still never ends a wait for the lock, however slow the disk is.
        let still = TimeSource(clock: StandingClock(), now: { Date() })
        let files = (0..<4).map { _ in LockedFile(path, time: still) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<60 { group.addTask { try await append("line \(number)", to: files[number % 4]) } }
            try await group.waitForAll()
        }
        #expect(Set(lines(path)) == Set((0..<60).map { "line \($0)" }))
        #expect(try LocalFileSystem().contents(of: path.parent) == ["settings.json", "settings.json.lock"])
    }

    @Test func theWaitForAnotherWriterHasAnEnd() async throws {
        let clock = ManualClock()
        let file = LockedFile(path, time: clock.time)
        try await append("old", to: file)
        let lock = try required(try FileLock.tryAcquire(path.withSuffix(".lock")))
        let waiting = Task { () -> FileError? in
            do {
                try await append("new", to: file)
                return nil
            } catch let error as FileError {
                return error
            }
        }
        await clock.sleepers(atLeast: 1)
        clock.advance(by: LockedFile.timeout)
        let error = try await waiting.value
        #expect(error?.code == .settingsBusy && error?.disposition == .tryLater)
        lock.release()
        #expect(lines(path) == ["old"])
        try await append("new", to: file)
        #expect(lines(path) == ["old", "new"])
    }

    @Test func aCancelledWriterChangesNothing() async throws {
        let clock = ManualClock()
        try LocalFileSystem().makeFolders(path.parent)
        let lock = try required(try FileLock.tryAcquire(path.withSuffix(".lock")))
        let waiting = Task { try await append("new", to: LockedFile(path, time: clock.time)) }
        await clock.sleepers(atLeast: 1)
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        lock.release()
        #expect(lines(path).isEmpty)
    }

    @Test func aSymbolicLinkStaysOne() async throws {
        let target = try folder.write("elsewhere/shared.json", Data("old".utf8))
        try LocalFileSystem().makeFolders(path.parent)
        try LocalFileSystem().makeLink(at: folder.path("home/second.json"), to: "../elsewhere/shared.json")
        try LocalFileSystem().makeLink(at: path, to: "second.json")
        try await append("new", to: LockedFile(path))
        #expect(try LocalFileSystem().readLink(path) == "second.json")
        #expect(lines(target) == ["old", "new"])
        // The lock is that of all links to the target.
        #expect(try LocalFileSystem().contents(of: target.parent) == ["shared.json", "shared.json.lock"])
    }

    @Test func aLinkToNothingCreatesItsTarget() async throws {
        try folder.write("elsewhere/other", Data())
        try LocalFileSystem().makeFolders(path.parent)
        try LocalFileSystem().makeLink(at: path, to: folder.path("elsewhere/new.json").string)
        try await append("new", to: LockedFile(path))
        #expect(lines(folder.path("elsewhere/new.json")) == ["new"])
    }

    @Test func aCircleOfLinksIsAnError() async throws {
        try LocalFileSystem().makeFolders(path.parent)
        try LocalFileSystem().makeLink(at: path, to: "settings.json")
        await #expect(throws: FileError.self) { try await append("new", to: LockedFile(path)) }
    }

    @Test func onlyTheOwnerReadsItAndOldAttemptsGo() async throws {
        let left = try folder.write("home/.settings.json\(Path.temporaryMark)1", Data("half".utf8))
        let other = try folder.write("home/.other.json\(Path.temporaryMark)1", Data("another's".utf8))
        try await append("new", to: LockedFile(path))
        let mode = try FileManager.default.attributesOfItem(atPath: path.string)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try LocalFileSystem().status(at: left) == nil)
        #expect(try LocalFileSystem().status(at: other) != nil)
    }

    @Test func aRefusedChangeLeavesTheFile() async throws {
        struct Refused: Error {}
        let file = LockedFile(path)
        try await append("old", to: file)
        await #expect(throws: Refused.self) { try await file.change { () throws -> (Data?, Int) in throw Refused() } }
        #expect(try await file.change { (nil, 7) } == 7)
        #expect(lines(path) == ["old"])
    }
}

/// A clock on which no time passes; a wait ends once the other tasks have run.
private struct StandingClock: Clock {
    let now = ManualClock().now
    let minimumResolution: Duration = .nanoseconds(1)

    func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws { await Task.yield() }
}
