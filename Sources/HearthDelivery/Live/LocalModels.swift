import HearthBase
import HearthCatalog
import HearthStore

/// Reads the models on this device: installed releases and those bundled with the app.
extension LiveReleases {
    /// Finds the usable model of a family.
    nonisolated func usableModel(of family: Family) async throws -> ModelAvailability {
        let state = try await store.state(of: family)
        var active: InstalledRelease?
        if let identity = state.active { active = try await undamaged(identity) }
        return .deciding(bundled: await bundledReleases()[family], active: active, pinned: state.pinned)
    }

    /// Finds the usable model of every family; unusable releases are logged.
    nonisolated func usableModels() async throws -> [Family: ModelAvailability] {
        let (models, problems) = try await store.usable(beside: await bundledReleases())
        for (family, problem) in problems { Self.log(problem, of: family) }
        return models
    }

    static func log(_ problem: any Error, of family: Family) {
        Log.write(.warning, "live", "\(family) cannot be used: \(problem)")
    }

    /// An installed release; `nil` if it is missing, or damaged, which is logged.
    nonisolated func undamaged(_ identity: ReleaseIdentity) async throws -> InstalledRelease? {
        do {
            return try await store.installed(identity)
        } catch let error as StoreError where [.receiptDamaged, .releaseDamaged].contains(error.code) {
            Log.write(.warning, "store", "\(error)")
            return nil
        }
    }

    /// The bundled release of each family.
    nonisolated func bundledReleases() async -> [Family: BundledRelease] {
        var releases: [Family: BundledRelease] = [:]
        let device = DeviceProfile(memory: device.memory, formats: device.formats, appVersion: device.appVersion)
        for source in bundled {
            do {
                let found = try await source.releases(for: device).map { ($0.identity.family, $0) }
                releases.merge(found) { first, _ in first }
            } catch {
                Log.write(.warning, "catalog", "\(source.folder) holds no models: \(error)")
            }
        }
        return releases
    }
}

extension [InstalledRelease] {
    /// The one of the given version and variant, else the active one.
    func only(_ family: Family, _ version: ReleaseVersion?, _ variant: Variant?) throws -> InstalledRelease {
        let releases = filter { $0.identity.family == family }
        let named = Set(releases.map(\.identity).named(version, variant))
        let fitting = releases.filter { named.contains($0.identity) }
        if let active = fitting.first(where: \.isActive) { return active }
        guard let only = fitting.first else { throw StoreError.notInstalled(family, version, variant) }
        guard fitting.count == 1 else {
            let names = fitting.map(\.identity.description).joined(separator: ", ")
            throw DeliveryError(
                .ambiguous, "several releases of \(family) are installed and none is active: \(names)",
                context: ErrorContext(
                    model: family.name, field: "release", found: fitting[0].identity.description,
                    remedy: "Choose one of them."))
        }
        return only
    }
}

/// The models found on this device when the app started.
package struct StoredModels: Sendable {
    /// The model that new requests get, by family: the live release or the bundled one.
    package internal(set) var models: [Family: ModelAvailability] = [:]
    /// The reason why a live release cannot be used, by family.
    package internal(set) var problems: [Family: any Error] = [:]
    /// The reason why the store cannot be read, such as a home folder of a newer version; `nil` if it was read.
    package internal(set) var failure: (any Error)?
}
