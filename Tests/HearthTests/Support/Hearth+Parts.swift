import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthTransfer

extension Hearth {
    /// The models in a home folder, with injected parts. The parameters are those of the manager.
    convenience init(
        home: Path, configuration: Configuration = Configuration(),
        environment: [String: String] = ProcessInfo.processInfo.environment,
        http: any HTTPClient = DefaultHTTPClient(), time: TimeSource = .system,
        deviceMemory: UInt64 = DeviceMemory.read().usable, appVersion: SemanticVersion? = nil,
        bundled: [BundledSource] = [],
        engines: EngineRegistry = .standard, pressure: any MemoryPressureSource = SystemMemoryPressure(),
        queue: TransferManager? = nil
    ) throws {
        var surroundings = Surroundings()
        (surroundings.environment, surroundings.http, surroundings.time) = (environment, http, time)
        (surroundings.deviceMemory, surroundings.appVersion, surroundings.bundled) = (deviceMemory, appVersion, bundled)
        (surroundings.engines, surroundings.pressure) = (engines, pressure)
        try self.init(home: home, configuration: configuration, surroundings, queue: queue)
    }
}
