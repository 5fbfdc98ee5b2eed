import Foundation
import Hearth
import HearthBase
import HearthRouting
import HearthServer

/// The page of the resident process, and the native API behind it.
struct ServedPage: Sendable {
    let service: NativeService
    let files: PageFiles

    /// - Throws: `DatabaseError`, `FileError`, `ConfigurationError`.
    init(_ models: ServedModels, _ context: CommandContext) async throws {
        guard let present = models.present else {
            throw ServerError(.notServing, "the server ends")
        }
        let parts = NativeParts(
            version: HearthCommand.version, network: context.network(), time: context.time,
            cloud: { await Self.cloud($0, context) }, reload: { await models.reloadNow() },
            refresh: { models.refresh($0) },
            used: { await models.used($0) }, address: { models.address },
            ringing: { ReminderTimer.text(environment: context.environment) })
        service = try await NativeService(present, parts: parts)
        files = PageFiles(folder: Self.folder(context.environment), command: "hearth serve --detach")
        models.follow(service)
    }

    /// The cloud model of settings; one that cannot be used is told in words.
    private static func cloud(_ configuration: Configuration, _ context: CommandContext) async -> NativeCloud {
        func premium(_ hasOwnKey: Bool) -> PremiumManager {
            let rights = ConfiguredEntitlement(
                tier: configuration.tier, credits: configuration.credits, hasOwnKey: hasOwnKey)
            // Without a folder the credits are counted in memory.
            return PremiumManager(rights.entitlement, folder: try? context.routingFolder, time: context.time)
        }
        do {
            guard let cloud = try await context.cloud(configuration) else {
                return NativeCloud(premium: premium(false))
            }
            return NativeCloud(
                engine: cloud.engine, name: cloud.name, hasOwnKey: cloud.hasOwnKey,
                premium: premium(cloud.hasOwnKey))
        } catch {
            let sentence = (error as? any HearthFailure)?.errorDescription ?? "\(error)"
            return NativeCloud(premium: premium(false), problem: sentence)
        }
    }

    /// The folder that replaces the page's files in a debug build.
    private static func folder(_ environment: [String: String]) -> Path? {
        #if DEBUG
        environment["HEARTH_PAGE"].map { Path($0) }
        #else
        nil
        #endif
    }

    func close() async { await service.close() }
}
