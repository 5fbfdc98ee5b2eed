#if Llama
    import CLlama
    import CLlamaShim
    import HearthBase
    import HearthInference

    /// Owns everything llama.cpp holds for one model: weights, context, threads, chat template.
    ///
    /// Unchecked because it owns C handles: only the thread of the actor that loaded it may touch it, except ``close()``,
    /// which is also called when the actor is gone and nobody else can reach it.
    final class LoadedModel: @unchecked Sendable {
        private let model: OpaquePointer
        let context: OpaquePointer
        private let threads: OpaquePointer?
        private var template: ChatTemplate?
        private var isClosed = false
        let vocabulary: Vocabulary
        let information: ModelInformation
        /// The most prompt tokens computed between two looks at whether anybody still wants the answer.
        let chunkSize: Int
        /// The tokens whose state the context holds, in order: exact, or reuse would answer something that was not asked.
        var ledger: [llama_token] = []

        /// Loads the weights, makes a context and computes one token, so that the first answer does not pay for it.
        ///
        /// - Parameter progress: called with 0...1 on the loading thread; `false` ends loading.
        init(path: Path, configuration: LlamaConfiguration, progress: @escaping (Float) -> Bool) throws {
            LlamaLibrary.prepare()
            try ModelFile.check(path)
            _ = LlamaLog.shared.takeProblems()
            model = try Self.loadWeights(path, configuration, progress)
            var context: OpaquePointer?
            var threads: OpaquePointer?
            do {
                let made = try Self.makeContext(model, path, configuration)
                context = made
                threads = hearth_threads_attach(made, Int32(configuration.resolvedThreadCount))
                template = try ChatTemplate(model: model)
                guard let vocabulary = llama_model_get_vocab(model) else {
                    throw Self.failure(path, "it has no vocabulary")
                }
                self.context = made
                self.threads = threads
                self.vocabulary = Vocabulary(vocabulary)
                information = Self.readInformation(model, made, configuration)
                let isOnGPU = configuration.resolvedGPULayers != 0 && LlamaFacts.hasGPU
                chunkSize = LlamaConfiguration.chunkSize(batch: information.batchSize, isInterruptible: !isOnGPU)
            } catch {
                if let context { llama_free(context) }
                hearth_threads_free(threads)
                llama_model_free(model)
                throw error
            }
            do {
                try warmUp(path)
            } catch {
                close()
                throw error
            }
        }

        deinit { close() }

        /// Gives everything back; later calls do nothing.
        func close() {
            guard !isClosed else { return }
            isClosed = true
            // The template reads the model, the context uses the threads and the model.
            template = nil
            llama_free(context)
            hearth_threads_free(threads)
            llama_model_free(model)
        }

        /// Runs `body`, whose computations end early once the signal is set.
        func listening<Result>(to signal: StopSignal, _ body: () throws -> Result) rethrows -> Result {
            llama_set_abort_callback(
                context,
                { signal in
                    signal.map { Unmanaged<StopSignal>.fromOpaque($0).takeUnretainedValue().isSet } ?? false
                },
                Unmanaged.passUnretained(signal).toOpaque())
            defer { llama_set_abort_callback(context, nil, nil) }
            return try withExtendedLifetime(signal, body)
        }

        /// The prompt text of a conversation.
        func render(_ messages: [ChatMessage]) throws -> String {
            guard template != nil else { throw LLMError(.modelNotLoaded, "no model is loaded") }
            return try template?.render(messages) ?? ""
        }

        // MARK: Loading

        private static func loadWeights(
            _ path: Path, _ configuration: LlamaConfiguration, _ progress: @escaping (Float) -> Bool
        ) throws -> OpaquePointer {
            let observer = ProgressObserver(progress)
            var options = hearth_model_options()
            options.gpu_layers = Int32(clamping: configuration.resolvedGPULayers)
            options.progress = { value, observer in
                guard let observer else { return true }
                return Unmanaged<ProgressObserver>.fromOpaque(observer).takeUnretainedValue().report(value)
            }
            options.user = Unmanaged.passUnretained(observer).toOpaque()
            var reason: UnsafeMutablePointer<CChar>?
            let model = withExtendedLifetime(observer) { hearth_model_load(path.string, &options, &reason) }
            if observer.isStopped {
                if let model { llama_model_free(model) }
                throw CancellationError()
            }
            guard let model else { throw failure(path, problems(reason, else: "llama.cpp cannot read it")) }
            guard llama_model_has_decoder(model), !llama_model_has_encoder(model), !llama_model_is_diffusion(model)
            else {
                llama_model_free(model)
                throw failure(path, "it is not a model that answers with text token by token")
            }
            return model
        }

        private static func makeContext(
            _ model: OpaquePointer, _ path: Path, _ configuration: LlamaConfiguration
        ) throws -> OpaquePointer {
            let length = configuration.resolvedContextLength(trained: Int(llama_model_n_ctx_train(model)))
            var options = hearth_context_options()
            options.length = UInt32(clamping: length)
            options.batch = UInt32(clamping: min(configuration.resolvedBatchSize, length))
            options.threads = Int32(configuration.resolvedThreadCount)
            var reason: UnsafeMutablePointer<CChar>?
            guard let context = hearth_context_new(model, &options, &reason) else {
                throw failure(
                    path, problems(reason, else: "there is not enough memory for its context of \(length) tokens"))
            }
            return context
        }

        private static func readInformation(
            _ model: OpaquePointer, _ context: OpaquePointer, _ configuration: LlamaConfiguration
        ) -> ModelInformation {
            var text = [CChar](repeating: 0, count: 256)
            let length = max(0, min(Int(llama_model_desc(model, &text, text.count)), text.count - 1))
            return ModelInformation(
                description: String(decoding: text.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self),
                parameterCount: llama_model_n_params(model), size: llama_model_size(model),
                contextLength: Int(llama_n_ctx_seq(context)),
                trainedContextLength: Int(llama_model_n_ctx_train(model)), batchSize: Int(llama_n_batch(context)),
                threadCount: Int(llama_n_threads(context)))
        }

        private func warmUp(_ path: Path) throws {
            var token = vocabulary.warmUpToken
            let status = llama_decode(context, llama_batch_get_one(&token, 1))
            guard status == 0 else {
                throw Self.failure(path, Self.problems(else: "its first token fails (status \(status))"))
            }
            clearMemory()
        }

        /// Why something failed: what the shim says, else the first error line since the attempt began, which is the cause
        /// that the lines after it pass on.
        private static func problems(_ reason: UnsafeMutablePointer<CChar>? = nil, else other: String) -> String {
            defer { hearth_string_free(reason) }
            let lines = LlamaLog.shared.takeProblems()
            return reason.map { String(cString: $0) } ?? lines.first ?? other
        }

        private static func failure(_ path: Path, _ reason: String) -> LLMError {
            LLMError(
                .cannotLoad, "cannot load \(path.lastComponent): \(reason)",
                context: ErrorContext(
                    file: path.string,
                    remedy: "Verify the file, or fetch it again; if it is whole, choose a smaller context or model."))
        }

        // MARK: Memory

        /// Forgets all tokens.
        func clearMemory() {
            llama_memory_clear(llama_get_memory(context), false)
            ledger.removeAll(keepingCapacity: true)
        }

        /// Keeps the state of the first `count` tokens; models that cannot forget a part forget everything.
        func truncateMemory(to count: Int) {
            let memory = llama_get_memory(context)
            guard llama_memory_seq_rm(memory, 0, llama_pos(count), -1),
                llama_memory_seq_pos_max(memory, 0) == llama_pos(count - 1)
            else { return clearMemory() }
            ledger.removeSubrange(min(count, ledger.count)...)
        }
    }

    /// Carries a load's progress through C, and the wish to stop.
    private final class ProgressObserver {
        private let body: (Float) -> Bool
        private(set) var isStopped = false

        init(_ body: @escaping (Float) -> Bool) { self.body = body }

        func report(_ value: Float) -> Bool {
            if !body(min(1, max(0, value))) { isStopped = true }
            return !isStopped
        }
    }
#endif
