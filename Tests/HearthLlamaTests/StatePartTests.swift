#if Llama
import Foundation
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

/// Files with the state of a part of a conversation.
@Suite struct StatePartTests {
    private let folder: TemporaryFolder
    private let part = StateFile(maker: "m", tokens: [1, -2, .max], start: 2, state: Data(0..<200))

    init() throws { folder = try TemporaryFolder() }

    @Test func hasTheBytesOfItsFormat() throws {
        let body: [UInt8] =
            [1, 0, 0, 0, 0x6D, 3, 0, 0, 0, 1, 0, 0, 0, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]
            + [2, 0, 0, 0] + [200, 0, 0, 0, 0, 0, 0, 0] + Array(0..<200)
        let head: [UInt8] = [0x48, 0x4B, 0x56, 0x53, 2, 0, 0, 0]
        let data = try part.encoded()
        #expect(data == Data(head + SHA256Digest(hashing: Data(body)).bytes + body))
        #expect(StateFile(decoding: data) == part && part.byteCount == UInt64(data.count))
        #expect(
            StateFile.front(of: data, size: UInt64(data.count), maker: "m", window: 4)
                == .usable(tokens: part.tokens, start: 2))
    }

    /// A part begins after the first token and before the last.
    @Test(arguments: [UInt32(0), 3, 4, .max]) func anotherBeginningIsDamage(start: UInt32) throws {
        var data = try part.encoded()
        let place = data.count - 200 - 8 - 4
        withUnsafeBytes(of: start.littleEndian) { data.replaceSubrange(place..<place + 4, with: $0) }
        let digest = SHA256Digest(hashing: data.dropFirst(40)).bytes
        data.replaceSubrange(8..<40, with: digest)
        #expect(StateFile(decoding: data) == nil)
        #expect(StateFile.front(of: data, size: UInt64(data.count), maker: "m", window: 4) == .broken)
        for end in data.indices { #expect(StateFile(decoding: data.prefix(end)) == nil) }
    }

    private func state(_ tokens: Int, from start: Int) -> StateFile {
        StateFile(maker: "m", tokens: Array(0..<Int32(tokens)), start: start, state: Data(repeating: 7, count: 500))
    }

    /// The parts of a conversation are read together, and the beginning is then the newest.
    @Test func thePartsOfAConversationAreReadTogether() throws {
        let cache = StateCache(folder: folder.path, limit: 10_000)
        let states = [state(2, from: 0), state(4, from: 2), state(5, from: 4)]
        for (number, state) in states.enumerated() {
            cache.keep(try #require(cache.place(for: state, isNext: number > 0)), as: number)
        }
        // Before they are written they are read from memory, afterwards from the files.
        for _ in 0..<2 {
            #expect(cache.readings([0, 1, 2]) == states.map { .whole($0) })
            cache.settle()
        }
        // Another conversation takes the place of one whose states were never fetched.
        #expect(cache.read([0, 1], onRead: {}) == nil && cache.read([2], onRead: {}) == nil)
        cache.settle()
        #expect(cache.read([2], onRead: {}) == [.whole(states[2])])
        #expect(cache.readings([0, 9]) == [.whole(states[0]), .gone])
        cache.date([0, 1, 2])
        cache.settle()
        let found = StateCache(folder: folder.path, limit: 10_000).found(maker: "m", window: 8)
        #expect(found.map(\.start) == [4, 2, 0])
        // The end is deleted first.
        let two = states[0].byteCount + states[1].byteCount
        #expect(StateCache(folder: folder.path, limit: two).trim().isEmpty)
        #expect(StateCache(folder: folder.path, limit: 10_000).found(maker: "m", window: 8).map(\.start) == [2, 0])
    }

    /// The bytes that wait to be written limit the conversations, not the parts of one.
    @Test func allPartsOfAConversationWaitTogether() throws {
        let disk = FaultyFileSystem()
        let cache = StateCache(folder: folder.path, limit: .max, fileSystem: disk)
        func large(_ end: Int, _ start: Int) -> StateFile {
            StateFile(
                maker: "m", tokens: Array(0..<Int32(end)), start: start,
                state: Data(count: Int(StateCache.unwrittenLimit) / 2))
        }
        #expect(cache.place(for: large(1, 0)) != nil)
        #expect(cache.place(for: large(2, 1), isNext: true) != nil)
        #expect(cache.place(for: large(3, 2), isNext: true) != nil)
        #expect(cache.place(for: large(1, 0)) == nil)
    }
}
#endif
