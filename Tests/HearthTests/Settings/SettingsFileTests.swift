import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import Hearth

/// The file of the settings: written whole, by several at once, and followed.
@Suite struct SettingsFileTests {
    @Test(arguments: ["", "[]", "null", "{", "\u{0}", "7", String(repeating: "[", count: 5000)])
    func aFileThatIsNoObjectIsRefusedAndStays(text: String) async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("config.json", Data(text.utf8))
        let error = await #expect(throws: ConfigurationError.self) {
            try await SettingsFile(home: folder.path).change { $0.threads = 2 }
        }
        #expect(error?.code == .invalid && error?.context.file == path.string)
        #expect(try Data(contentsOf: path.url) == Data(text.utf8))
    }

    @Test func manyWritersLoseNothing() async throws {
        let folder = try TemporaryFolder()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    let file = SettingsFile(home: folder.path)
                    try await file.change { try $0.set("origins.o\(number)", to: "/models-\(number).json") }
                }
            }
            try await group.waitForAll()
        }
        let origins = try Configuration.load(home: folder.path).origins
        #expect(
            origins
                == Dictionary(uniqueKeysWithValues: (0..<40).map { ("o\($0)", URL(filePath: "/models-\($0).json")) }))
    }

    @Test func aChangeWithoutEffectWritesNothing() async throws {
        let folder = try TemporaryFolder()
        let home = folder.path("home")
        try await Configuration.change(home: home) { try $0.set("threads", to: nil) }
        await #expect(throws: ConfigurationError.self) {
            try await Configuration.change(home: home) { try $0.set("threads", to: "0") }
        }
        #expect(try LocalFileSystem().status(at: home) == nil)
        try await Configuration.change(home: home) { $0.threads = 2 }
        #expect(try Configuration.load(home: home).threads == 2)
    }

    @Test func aChangeOfTheFileIsFollowed() async throws {
        let folder = try TemporaryFolder()
        let clock = ManualClock()
        let file = SettingsFile(home: folder.path, time: clock.time)
        let (changes, changed) = AsyncStream<Void>.makeStream()
        let following = Task { await file.follow { changed.yield() } }
        var iterator = changes.makeAsyncIterator()
        // A first file, one in its place, as editors save, and one written over.
        let path = folder.path("config.json")
        for step in 0..<3 {
            await clock.sleepers(atLeast: 1)
            switch step {
            case 0: try await file.change { $0.threads = 2 }
            case 1:
                try folder.write("config.json~", Data("{}".utf8))
                try LocalFileSystem().rename(folder.path("config.json~"), to: path)
            default:
                let handle = try FileHandle(forWritingTo: path.url)
                try handle.write(contentsOf: Data("{ }".utf8))
                try handle.close()
            }
            clock.advance(by: .seconds(1))
            #expect(await iterator.next() != nil)
        }
        following.cancel()
        await following.value
    }
}
