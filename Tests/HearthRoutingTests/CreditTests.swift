import Foundation
import HearthBase
import HearthInference
import HearthRouting
import HearthTestSupport
import Observation
import Testing

/// Credits are never overspent, and given back only when nothing was received.
@Suite struct CreditTests {
    private func manager(
        _ credits: Int?, _ folder: Path?, tier: Tier = .starter, time: TimeSource = .system
    ) -> PremiumManager {
        PremiumManager(Entitlement(tier, monthlyCredits: credits), folder: folder, time: time)
    }

    @Test func tiersDecideAboutTheCloud() {
        #expect(Tier.free < .starter && Tier.starter < .pro)
        #expect(!Entitlement(.free).canUseCloudAI)
        #expect(Entitlement(.starter).canUseCloudAI && Entitlement(.pro).canUseCloudAI)
        #expect(Entitlement(Tier("family", rank: 150)).canUseCloudAI)
        #expect(!Entitlement(Tier("trial", rank: 50)).canUseCloudAI)
        #expect(Entitlement(tier: nil, credits: nil, hasOwnKey: true) == .ownKey)
        #expect(Entitlement(tier: nil, credits: 5, hasOwnKey: false).tier == .free)
        #expect(
            Entitlement(tier: "starter", credits: 5, hasOwnKey: true)
                == Entitlement(.starter, monthlyCredits: 5))
    }

    @Test func aTurnCostsOneCredit() async throws {
        let folder = try TemporaryFolder()
        let premium = manager(2, folder.path)
        #expect(premium.credits == 2 && premium.canSendCloudMessage)
        try await premium.take(turn: "a")
        try await premium.take(turn: "a")
        #expect(premium.credits == 1)
        try await premium.recordCloudMessageSent()
        #expect(premium.credits == 0 && !premium.canSendCloudMessage && premium.canUseCloudAI)
        try await premium.take(turn: "a")
        let error = await #expect(throws: LLMError.self) { try await premium.take(turn: "b") }
        #expect(error?.code == .noCredits)
    }

    @Test func aFailureBeforeTheFirstTokenGivesTheCreditBack() async throws {
        let folder = try TemporaryFolder()
        let premium = manager(1, folder.path)
        try await premium.take(turn: "a")
        await premium.giveBack(turn: "a")
        await premium.giveBack(turn: "a")
        #expect(premium.credits == 1)
        // A second pass of a turn that has brought a token gives nothing back.
        try await premium.take(turn: "a")
        await premium.settle(turn: "a")
        await premium.giveBack(turn: "a")
        #expect(premium.credits == 0)
    }

    @Test func aTokenAfterAReturnedCreditIsPaid() async throws {
        let folder = try TemporaryFolder()
        let premium = manager(3, folder.path)
        try await premium.take(turn: "a")
        await premium.giveBack(turn: "a")
        await premium.settle(turn: "a")
        #expect(premium.credits == 2)
    }

    @Test func twoProcessesNeverOverspend() async throws {
        let folder = try TemporaryFolder()
        // A clock that stands still never ends a wait for the lock, however slow the disk is.
        let still = TimeSource(clock: StandingClock(), now: { Date(timeIntervalSince1970: 1_800_000_000) })
        let managers = [manager(8, folder.path, time: still), manager(8, folder.path, time: still)]
        let taken = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<20 {
                let premium = managers[number % 2]
                group.addTask {
                    do {
                        try await premium.take(turn: "turn \(number)")
                        return true
                    } catch {
                        return false
                    }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(taken == 8)
        for premium in managers {
            try await premium.refresh()
            #expect(premium.credits == 0)
        }
    }

    @Test func theServersCountCorrectsOurs() async throws {
        let folder = try TemporaryFolder()
        let premium = manager(10, folder.path)
        try await premium.take(turn: "a")
        await premium.correct(left: 4, turn: "a")
        #expect(premium.credits == 4)
        // The server does not know yet of a turn that is under way.
        try await premium.take(turn: "b")
        await premium.correct(left: 4, turn: "a")
        #expect(premium.credits == 3)
        await premium.correct(left: 12, turn: "b")
        #expect(premium.credits == 11)
        await premium.correct(left: -5, turn: "b")
        #expect(premium.credits == 0)
    }

    @Test func aMonthBeginsAnewAndAClockThatGoesBackDoesNot() async throws {
        let folder = try TemporaryFolder()
        let clock = ManualClock(start: Date(timeIntervalSince1970: 1_796_083_199))  // 2026-11-30, 23:59:59 UTC
        let premium = manager(1, folder.path, time: clock.time)
        try await premium.take(turn: "a")
        #expect(premium.credits == 0)
        clock.advance(by: .seconds(1))
        #expect(premium.credits == 1)
        try await premium.take(turn: "b")
        let earlier = ManualClock(start: Date(timeIntervalSince1970: 1_796_000_000))
        let other = manager(1, folder.path, time: earlier.time)
        await #expect(throws: LLMError.self) { try await other.take(turn: "c") }
        #expect(other.credits == 0)
    }

    @Test func aBrokenFileIsNotSpentFrom() async throws {
        let folder = try TemporaryFolder()
        for text in ["{", "{}", #"{"format":2,"month":"2026-11","spent":0,"turns":[]}"#, "[]"] {
            try folder.write("credits.json", Data(text.utf8))
            let premium = manager(5, folder.path)
            let error = await #expect(throws: RoutingError.self) { try await premium.take(turn: "a") }
            #expect(error?.code == .creditsUnreadable)
        }
        let bytes = try LocalFileSystem().contents(ofFile: folder.path("credits.json"), limit: 100)
        #expect(bytes == Data("[]".utf8), "the file is left as it is")
    }

    @Test(arguments: [false, true]) func aFileThatCannotBeReadIsNotSpentFrom(isFolder: Bool) async throws {
        let folder = try TemporaryFolder()
        if isFolder {
            try LocalFileSystem().makeFolders(folder.path("credits.json"))
        } else {
            try folder.write("credits.json", Data(count: 3 << 20))
        }
        let premium = manager(5, folder.path)
        let taking = await #expect(throws: RoutingError.self) { try await premium.take(turn: "a") }
        let reading = await #expect(throws: RoutingError.self) { try await premium.refresh() }
        #expect(taking?.code == .creditsUnreadable && reading?.code == .creditsUnreadable)
        #expect(taking?.context.file == folder.path("credits.json").string)
    }

    @Test func theFileIsForItsOwnerOnlyAndHoldsNoMoreThanItNeeds() async throws {
        let folder = try TemporaryFolder()
        let premium = manager(500, folder.path)
        for number in 0..<80 { try await premium.take(turn: "turn \(number)") }
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("credits.json").string)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let data = try LocalFileSystem().contents(ofFile: folder.path("credits.json"), limit: 16 << 10)
        #expect(!String(decoding: data, as: UTF8.self).contains("\"turn 15\""))
        #expect(premium.credits == 420)
    }

    @Test func ownKeysAreNotCounted() async throws {
        let folder = try TemporaryFolder()
        let premium = manager(nil, folder.path, tier: .pro)
        for number in 0..<3 { try await premium.take(turn: "\(number)") }
        await premium.correct(left: 0, turn: "2")
        #expect(premium.credits == nil && premium.canSendCloudMessage)
        #expect(!FileManager.default.fileExists(atPath: folder.path("credits.json").string))
    }

    @Test func aTierWithoutCloudTakesNothing() async {
        let premium = manager(5, nil, tier: .free)
        let error = await #expect(throws: LLMError.self) { try await premium.take(turn: "a") }
        #expect(error?.code == .notEntitled)
        #expect(premium.credits == 5 && !premium.canSendCloudMessage)
    }

    // MARK: Observers

    @Test func observersSeeTheNewValueAndNoRepetition() async {
        let premium = manager(5, nil, tier: .free)
        let seen = Locked<[Tier]>([])
        withObservationTracking {
            _ = premium.entitlement
        } onChange: {
            seen.withLock { $0.append(premium.entitlement.tier) }
        }
        premium.update(Entitlement(.free, monthlyCredits: 5))
        #expect(seen.withLock { $0 } == [])
        premium.update(Entitlement(.pro, monthlyCredits: 5))
        #expect(seen.withLock { $0 } == [.pro])

        var rightsChanges = premium.rightsChanges().makeAsyncIterator()
        #expect(await rightsChanges.next()?.entitlement.tier == .pro)
        premium.update(Entitlement(.pro, monthlyCredits: 5))
        premium.update(Entitlement(.starter, monthlyCredits: 5))
        #expect(await rightsChanges.next()?.entitlement.tier == .starter)
    }

    @Test func rightsFollowTheirSource() async {
        let (stream, receipts) = AsyncStream.makeStream(of: Entitlement.self)
        let premium = PremiumManager(following: stream)
        #expect(premium.entitlement.tier == .free)
        receipts.yield(Entitlement(.starter, monthlyCredits: 3))
        for await rights in premium.rightsChanges() where rights.credits == 3 { break }
        #expect(premium.canSendCloudMessage)
    }

    /// 20,000 random calls of two processes with one file's rules.
    @Test func creditsAreNeverNegative() async throws {
        var generator = SeededGenerator(seed: 7)
        let premium = manager(20, nil)
        for _ in 0..<20_000 {
            let turn = "\(Int.random(in: 0..<40, using: &generator))"
            switch Int.random(in: 0..<4, using: &generator) {
            case 0:
                do { try await premium.take(turn: turn) } catch let error as LLMError {
                    #expect(error.code == .noCredits)
                }
            case 1: await premium.settle(turn: turn)
            case 2: await premium.giveBack(turn: turn)
            default:
                if Int.random(in: 0..<20, using: &generator) == 0 {
                    await premium.correct(left: Int.random(in: 0...30, using: &generator), turn: turn)
                }
            }
            let credits = premium.credits ?? -1
            #expect(credits >= 0)
        }
    }
}

/// A clock on which no time passes; a wait ends once the other tasks have run.
private struct StandingClock: Clock {
    let now = ManualClock().now
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws { await Task.yield() }
}
