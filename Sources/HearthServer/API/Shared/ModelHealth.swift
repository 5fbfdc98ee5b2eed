import HearthBase
import HearthInference
import HearthRouting

/// Asks the loaded models for one token each. Loads no model, and keeps none in memory.
package final class ModelHealth: Sendable {
    /// What the models answered.
    package struct Finding: Sendable, Hashable {
        /// The loaded models that made a token or answer others.
        package var well = 0
        /// Those that did not.
        package var failing = 0
    }

    private struct State {
        var last: (finding: Finding, age: Stopwatch)?
        var asking: Task<Finding, Never>?
    }

    /// How long a finding is repeated: callers without a key cannot make the models compute more often.
    static let lifetime = Duration.seconds(10)
    /// The longest wait for a token.
    private static let patience = Duration.seconds(20)

    private let provider: any ModelProvider
    private let time: TimeSource
    private let state = Locked(State())

    init(_ provider: any ModelProvider, time: TimeSource) {
        self.provider = provider
        self.time = time
    }

    /// The last finding, or a new one if that is too old. Callers at the same time share one.
    package func finding() async -> Finding {
        let task = state.withLock { state -> Task<Finding, Never> in
            if let asking = state.asking { return asking }
            if let last = state.last, last.age.elapsed < Self.lifetime { return Task { last.finding } }
            let asking = Task { await ask() }
            state.asking = asking
            return asking
        }
        return await task.value
    }

    private func ask() async -> Finding {
        var finding = Finding()
        for loaded in await provider.loaded() {
            if await isWell(loaded.model) { finding.well += 1 } else { finding.failing += 1 }
        }
        let age = time.stopwatch()
        state.withLock { state in
            state.last = (finding, age)
            state.asking = nil
        }
        return finding
    }

    private func isWell(_ model: ServedModel) async -> Bool {
        var options = GenerationOptions(maximumNewTokens: 1, timeout: Self.patience)
        options.sampling.temperature = 0
        do {
            let engine = try await provider.engine(for: model)
            let summary = try await engine.generate([ChatMessage(.user, "Hi")], options: options) { _ in }
            if summary.usage.generatedTokens > 0 { return true }
            Log.write(.info, "api", "\(model.name) made no token within \(Self.patience)")
        } catch is CancellationError {
            // It left memory meanwhile.
            return true
        } catch let error as LLMError where error.code == .busy {
            return true
        } catch let error as LLMError where error.code == .timedOut {
            Log.write(.info, "api", "\(model.name) made no token: \(error)")
        } catch {
            Log.write(.error, "api", "\(model.name) makes no token: \(error)")
            return false
        }
        // A question may wait while others fill all slots: of a dialect, of the page, of the program itself.
        return await provider.isAnswering(model)
    }
}
