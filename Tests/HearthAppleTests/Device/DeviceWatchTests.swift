import Foundation
import Hearth
import HearthBase
import HearthHTTP
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthApple

/// A device whose state a test sets.
private final class FakeDevice: Sendable {
    private struct Values {
        var conditions = DeviceConditions()
        var available: UInt64? = 2 << 30
        var warning: (@Sendable () -> Void)?
        var change: (@Sendable () -> Void)?
        var isStopped = false
    }

    private let values = Locked(Values())
    let clock = ManualClock()

    var isStopped: Bool { values.withLock { $0.isStopped } }

    func set(_ conditions: DeviceConditions) {
        let change = values.withLock { values in
            values.conditions = conditions
            return values.change
        }
        change?()
    }

    func setAvailable(_ bytes: UInt64?) { values.withLock { $0.available = bytes } }
    func warn() { values.withLock { $0.warning }?() }

    func watch() -> DeviceWatch {
        DeviceWatch(
            .init(
                available: { self.values.withLock { $0.available } }, total: { 4 << 30 },
                conditions: { self.values.withLock { $0.conditions } },
                listen: { warning, change in
                    self.values.withLock { ($0.warning, $0.change) = (warning, change) }
                    return { self.values.withLock { $0.isStopped = true } }
                }), time: clock.time)
    }
}

@Suite struct DeviceWatchTests {
    private let device = FakeDevice()

    @Test(arguments: [
        (DeviceHeat.nominal, false, DevicePolicy.Downloads.all, DevicePolicy.Answers.full, true),
        (.fair, false, .all, .full, true), (.serious, false, .onlyAsked, .short, true),
        (.critical, false, .onlyAsked, .refused, false), (.nominal, true, .onlyAsked, .short, true),
        (.critical, true, .onlyAsked, .refused, false),
    ])
    func thePolicyFollowsHeatAndPower(
        _ heat: DeviceHeat, _ isLowPower: Bool, _ downloads: DevicePolicy.Downloads, _ answers: DevicePolicy.Answers,
        _ keepsIdleModels: Bool
    ) {
        let policy = DeviceConditions(heat: heat, isLowPower: isLowPower).policy
        #expect(policy == DevicePolicy(downloads: downloads, answers: answers, keepsIdleModels: keepsIdleModels))
    }

    @Test func aMemoryWarningUnloadsForAWhile() {
        let watch = device.watch()
        #expect(watch.read().shortage == 0)
        device.warn()
        #expect(watch.read().shortage == .max)
        // Other readers of the memory do not end the warning.
        #expect(watch.read().availableBytes == 2 << 30)
        device.clock.advance(by: .seconds(4))
        #expect(watch.read().shortage == .max)
        device.clock.advance(by: .seconds(2))
        #expect(watch.read().shortage == 0)
    }

    @Test func littleMemoryIsAShortage() {
        let watch = device.watch()
        device.setAvailable(100 << 20)
        #expect(watch.read().shortage == (4 << 30) / 10 - (100 << 20))
        device.setAvailable(nil)
        #expect(watch.read().shortage == 0)
    }

    @Test func criticalHeatUnloadsUntilItIsOver() {
        let watch = device.watch()
        device.set(DeviceConditions(heat: .critical))
        #expect(watch.read().shortage == .max)
        device.set(DeviceConditions(heat: .serious))
        #expect(watch.read().shortage == 0)
    }

    @Test func policiesAreToldOnce() async {
        let watch = device.watch()
        var policies = watch.policies().makeAsyncIterator()
        #expect(await policies.next() == DeviceConditions().policy)
        device.set(DeviceConditions(heat: .fair))
        device.set(DeviceConditions(heat: .serious))
        #expect(await policies.next() == DeviceConditions(heat: .serious).policy)
        device.set(DeviceConditions(isLowPower: true))
        device.set(DeviceConditions(heat: .critical))
        #expect(await policies.next()?.answers == .refused)
    }

    @Test func aReleasedWatchListensNoMore() async {
        let stream = device.watch().policies()
        #expect(device.isStopped)
        var count = 0
        for await _ in stream { count += 1 }
        #expect(count == 1)
    }

    @Test func downloadsWaitAsOnAMeteredNetwork() async {
        let watch = device.watch()
        let base = ScriptedNetworkMonitor(.unrestricted)
        let network = PolicyNetwork(base, watch: watch)
        var conditions = network.conditions().makeAsyncIterator()
        #expect(await conditions.next() == .unrestricted)
        device.set(DeviceConditions(isLowPower: true))
        #expect(await conditions.next() == .metered)
        #expect(network.condition == .metered)
        #expect(network.source == "the test, saving power or cooling down")
        base.change(to: .offline)
        #expect(await conditions.next() == NetworkCondition(isOnline: false, isMetered: true))
        device.set(DeviceConditions())
        #expect(await conditions.next() == .offline)
        #expect(network.source == "the test")
    }

    @Test func answersFollowThePolicy() async throws {
        let watch = device.watch()
        let engine = ScriptedEngine(Array(repeating: [.text("x"), .finish(.endOfGeneration)], count: 4))
        let cool = watch.following(engine)
        func answer() async throws {
            _ = try await cool.generate([ChatMessage(.user, "?")], options: GenerationOptions()) { _ in }
        }
        try await answer()
        device.set(DeviceConditions(heat: .serious))
        try await answer()
        device.set(DeviceConditions(heat: .critical))
        #expect(await code { try await answer() } == "busy")
        device.set(DeviceConditions())
        try await answer()
        #expect(await engine.options.map(\.maximumNewTokens) == [768, 256, 768])
        #expect(cool.tokens != nil)
    }

    @Test func hearthTakesTheMemoryAndDownloadsOfTheWatch() async throws {
        let folder = try TemporaryFolder()
        let hearth = try Hearth(watching: device.watch(), home: folder.path.url, configuration: Configuration())
        #expect(hearth.surroundings.deviceMemory == 4 << 30)
        #expect(hearth.surroundings.pressure.read().availableBytes == 2 << 30)
        device.set(DeviceConditions(isLowPower: true))
        #expect(hearth.surroundings.downloadNetwork(ScriptedNetworkMonitor()).condition == .metered)
        await hearth.close()
    }
}
