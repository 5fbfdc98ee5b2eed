#if Llama
import Foundation
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

extension StateFile {
    /// The bytes of the file, as they are written.
    func encoded() throws -> Data {
        let folder = try TemporaryFolder()
        let disk = LocalFileSystem()
        let file = try disk.open(folder.path("a"), .createNew)
        try write(to: file, disk)
        return try disk.contents(ofFile: folder.path("a"), limit: Int(byteCount))
    }
}

extension StateCache {
    /// Saves a state, and waits until it is written.
    /// - Returns: whether the state can be read.
    fileprivate func save(_ state: StateFile, as number: Int) -> Bool {
        guard let place = place(for: state) else { return false }
        keep(place, as: number)
        settle()
        return reading(number) == .whole(state)
    }

    /// Reads a state, and waits for its file.
    fileprivate func reading(_ number: Int) -> Reading {
        readings([number]).first ?? .gone
    }

    /// Reads the states of a conversation, and waits for their files.
    func readings(_ numbers: [Int]) -> [Reading] {
        if let known = read(numbers, onRead: {}) { return known }
        settle()
        return read(numbers, onRead: {}) ?? []
    }
}

@Suite struct StateFileTests {
    private let file = StateFile(maker: "m", tokens: [1, -2, .max], state: Data(0..<200))

    private func front(_ data: Data, size: Int? = nil, maker: String = "m", window: Int = 4) -> StateFile.Front {
        StateFile.front(of: data, size: UInt64(size ?? data.count), maker: maker, window: window)
    }

    @Test func isReadAsWritten() throws {
        let data = try file.encoded()
        #expect(StateFile(decoding: data) == file)
        #expect(file.byteCount == UInt64(data.count))
        #expect(front(data) == .usable(tokens: file.tokens))
        // Only the beginning of a large file is read.
        let beginning = data.prefix(StateFile.frontLength(tokens: 4))
        #expect(front(beginning, size: data.count) == .usable(tokens: file.tokens))
        let empty = StateFile(maker: "", tokens: [], state: Data())
        #expect(try StateFile(decoding: empty.encoded()) == empty)
        #expect(try empty.byteCount == UInt64(empty.encoded().count))
    }

    /// The format, byte by byte: this release reads the files of earlier ones, and they read its files.
    @Test func hasTheBytesOfItsFormat() throws {
        let body: [UInt8] =
            [1, 0, 0, 0, 0x6D, 3, 0, 0, 0, 1, 0, 0, 0, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]
            + [200, 0, 0, 0, 0, 0, 0, 0] + Array(0..<200)
        let head: [UInt8] = [0x48, 0x4B, 0x56, 0x53, 1, 0, 0, 0]
        #expect(try file.encoded() == Data(head + SHA256Digest(hashing: Data(body)).bytes + body))
    }

    @Test func statesForOthersAreForeign() throws {
        let data = try file.encoded()
        #expect(front(data, maker: "n") == .foreign)
        #expect(front(data, window: 3) == .foreign)
        var later = data
        later[4] = 3
        #expect(front(later) == .foreign)
        #expect(front(Data("HKV".utf8)) == .foreign && front(Data()) == .foreign)
        #expect(front(Data(repeating: 0, count: 300)) == .foreign)
    }

    @Test func isRefusedWithOneWrongBitOrByte() throws {
        let data = try file.encoded()
        for offset in data.indices {
            var wrong = data
            wrong[offset] ^= 1
            #expect(StateFile(decoding: wrong) == nil, "\(offset)")
            #expect(StateFile(decoding: data.prefix(offset)) == nil)
            // A torn file counts as broken as soon as its bytes identify it as a state.
            #expect(front(data.prefix(offset)) == (offset < 4 ? .foreign : .broken), "\(offset)")
            _ = front(wrong)
        }
        #expect(StateFile(decoding: data + Data([0])) == nil)
        #expect(front(data + Data([0])) == .broken)
        // Counts that exceed the file.
        var hostile = Data("HKVS".utf8) + Data([1, 0, 0, 0]) + Data(count: 32)
        hostile += Data(repeating: 0xFF, count: 64)
        #expect(front(hostile, window: .max) == .broken)
        hostile = hostile.prefix(40) + Data(count: 4) + Data(repeating: 0xFF, count: 64)
        #expect(front(hostile, maker: "", window: .max) == .broken)
        #expect(front(hostile, size: .max, maker: "", window: .max) == .broken)
    }
}

@Suite struct StateCacheTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func state(_ name: Int32, maker: String = "m", bytes: Int = 1000) -> StateFile {
        let empty = StateFile(maker: maker, tokens: [name, 2, 3], state: Data())
        return StateFile(
            maker: maker, tokens: empty.tokens, state: Data(repeating: 7, count: bytes - Int(empty.byteCount)))
    }

    private func cache(_ limit: UInt64 = 10_000) -> StateCache { StateCache(folder: folder.path, limit: limit) }

    private var names: Set<String> {
        get throws { Set(try FileManager.default.contentsOfDirectory(atPath: folder.path.string)) }
    }

    /// Writes a file that was last used `age` seconds ago.
    private func put(_ name: String, _ data: Data, age: Double = 0) throws {
        let path = folder.path(name).string
        try data.write(to: URL(filePath: path))
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -age)], ofItemAtPath: path)
    }

    private func put(_ name: String, _ state: StateFile, age: Double) throws {
        try put(name, state.encoded(), age: age)
    }

    @Test func changesNoOtherFiles() throws {
        let others = ["notes.state": "my notes", "empty.state": "", "short.state": "HKV", "x.txt": "HKVS"]
        for (name, text) in others { try put(name, Data(text.utf8), age: 100) }
        try put("zeros.state", Data(count: 5000), age: 100)
        try FileManager.default.createDirectory(
            atPath: folder.path("folder.state").string, withIntermediateDirectories: false)
        try LocalFileSystem().makeLink(at: folder.path("link.state"), to: folder.path("x.txt").string)
        let before = try names
        #expect(before.count == 7)
        let cache = cache(1)
        #expect(cache.found(maker: "m", window: 8).isEmpty)
        #expect(cache.trim().isEmpty)
        #expect(try names == before)
    }

    @Test func anUnreadableFileStaysAndIsLogged() async throws {
        let log = await RecordedLog.start(.warning)
        defer { log.stop() }
        try put("a.state", state(1), age: 5)
        let disk = FaultyFileSystem()
        let cache = StateCache(folder: folder.path, limit: 500, fileSystem: disk)
        disk.fail(call: 1, of: .openExisting, errno: EACCES)
        #expect(cache.trim().isEmpty)
        let told = log.messages(of: "llama.memory").filter { $0.contains(folder.path.string) }
        #expect(told.count == 1 && told.first?.contains("permission denied") == true, "\(told)")
        // A file that another process has just deleted is not logged.
        disk.fail(call: 1, of: .openExisting, errno: ENOENT)
        #expect(cache.trim().isEmpty)
        #expect(log.messages(of: "llama.memory").filter { $0.contains(folder.path.string) } == told)
        #expect(try names == ["a.state"])
        #expect(cache.trim().isEmpty)
        #expect(try names.isEmpty, "read again, it counts")
    }

    @Test func deletesOnlyBrokenStatesOfItsMaker() throws {
        try put("good.state", state(1), age: 5)
        try put("older.state", state(2), age: 9)
        try put("other.state", state(3, maker: "another"), age: 1)
        try put("long.state", StateFile(maker: "m", tokens: Array(0..<8), state: Data([1])), age: 1)
        try put("torn.state", state(4).encoded().dropLast(1), age: 1)
        try put("otherTorn.state", state(5, maker: "another").encoded().dropLast(1), age: 1)
        try put("head.state", Data("HKVS".utf8), age: 1)
        let found = cache().found(maker: "m", window: 8)
        #expect(found.map(\.tokens) == [[2, 2, 3], [1, 2, 3]])
        #expect(found.map(\.bytes) == [1000, 1000])
        #expect(try names == ["good.state", "older.state", "other.state", "long.state", "otherTorn.state"])
    }

    @Test func statesOfAllMakersCountAndTheLeastRecentlyUsedAreDeleted() throws {
        try put("mine.state", state(1), age: 30)
        try put("old.state", state(2, maker: "another"), age: 40)
        try put("new.state", state(3, maker: "another"), age: 10)
        var later = try state(4).encoded()
        later[4] = 9
        try put("later.state", later, age: 50)
        try put(".left.state.tmp-1a", state(5).encoded(), age: 60)
        #expect(cache(5000).trim().isEmpty)
        #expect(try names.count == 5)
        #expect(cache(3999).trim().isEmpty)
        #expect(try names == ["mine.state", "old.state", "new.state"])
        let cache = cache(2000)
        // Found states are identified by their numbers.
        for (number, state) in cache.found(maker: "m", window: 8).enumerated() {
            cache.keep(state.place, as: number + 7)
        }
        #expect(cache.trim().isEmpty)
        #expect(try names == ["mine.state", "new.state"])
        #expect(cache.save(state(6), as: 8))
        #expect(cache.takeLost() == [7])
        #expect(cache.reading(7) == .gone)
        #expect(cache.reading(8) == .whole(state(6)))
        #expect(try names.contains("new.state") && names.count == 2)
    }

    /// After a failure of the disk no file remains. After the end of the process at any call, no incomplete file
    /// counts as a state, and the remaining files are removed like others.
    @Test(arguments: 1...3)
    func anIncompleteStateDoesNotCount(write: Int) throws {
        let disk = FaultyFileSystem()
        let cache = StateCache(folder: folder.path, limit: 10_000, fileSystem: disk)
        disk.fail(call: write, of: .write, errno: ENOSPC, tears: true)
        #expect(!cache.save(state(1), as: 1) && cache.takeLost() == [1])
        #expect(try names.isEmpty)
        disk.heal()
        #expect(disk.calls.count { $0.operation == .write } == write)

        // The file after a process ended without removing it, and after a power cut following the rename.
        disk.fail(call: write, of: .write, errno: EIO, stays: true, tears: true)
        let path = folder.path(".a.state.tmp-1a")
        let open = try disk.open(path, .createNew)
        #expect(throws: FileError.self) { try state(1).write(to: open, disk) }
        disk.heal()
        let data = try disk.contents(ofFile: path, limit: 10_000)
        #expect(StateFile(decoding: data) == nil)
        #expect(cache.found(maker: "m", window: 8).isEmpty)
        #expect(try StateFolder(path: folder.path, fileSystem: disk).files().map(\.path) == [path])
        try put("a.state", data)
        for found in cache.found(maker: "m", window: 8) { cache.keep(found.place, as: 0) }
        #expect([.gone, .damaged].contains(cache.reading(0)))
        #expect(self.cache(1).trim().isEmpty)
        #expect(try !names.contains(".a.state.tmp-1a"))
    }

    @Test func readingAStateDatesItAsUsedNow() throws {
        try put("a.state", state(1), age: 100)
        try put("b.state", state(2), age: 50)
        let cache = cache()
        let found = cache.found(maker: "m", window: 8)
        cache.keep(try #require(found.first).place, as: 0)
        #expect(cache.reading(0) == .whole(state(1)))
        // The read dated the file, so another process finds it as the last used, with the same content.
        #expect(self.cache().found(maker: "m", window: 8).map(\.tokens) == [[2, 2, 3], [1, 2, 3]])
        #expect(self.cache(1500).trim().isEmpty)
        #expect(try names == ["a.state"])
        #expect(cache.reading(0) == .whole(state(1)))
    }

    @Test func aStateDeletedByAnotherProcessIsNotCreatedAgain() throws {
        try put("a.state", state(1), age: 100)
        let cache = cache()
        cache.keep(try #require(cache.found(maker: "m", window: 8).first).place, as: 0)
        try LocalFileSystem().removeFile(folder.path("a.state"))
        #expect(cache.reading(0) == .gone)
        cache.delete(0)
        cache.settle()
        #expect(try names.isEmpty)
    }

    @Test func aStateThatCannotBeReadNowIsNotDamaged() async throws {
        let log = await RecordedLog.start(.warning)
        defer { log.stop() }
        try put("a.state", state(1), age: 100)
        let disk = FaultyFileSystem()
        let cache = StateCache(folder: folder.path, limit: 10_000, fileSystem: disk)
        cache.keep(try #require(cache.found(maker: "m", window: 8).first).place, as: 0)
        for number in [EIO, EMFILE] {
            disk.fail(call: 1, of: number == EIO ? .read : .openExisting, errno: number)
            #expect(cache.reading(0) == .unreadable)
        }
        #expect(log.messages(of: "llama.memory").count { $0.contains("cannot be read") } == 2)
        #expect(cache.reading(0) == .whole(state(1)))
        try put("a.state", state(1).encoded().dropLast())
        #expect(cache.reading(0) == .damaged)
        cache.leave(0)
        #expect(cache.reading(0) == .gone)
        #expect(try names == ["a.state"])
    }

    /// A process that ends while llama.cpp reads a state does not leave it to the next one.
    @Test func inAnOwnFolderAStateStandsAsideWhileItIsRestored() throws {
        func own() -> StateCache { StateCache(ownFolder: folder.path, limit: 10_000) }
        let first = own()
        #expect(first.save(state(1), as: 1))
        first.didRestore(1)
        first.settle()
        let name = try #require(try names.first)
        #expect(try names == [name] && name == state(1).digestOfTokens.description + ".state")
        let next = own()
        next.keep(try #require(next.found(maker: "m", window: 8).first).place, as: 0)
        #expect(next.reading(0) == .whole(state(1)))
        // This process ends here.
        #expect(own().found(maker: "m", window: 8).isEmpty)
        #expect(try names.count == 1 && !names.contains(name))
        next.didRestore(0)
        next.settle()
        #expect(own().found(maker: "m", window: 8).map(\.tokens) == [[1, 2, 3]])
        // One that cannot be restored is deleted.
        #expect(next.reading(0) == .whole(state(1)))
        next.delete(0)
        next.settle()
        #expect(try names.isEmpty)
    }

    @Test(arguments: [true, false]) func aDeletedStateIsGone(hasFolder: Bool) throws {
        let cache = StateCache(folder: hasFolder ? folder.path : nil, limit: 10_000)
        #expect(cache.save(state(1), as: 1) && cache.save(state(2), as: 2))
        cache.delete(1)
        cache.settle()
        #expect(cache.reading(1) == .gone)
        #expect(cache.reading(2) == .whole(state(2)))
    }

    @Test func aStateAboveTheLimitIsNotWrittenAndDeletesNoOther() throws {
        let cache = cache(2000)
        #expect(!cache.save(state(1, bytes: 2001), as: 1))
        #expect(!StateCache(folder: nil, limit: 2000).save(state(1, bytes: 2001), as: 1))
        #expect(StateCache(folder: nil, limit: 2000).save(state(1, bytes: 2000), as: 1))
        try put("small.state", state(2), age: 100)
        try put("huge.state", state(3, maker: "another", bytes: 2001), age: 1)
        #expect(cache.trim().isEmpty)
        #expect(try names == ["small.state"])
        #expect(cache.save(state(4, bytes: 2000), as: 4))
    }

    @Test func aCacheWithoutBytesLeavesTheFolderUnchanged() throws {
        try put("a.state", state(1), age: 100)
        try put("torn.state", state(1).encoded().dropLast(), age: 100)
        let cache = cache(0)
        #expect(cache.found(maker: "m", window: 8).isEmpty && cache.trim().isEmpty)
        #expect(!cache.save(state(2), as: 2))
        #expect(try names == ["a.state", "torn.state"])
    }
}
#endif
