import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthInference
import HearthRouting
import HearthStore

/// Examines the machine and the home folder without changing them.
struct Examination: Sendable {
    let context: CommandContext
    /// Whether the addresses are asked too, which says more about them.
    let isOnline: Bool
    private let fileSystem = LocalFileSystem()
    private typealias Fact = DoctorReport.Fact

    func report() async -> DoctorReport {
        var report = DoctorReport()
        let steps: [(inout DoctorReport) async throws -> Void] = [
            examineMachine, examineNetwork, examineHub, examineEngine, examineHome, examineRecords, examineServer,
            examineModels, examineOrigins, examineCloud,
        ]
        for step in steps {
            do {
                try await step(&report)
            } catch {
                report.add(error)
            }
        }
        var seen: Set<String> = []
        report.findings.removeAll { !seen.insert($0.lines.joined()).inserted }
        return report
    }

    private func examineMachine(_ report: inout DoctorReport) async throws {
        // The chapter on the home reports invalid settings.
        let window = (try? await context.configuration)?.contextLength
        report.chapters.append(await blocking { Self.machine(DeviceFacts.read(), contextLength: window) })
    }

    private func examineRecords(_ report: inout DoctorReport) async throws {
        guard let home = try? context.home else { return }  // reported with the home
        try await RecordsExamination(home: home, time: context.time).add(to: &report)
    }

    private func examineServer(_ report: inout DoctorReport) async throws {
        guard (try? context.home) != nil else { return }  // reported with the home
        try await ServerExamination(context: context).add(to: &report)
    }

    private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

    /// Reports the network and its monitor, which decide whether `pull` starts.
    private func examineNetwork(_ report: inout DoctorReport) async throws {
        let monitor = try NetworkChoice.monitor(environment: context.environment)
        var condition = NetworkCondition.unrestricted
        for await first in monitor.conditions() {
            condition = first
            break
        }
        var words = condition.isOnline ? ["online", condition.isMetered ? "metered" : "not metered"] : ["offline"]
        words[words.count - 1] += monitor.source.map { " (\($0))" } ?? " (assumed: no NetworkManager to ask)"
        report.add("Network", ["now": words.joined(separator: ", ")])
    }

    /// Notes an invalid address of the Hub, which affects only the Hub's models.
    private func examineHub(_ report: inout DoctorReport) {
        do {
            _ = try HubSettings(environment: context.environment)
        } catch {
            report.add(error, as: .note)
        }
    }

    private func examineEngine(_ report: inout DoctorReport) async throws {
        guard let engine = try await EngineOpening.describe(context.engines) else {
            return report.problem(
                "engine-missing", "this build has no llama.cpp", cure: "Build it with the trait Llama.")
        }
        var facts = [Fact(name: "llama.cpp", value: engine.version)]
        facts += engine.devices.map { Fact(name: "back end", value: $0) }
        if context.engines.workerProgram != nil {
            facts.append(Fact(name: "workers", value: EngineRegistry.confinement.joined(separator: ", ")))
        }
        report.chapters.append(DoctorReport.Chapter(title: "Engine", facts: facts))
    }

    /// Reports installed and damaged releases. Reads receipts and sizes; `verify` reads every byte.
    private func examineModels(_ report: inout DoctorReport) async throws {
        guard let home = try? context.home else { return }  // already reported
        let store = ModelStore(home: home, fileSystem: fileSystem, time: context.time)
        let inventory = try await store.inventory()
        let size = inventory.releases.reduce(UInt64(0)) { $0 + $1.receipt.totalSize }
        let families = Set(inventory.releases.map(\.identity.family)).count
        var facts = [
            DoctorReport.Fact(
                name: "installed",
                value: "\(Self.count(inventory.releases.count, "release")) of \(Self.count(families, "model")), "
                    + "\(ByteCount(size))"),
            Fact(name: "damaged", value: "\(inventory.damaged.count)"),
        ]
        for release in inventory.releases where release.isActive {
            await examineMemory(release, store, &facts, &report)
        }
        report.chapters.append(DoctorReport.Chapter(title: "Models", facts: facts))
        for damaged in inventory.damaged {
            report.problem(
                damaged.problem.codeText, damaged.problem.message,
                cure: "Remove it with 'hearth remove \(damaged.identity)' and bring it again with "
                    + "'hearth pull \(damaged.identity)'.")
        }
        await examineDefaultModel(inventory.releases.map(\.identity), &report)
        for release in inventory.releases where release.isActive {
            await examineArtifact(of: release, store, &report)
        }
        for family in Set(inventory.releases.map(\.identity.family)).sorted() {
            let state = try await store.state(of: family)
            for held in state.heldBack {
                report.note(
                    "held-back",
                    "\(held.release) is held back since \(held.since.formatted(.iso8601)): \(held.reason)",
                    cure: "Wait for a newer version, or try it again with 'hearth use \(held.release)'.")
            }
        }
    }

    /// Reports a default model that is not on this device.
    private func examineDefaultModel(_ installed: [ReleaseIdentity], _ report: inout DoctorReport) async {
        // The chapter on the home reports invalid settings.
        guard let name = (try? await context.configuration)?.defaultModel else { return }
        do {
            guard case .family(let family, let version, let variant) = try ModelReference(parsing: name) else { return }
            let isHere = installed.contains {
                $0.family == family && (version ?? $0.version) == $0.version && (variant ?? $0.variant) == $0.variant
            }
            guard !isHere else { return }
            report.problem(
                "not-installed", "the default model \(name) is not on this device",
                cure: "Bring it with 'hearth pull \(name)', or choose another with 'hearth config set defaultModel'.")
        } catch {
            report.add(error)
        }
    }

    /// Notes a refused artifact; the release is used as published.
    private func examineArtifact(of release: InstalledRelease, _ store: ModelStore, _ report: inout DoctorReport) async
    {
        do {
            guard let refused = try await context.refusedArtifact(of: release, in: store) else { return }
            report.note(
                "artifact-refused",
                "The artifact of \(refused.release) for this device is not used: \(refused.text)",
                cure:
                    "The model is used as it came until the engine changes. To have the artifact made again, remove the "
                    + "model with 'hearth remove \(refused.release)' and bring it again with 'hearth pull'.")
        } catch {
            report.add(error, as: .note)
        }
    }

    /// Reports the memory needed by a model.
    private func examineMemory(
        _ release: InstalledRelease, _ store: ModelStore, _ facts: inout [Fact],
        _ report: inout DoctorReport
    ) async {
        guard let weights = release.weights else { return }
        do {
            // A conversation opens the artifact if there is one.
            let opened = try await context.artifact(of: release, in: store)?.path ?? weights
            guard let plan = try await plan(opened, projector: release.projector, release.identity.family) else {
                return
            }
            facts.append(
                Fact(name: release.identity.description, value: "takes \(MemoryFacts(plan).text)"))
        } catch {
            report.add(error, as: .note)
        }
    }

    private func plan(_ weights: Path, projector: Path?, _ family: Family) async throws -> MemoryPlan? {
        // Settings that cannot be read count as none: the chapter on the home reports them.
        let configuration = ((try? await context.configuration) ?? Configuration()).engine(of: family)
        return try await blocking { [context] in
            let device = context.device()
            return try MemoryPlanning.plan(
                file: weights, projector: projector, configuration: configuration, deviceMemory: device.memory,
                gpu: device.gpu)
        }
    }

    /// Lists the origins; `--online` asks them.
    private func examineOrigins(_ report: inout DoctorReport) async throws {
        // The chapter on the home reports invalid settings.
        guard let configuration = try? await context.configuration else { return }
        let origins = try configuration.origins(environment: context.environment)
        if origins.isEmpty {
            // The catalog of the program is a place to begin.
            guard !configuration.catalog.isShipped else { return }
            report.note(
                "no-origin", "no origin is configured",
                cure: "Set one with 'hearth config set origins.NAME URL', or give HEARTH_ORIGIN.")
            return
        }
        let trust = try context.home.appending("trust")
        let facts = try await blocking {
            try origins.map { origin in
                let isSigned = try origin.root != nil || origin.trustStore(in: trust).isSigned()
                return Fact(name: origin.name, value: origin.manifestURL.shown + (isSigned ? ", signed" : ""))
            }
        }
        report.chapters.append(DoctorReport.Chapter(title: "Origins", facts: facts))
    }

    /// Shows the cloud model of the settings; a key that cannot be used is a problem.
    private func examineCloud(_ report: inout DoctorReport) async throws {
        // The chapter on the home reports invalid settings.
        guard let configuration = try? await context.configuration else { return }
        guard let cloud = try await context.cloud(configuration) else { return }
        report.add("Cloud", ["model": cloud.name, "address": cloud.engine.address.shown])
        guard !isOnline, (cloud.engine as? CloudEngine)?.settings.lacksKey == true else { return }
        report.note(
            "unauthorised", "the cloud wants a key, and none is set",
            cure: "Give it in HEARTH_CLOUD_KEY, or name its file with 'hearth config set cloud.keyFile FILE'.")
    }

    /// - Parameter contextLength: the configured context window.
    static func machine(_ device: DeviceFacts, contextLength: Int?) -> DoctorReport.Chapter {
        let limit = device.memoryLimitBytes.map { ", limited to \(ByteCount($0)) by the control group" } ?? ""
        let memory = min(device.memoryBytes, device.memoryLimitBytes ?? .max)
        let models = ByteCount(MemoryPlan.Device(memory: memory).budget)
        let rule = DeviceRule(deviceMemory: memory)
        let features = device.processorFeatures.joined(separator: " ")
        let facts: KeyValuePairs = [
            "hearth": HearthCommand.version,
            "system": "\(device.operatingSystem), \(device.architecture)",
            "processor": "\(device.processor ?? "unknown"), \(device.coreCount) cores usable",
            "features": features,
            "memory": "\(ByteCount(device.memoryBytes))\(limit), \(models) of it for models",
            "conversations": contextLength.map { "\($0) tokens of context, as set, and as much history as fits" }
                ?? "\(rule.contextLength) tokens of context, \(rule.historyLimit) messages of history",
        ]
        return DoctorReport.Chapter(
            title: "Machine", facts: facts.filter { !$0.value.isEmpty }.map { Fact(name: $0.key, value: $0.value) })
    }

    private func examineHome(_ report: inout DoctorReport) async throws {
        let home = try context.home
        let (chapter, findings) = await blocking { [fileSystem] in
            HomeExamination(home: home, fileSystem: fileSystem).result()
        }
        report.chapters.append(chapter)
        report.findings += findings
    }
}

extension DoctorReport.Finding {
    /// A failure of the examination.
    init(_ error: any Error, severity: Severity = .problem) {
        let rendered = FailureRenderer(error).body
        self.init(severity: severity, code: rendered.code, message: rendered.message, cure: rendered.context.remedy)
    }
}
