#if Llama
import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthLlama

/// A loop over a fresh model, the light one without another, and its requests.
final class StepBench {
    let loop: GenerationLoop
    private(set) var streams: [AsyncThrowingStream<GenerationEvent, any Error>] = []

    init(
        _ path: Path? = nil, sequences: Int = 8, context: Int = 4096, cells: Int? = nil, batch: Int = 512,
        threads: Int? = 1,
        gpuLayers: Int = -1,
        hasGPU: Bool = false, load: CoreLoad = CoreLoad(), time: TimeSource = .system, folder: Path? = nil,
        fileSystem: any FileSystem = LocalFileSystem()
    ) throws {
        loop = GenerationLoop(
            try LoadedModel(
                path: try path ?? TestModel.light,
                configuration: LlamaConfiguration(
                    contextLength: context, cells: cells, batchSize: batch, threadCount: threads,
                    gpuLayers: gpuLayers,
                    stateFolder: folder, stateBytes: folder == nil ? 0 : nil, sequences: sequences),
                hasGPU: hasGPU, fileSystem: fileSystem, progress: { _ in true }),
            load: load, time: time)
    }

    func ask(_ text: String, tokens: Int = 16) -> GenerationRequest {
        let (stream, continuation) = AsyncThrowingStream<GenerationEvent, any Error>.makeStream()
        streams.append(stream)
        return ask(text, tokens: tokens, of: continuation)
    }

    /// The same with a stream that the test keeps.
    func ask(
        _ text: String, tokens: Int, of continuation: AsyncThrowingStream<GenerationEvent, any Error>.Continuation
    ) -> GenerationRequest {
        GenerationRequest(
            role: .text, messages: [ChatMessage(.user, text)],
            options: .greedy(maximumNewTokens: tokens), signal: StopSignal(),
            stopwatch: TimeSource.system.stopwatch(), reply: GenerationReply(continuation))
    }

    /// Steps until all have ended.
    func finish() { while !loop.runs.isEmpty { _ = loop.step() } }

    /// Cancels all running requests at the next step, because no test needs the rest of their answers.
    func cancelAll() {
        for run in loop.runs { run.request.signal.cancel() }
        _ = loop.step()
        #expect(loop.runs.isEmpty)
    }

    static let longText = String(repeating: "The fox walks along the quiet river. ", count: 180)

    static func long(_ word: String, sentences: Int = 163) -> String {
        String(repeating: "The \(word) walks along the quiet river today. ", count: sentences)
    }
}
#endif
