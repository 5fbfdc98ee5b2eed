import Foundation
import HearthBase
import HearthInference
import HearthWorkers

#if Llama
import HearthImport
import HearthLlama
#endif

/// Work on a model's files or a GPU beside the engines, each in a worker of its own.
enum WorkerJob: Codable, Sendable {
    /// Tells the devices of this machine.
    case devices
    /// Writes weights with fewer bits.
    case quantize(source: String, target: String, type: String)
    /// Writes one GGUF file of a folder of safetensors.
    case importFolder(source: String, target: String)

    #if Llama
    /// The projector of an imported model that sees, beside its weights.
    static func projector(beside weights: Path) -> Path { weights.parent.appending("mmproj.gguf") }
    #endif

    /// Does the work in this process.
    /// - Returns: the result as JSON; empty without one.
    func run(_ progress: @escaping @Sendable (Float) -> Void) async throws -> [UInt8] {
        #if Llama
        switch self {
        case .devices: return Array(try JSON.data(await blocking { LlamaFacts.read() }))
        case .quantize(let source, let target, let type):
            guard let type = LlamaQuantizer.Target(rawValue: type) else { break }
            try await LlamaQuantizer.quantize(
                Path(source), to: Path(target), as: type, allowsRequantizing: true
            ) { progress(Float($0)) }
            return []
        case .importFolder(let source, let target):
            try await StopFlag.blocking { flag in
                let model = try ModelImport(folder: Path(source))
                _ = try model.projector?.write(to: Self.projector(beside: Path(target)), flag: flag) { _ in }
                _ = try model.write(to: Path(target), flag: flag) { progress(Float($0)) }
            }
            return []
        }
        #endif
        throw LLMError(.engineMissing, "this build has no llama.cpp")
    }

    #if Llama
    /// The devices of this machine, read by a worker of the program or by this process.
    static func deviceFacts(_ program: Path?) async throws -> LlamaFacts {
        guard let program else { return await blocking { LlamaFacts.read() } }
        var start = WorkerStart(program)
        start.drivesGPUs = EngineOpening.drivesGPUs
        return try JSON.value(LlamaFacts.self, try await devices.run(by: start, model: "this device"))
    }
    #endif

    /// The longest time of the work; `nil` if it tells its progress.
    private var limit: Duration? {
        if case .devices = self { .seconds(30) } else { nil }
    }

    /// Does the work in a worker.
    func run(
        by start: WorkerStart, model: String, progress: @escaping @Sendable (Float) -> Void = { _ in }
    ) async throws -> Data {
        let content = Array(try JSON.data(self))
        let host = try await WorkerHost(model: model) { try start.start() }
        return Data(try await host.run(content, within: limit, progress: progress))
    }
}
