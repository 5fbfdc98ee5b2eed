import HearthBase
import HearthCatalog
import HearthStore

/// The facts about this device that decide which releases it may have.
struct DeviceLimits: Sendable {
    /// The bytes of memory a model may use.
    let memory: UInt64
    /// The bytes read from memory in a second, or `nil` to disregard speed. Blocks.
    let bandwidth: @Sendable () -> Double?
    /// Whether releases may need more memory than the device has, because the user insists.
    let ignoresMemory: Bool
    let formats: Set<ModelFormat>?
    let appVersion: SemanticVersion?
    let preparer: (any ReleasePreparer)?
    /// Created when a rollout needs it.
    let identifier: DeviceIdentifier

    /// The facts that decide about the releases of an origin.
    func profile(for catalog: Catalog) async -> DeviceProfile {
        var device = DeviceProfile(
            memory: memory, formats: formats, appVersion: appVersion,
            fitsAfterPreparation: fitsAfterPreparation(in: catalog))
        let needsCohort = catalog.releases.contains { release in
            release.rollout.map { (1..<100).contains($0.percent) } ?? false
        }
        guard needsCohort else { return device }
        do {
            device.cohort = try await blocking { [identifier] in try identifier.cohort() }
        } catch {
            // Without an identifier, the device is only in complete rollouts.
            Log.write(.warning, "catalog", "this device has no name for rollouts: \(error)")
        }
        return device
    }

    /// The facts that decide about releases of a hub repository. The user named it, so any format is accepted.
    func profile(forNamed catalog: Catalog) -> DeviceProfile {
        DeviceProfile(memory: memory, fitsAfterPreparation: fitsAfterPreparation(in: catalog))
    }

    private func fitsAfterPreparation(in catalog: Catalog) -> Set<ReleaseIdentity> {
        guard let preparer else { return [] }
        return Set(catalog.releases.lazy.filter { preparer.fitsAfterPreparation($0) }.map(\.identity))
    }
}
