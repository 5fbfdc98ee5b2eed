import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthInference

extension LiveModels {
    /// Models whose engines a closure opens, in a memory of the given size.
    convenience init(
        manager: ModelManager, budget: UInt64? = nil, pressure: any MemoryPressureSource = Plenty(),
        time: TimeSource = .system, open: @escaping @Sendable (ReleaseFiles) async throws -> any InferenceEngine
    ) {
        var engines = EngineRegistry()
        engines.register(.gguf) { try await open($0.files) }
        self.init(
            manager: manager, engines: engines,
            memory: EngineMemory(deviceMemory: manager.deviceMemory, budget: budget) { nil }, pressure: pressure,
            time: time)
    }
}

/// A machine whose memory is never short, whatever the one is that the test runs on.
struct Plenty: MemoryPressureSource {
    func read() -> MemoryReading { MemoryReading(availableBytes: 1 << 40, totalBytes: 1 << 40) }
}

extension EnginePool {
    /// Unloads the engine of a release, and returns when its memory is free.
    func drop(_ release: ReleaseIdentity) async throws { try await drop { $0 == .release(release) } }

    /// The loaded releases.
    var releases: Set<ReleaseIdentity> { Set(loaded.compactMap(\.release)) }
}
