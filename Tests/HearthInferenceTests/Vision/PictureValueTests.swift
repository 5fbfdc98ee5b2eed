import Foundation
import HearthBase
import HearthInference
import HearthTestSupport
import Testing

/// Pictures as values: in messages, in ledgers, in the cache.
struct PictureValueTests {
    @Test func equalFilesAreOnePicture() throws {
        let picture = try ChatImage(TestPictures.png)
        #expect(try picture == ChatImage(TestPictures.png))
        #expect(try picture != ChatImage(TestPictures.jpeg))
        #expect(try Set([picture, ChatImage(TestPictures.png), ChatImage(TestPictures.jpeg)]).count == 2)
    }

    @Test func aMessageIsStoredWithItsPicturesAndWithoutThemAsBefore() throws {
        let plain = ChatMessage(.user, "Hello")
        let text = String(decoding: try JSONEncoder().encode(plain), as: UTF8.self)
        #expect(!text.contains("images"))
        #expect(
            try JSONDecoder().decode(ChatMessage.self, from: Data(#"{"role":"user","content":"Hello"}"#.utf8)) == plain)
        let shown = ChatMessage(
            .user, "Look", images: [try ChatImage(TestPictures.png), try ChatImage(TestPictures.jpeg)])
        #expect(try JSONDecoder().decode(ChatMessage.self, from: JSONEncoder().encode(shown)) == shown)
        let broken = Data(#"{"role":"user","content":"Look","images":["\#(Data([1, 2]).base64EncodedString())"]}"#.utf8)
        #expect(throws: LLMError.self) { try JSONDecoder().decode(ChatMessage.self, from: broken) }
    }

    @Test func everyPositionOfAPictureHasANumberOfItsOwn() throws {
        let one = SHA256Digest(hashing: Array("one".utf8))
        let other = SHA256Digest(hashing: Array("other".utf8))
        let tokens = PictureTokens.tokens(of: one, part: 0, count: 100)
        #expect(tokens.count == 100)
        #expect(tokens.allSatisfy { $0 < 0 })
        #expect(Set(tokens).count == 100)
        #expect(PictureTokens.tokens(of: one, part: 0, count: 7) == Array(tokens.prefix(7)))
        #expect(Set(tokens).isDisjoint(with: PictureTokens.tokens(of: one, part: 1, count: 100)))
        #expect(Set(tokens).isDisjoint(with: PictureTokens.tokens(of: other, part: 0, count: 100)))
        // Saved states contain these numbers, so they must not change.
        #expect(PictureTokens.tokens(of: one, part: 0, count: 2) == PictureTokens.tokens(of: one, part: 0, count: 2))
        #expect(PictureTokens.tokens(of: one, part: 0, count: 0).isEmpty)
    }

    @Test func theCacheDropsTheLeastRecentlyUsed() {
        let names = (0..<4).map { SHA256Digest(hashing: Array("\($0)".utf8)) }
        var cache = PictureCache<Int>(limit: 30)
        for index in 0..<3 { cache.insert(index, bytes: 10, of: names[index]) }
        #expect(cache.value(of: names[0]) == 0)
        cache.insert(3, bytes: 10, of: names[3])
        #expect(cache.value(of: names[1]) == nil)
        #expect((cache.value(of: names[0]), cache.count, cache.bytes) == (0, 3, 30))
        cache.insert(4, bytes: 31, of: names[1])
        #expect(cache.value(of: names[1]) == nil, "a value above the limit drops no other")
        #expect(cache.count == 3)
        cache.insert(9, bytes: 30, of: names[0])
        #expect((cache.value(of: names[0]), cache.count, cache.bytes) == (9, 1, 30))
    }

    @Test func theCacheShrinksToItsLimit() {
        let names = (0..<3).map { SHA256Digest(hashing: Array("\($0)".utf8)) }
        var cache = PictureCache<Int>(limit: 30)
        for index in 0..<3 { cache.insert(index, bytes: 10, of: names[index]) }
        #expect(cache.value(of: names[0]) == 0)
        cache.limit(to: 29)
        #expect((cache.count, cache.bytes, cache.limit) == (2, 20, 29))
        #expect(cache.value(of: names[1]) == nil && cache.value(of: names[0]) == 0)
        cache.limit(to: -1)
        #expect((cache.count, cache.bytes, cache.limit) == (0, 0, 0))
        cache.insert(1, bytes: 10, of: names[1])
        #expect(cache.count == 0)
        cache.limit(to: 10)
        cache.insert(1, bytes: 10, of: names[1])
        #expect(cache.value(of: names[1]) == 1)
    }
}
