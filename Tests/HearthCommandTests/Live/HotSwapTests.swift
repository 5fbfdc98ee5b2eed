#if Llama
import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthTransfer
import HearthStore
import HearthDelivery
import HearthHTTP
import HearthInference
import HearthLlama
import HearthTestSupport
import Testing

#if canImport(Glibc)
import Glibc
#endif

/// The real default model in two versions that change places under load.
@Suite(.serialized, .timeLimit(.minutes(20))) struct HotSwapTests {
    private static let requests = TestExtent.isFull ? 200 : 16
    private static let swaps = TestExtent.isFull ? 20 : 2
    private static let tasks = 8
    private static let countries = ["France", "Italy", "Spain", "Egypt", "Japan", "Peru", "Kenya", "Norway"]

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The second version: the same weights with another text for the token `The`, which many answers begin with. So each
    /// answer tells which version it is from.
    private func anotherVersion(of data: Data) throws -> Data {
        func entry(_ text: String) -> Data {
            Data([UInt8(text.utf8.count), 0, 0, 0, 0, 0, 0, 0]) + Data(text.utf8)
        }
        let place = try #require(data.range(of: entry("The")))
        let unused = try #require(["Zqe", "Qxe", "Xqz"].first { data.range(of: entry($0)) == nil })
        var changed = data
        changed.replaceSubrange(place, with: entry(unused))
        return changed
    }

    private func question(_ number: Int) -> [ChatMessage] {
        [ChatMessage(.user, "What is the capital of \(Self.countries[number % Self.countries.count])?")]
    }

    private func answer(_ engine: any InferenceEngine, _ number: Int) async throws -> String {
        let options = GenerationOptions(sampling: .greedy, maximumNewTokens: 4)
        var text = ""
        for try await event in engine.generate(question(number), options: options) {
            if case .text(let piece) = event { text += piece }
        }
        return text
    }

    /// What this process has in memory, in bytes, once the C library gave back what it keeps for later: freed memory that
    /// it keeps would count as used, and how much it keeps is chance.
    private func residentBytes() throws -> UInt64 {
        if let symbol = dlsym(nil, "malloc_trim") {
            _ = unsafeBitCast(symbol, to: (@convention(c) (Int) -> Int32).self)(0)
        }
        let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        return try #require(UInt64(text.split(separator: " ")[1])) * UInt64(sysconf(Int32(_SC_PAGESIZE)))
    }

    @Test func requestsAreAnsweredWhileVersionsSwap() async throws {
        let original = try Data(contentsOf: TestModel.path.url)
        let manager = ModelManager(
            home: folder.path("home"), origins: [], network: UnmonitoredNetwork(), deviceMemory: 8 << 30)
        var pulled: [ReleaseIdentity] = []
        for (version, data) in [("2.0.0", try anotherVersion(of: original)), ("1.0.0", original)] {
            let file = try folder.write("swap-v\(version)-q4_1.gguf", data)
            var options = PullOptions()
            options.allowDowngrade = true
            pulled.append(try await manager.pull(.file(file), options: options).release.identity)
            try LocalFileSystem().removeFile(file)
        }
        let releases = pulled
        let family = releases[0].family
        // One answer at a time: computed together, the odds of answers differ in their last digits from those alone.
        let configuration = LlamaConfiguration(contextLength: 512, threadCount: 1, sequences: 1)
        let models = LiveModels(manager: manager) {
            try await LlamaActor.load($0.weights, configuration: configuration)
        }
        let model = try await models.model(family, policy: .localOnly)

        // Each version's own answers, alone.
        var expected: [ReleaseIdentity: [String]] = [:]
        for release in releases {
            _ = try await manager.use(family, version: release.version, variant: release.variant)
            let lease = try await model.lease()
            #expect(lease.release == release)
            for number in Self.countries.indices {
                expected[release, default: []].append(try await answer(lease.engine, number))
            }
        }
        #expect(expected[releases[0]] != expected[releases[1]])
        for release in releases.dropLast() { try await models.pool.drop(release) }
        let before = try residentBytes()

        let answers = expected
        let done = Locked(0)
        let served = Locked<[ReleaseIdentity: Int]>([:])
        let (progress, tick) = AsyncStream<Int>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<Self.tasks {
                group.addTask {
                    for round in 0..<(Self.requests / Self.tasks) {
                        let number = task + round * 3
                        let lease = try await model.lease()
                        let text = try await answer(lease.engine, number)
                        let release = try #require(lease.release)
                        #expect(text == answers[release]?[number % Self.countries.count])
                        served.withLock { $0[release, default: 0] += 1 }
                        lease.end()
                        tick.yield(
                            done.withLock { done in
                                done += 1
                                return done
                            })
                    }
                }
            }
            group.addTask {
                var swap = 0
                for await count in progress {
                    guard count >= swap * (Self.requests / Self.swaps - 1) else { continue }
                    let next = releases[swap % 2]
                    _ = try await manager.use(family, version: next.version, variant: next.variant)
                    #expect(await model.release == next)
                    swap += 1
                    if swap == Self.swaps { break }
                }
                #expect(swap == Self.swaps)
            }
            try await group.waitForAll()
        }
        tick.finish()
        #expect(done.withLock { $0 } == Self.requests)
        // In part, a version may be live for a shorter time than an answer takes.
        if TestExtent.isFull { #expect(served.withLock { Set($0.keys) } == Set(releases)) }
        // Whichever answered meanwhile, each answers as itself afterwards.
        for release in releases {
            _ = try await manager.use(family, version: release.version, variant: release.variant)
            let lease = try await model.lease()
            let text = try await answer(lease.engine, 0)
            #expect(lease.release == release && text == answers[release]?[0])
            lease.end()
        }
        try await models.pool.drop(releases[0])
        let after = try residentBytes()
        print(
            "hot swap: \(served.withLock { $0.values.sorted() }) requests, resident \(before) before, \(after) after"
        )
        // In part, other tests run in this process.
        if TestExtent.isFull { #expect(Double(after) <= Double(before) * 1.1) }
        #expect(models.pool.releases == [releases[1]])
    }
}
#endif
