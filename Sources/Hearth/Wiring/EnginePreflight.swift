import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthInference
import HearthStore
import HearthTransfer

#if Llama
import HearthImport
#endif

/// Refuses releases that no engine here runs, and those that fit this device with no context and no quantization: judged by
/// their configuration and their headers, before any weights are fetched.
struct EnginePreflight: ReleasePreflight {
    let configuration: Configuration
    let deviceMemory: UInt64
    /// Told the memory needed by a large release, as a sentence to display.
    var tell: @Sendable (String) -> Void
    /// Reads the GPU's memory. Blocks.
    var gpuMemory: @Sendable () -> GPUMemory
    /// The memory of releases by the file that an engine opens.
    private let known = Locked<[Path: ReleaseMemory]>([:])
    /// Whether this device quantizes releases that don't fit.
    var quantizes: Bool
    /// Whether a format is imported here; otherwise an engine of its own runs it. May block.
    var imports: @Sendable (ModelFormat) -> Bool = { _ in true }

    init(
        configuration: Configuration, deviceMemory: UInt64,
        tell: @escaping @Sendable (String) -> Void = { Log.write(.info, "memory", $0) },
        gpuMemory: @escaping @Sendable () -> GPUMemory = EngineOpening.gpuMemory,
        quantizes: Bool = EngineOpening.runsGGUF
    ) {
        (self.configuration, self.deviceMemory) = (configuration, deviceMemory)
        (self.tell, self.gpuMemory, self.quantizes) = (tell, gpuMemory, quantizes)
    }

    func memory(of release: InstalledRelease, weights: Path) async -> ReleaseMemory? {
        if let known = known.withLock({ $0[weights] }) { return known }
        // A release that does not fit, or whose header tells too little, has no figure.
        let plan = try? await blocking {
            try MemoryPlanning.plan(
                file: weights, projector: release.projector,
                configuration: configuration.engine(of: release.identity.family), deviceMemory: deviceMemory,
                gpu: gpuMemory())
        }
        guard let plan = plan ?? nil else { return nil }
        let memory = ReleaseMemory(bytes: plan.hostBytes, contextLength: plan.contextLength)
        known.withLock { $0[weights] = memory }
        return memory
    }

    func check(
        _ release: Release, head: RemoteHead, activates: Bool = true, ignoresMemory: Bool = false
    ) async throws {
        if activates { try await refuseUnknown(release, head) }
        guard !configuration.ignoresMemory, !ignoresMemory else { return }
        // Small releases fit: context and buffers need far less than the rest of the budget.
        let budget = MemoryPlan.Device(memory: deviceMemory).budget
        guard release.totalSize > budget / 4 else { return }
        let model: RemoteModel?
        do {
            model = try await RemoteModel.read(release) { try await head.read(TransferRequest($0), until: $1) }
        } catch let error as CancellationError {
            throw error
        } catch {
            // The transfer meets the same error and reports it better.
            Log.write(.info, "memory", "\(release.identity): the front of its file cannot be read: \(error)")
            return
        }
        let gpu = await blocking { [gpuMemory] in gpuMemory() }
        do {
            guard
                let (plan, quantization) = try model?.outlook(
                    release, configuration: configuration.engine(of: release.identity.family),
                    deviceMemory: deviceMemory, gpu: gpu,
                    quantizes: quantizes)
            else { return }
            let made = quantization.map { "it is quantized to \($0.uppercased()) on this device" }
            let notes = ([made, plan.gpuText].compactMap { $0 } + plan.compromises).map { "; \($0)" }.joined()
            tell(
                "\(release.identity) will take \(ByteCount(plan.hostBytes)) of memory with a context of "
                    + "\(plan.contextLength) tokens\(notes).")
        } catch {
            throw DeliveryError(
                .notEnoughMemory, "\(release.identity) does not fit this device: \(error.message)",
                context: ErrorContext(
                    model: release.identity.description, expected: error.context.expected, found: error.context.found,
                    remedy: "Choose a smaller variant, or ignore the memory of the device."),
                underlying: error)
        }
    }

    /// Refuses a folder of safetensors that cannot be imported.
    private func refuseUnknown(_ release: Release, _ head: RemoteHead) async throws {
        #if Llama
        guard release.format.isSafetensors, await blocking({ imports(release.format) }) else { return }
        func contents(_ name: String) async throws -> Data? {
            guard let file = release.companions.first(where: { $0.name.string == name && !$0.locations.isEmpty }) else {
                return nil
            }
            // Read whole; a file that is too long is refused as cut off.
            return try await head.read(TransferRequest(file)) { _ in false }
        }
        let settings: Data?
        let index: Data?
        do {
            settings = try await contents("config.json")
            index = try await contents("model.safetensors.index.json")
        } catch let error as CancellationError {
            throw error
        } catch {
            // The transfer meets the same error and reports it better.
            Log.write(.info, "import", "\(release.identity): its configuration cannot be read: \(error)")
            return
        }
        guard let settings else { return }
        let names = release.files.filter { $0.name.components.count == 1 }.map(\.name.string)
        guard let objection = Self.objection(to: settings, names, index) else { return }
        let context = objection.context
        throw DeliveryError(
            .incompatible, "\(release.identity) cannot run here: \(objection.message)",
            context: ErrorContext(
                model: release.identity.description, file: context.file, field: context.field,
                expected: context.expected, found: context.found, remedy: context.remedy), underlying: objection)
        #endif
    }

    #if Llama
    private static func objection(to configuration: Data, _ files: [String], _ index: Data?) -> ImportError? {
        do {
            _ = try ImportCheck(configuration: configuration, files: files, index: index)
            return nil
        } catch {
            return error
        }
    }
    #endif
}
