#if Llama
import CLlama
import CLlamaShim
import HearthBase
import HearthInference

/// Chooses the tokens of one generation.
struct Sampler: ~Copyable {
    private enum Method {
        case greedy
        /// Temperature and a seeded choice only; the usual options need no more.
        case draw(OpaquePointer, temperature: Float)
        case chain(UnsafeMutablePointer<llama_sampler>)
    }

    private let method: Method
    private let vocabularySize: Int32

    /// Makes the sampler for `options`: the requested ones of penalties, top-k, top-p and min-p, then temperature
    /// and the seeded choice. A temperature of 0 takes the most likely token.
    init(_ options: SamplingOptions, vocabulary: Vocabulary) throws {
        vocabularySize = Int32(vocabulary.count)
        method = try Self.method(options, vocabulary)
        if case .greedy = method { return }
        Handles.take(.sampler)
    }

    deinit {
        switch method {
        case .greedy: return
        case .draw(let choice, _): hearth_choice_free(choice)
        case .chain(let chain): llama_sampler_free(chain)
        }
        Handles.give(.sampler)
    }

    /// Chooses a token from logits, one for each token of the vocabulary, and records it for the penalties.
    /// - Throws: `generation-failed` when no token can be chosen.
    borrowing func sample(_ logits: UnsafePointer<Float>) throws -> llama_token {
        let token = try draw(logits)
        accept(token)
        return token
    }

    /// Draws a candidate token. The caller may reject it by setting its logit to negative infinity, and passes the
    /// token it keeps to ``accept(_:)``.
    /// - Throws: `generation-failed` when no token can be chosen.
    borrowing func draw(_ logits: UnsafePointer<Float>) throws -> llama_token {
        let token =
            switch method {
            case .greedy: hearth_choice_greedy(logits, vocabularySize)
            case .draw(let choice, let temperature):
                hearth_choice_draw(choice, logits, vocabularySize, temperature)
            case .chain(let chain): hearth_chain_draw(chain, logits, vocabularySize)
            }
        guard token >= 0 else { throw Self.noMemory }
        return token
    }

    /// Records a kept token for the penalties.
    borrowing func accept(_ token: llama_token) {
        if case .chain(let chain) = method { llama_sampler_accept(chain, token) }
    }

    /// The probabilities of the tokens at one place.
    struct Chances {
        /// The most likely tokens, the first is the most likely.
        fileprivate(set) var best: [(token: llama_token, logProbability: Float)]
        /// The logarithms of the tokens' probabilities.
        fileprivate let others: (llama_token) -> Float

        /// The logarithm of a token's probability. The most negative number for a token that the filters left out.
        func logProbability(of token: llama_token) -> Float {
            let value = best.first { $0.token == token }?.logProbability ?? others(token)
            return value.isFinite ? value : -.greatestFiniteMagnitude
        }
    }

    /// The probabilities of logits.
    /// - Parameters:
    ///   - most: the number of best tokens.
    ///   - afterSampling: whether penalties, filters and temperature are applied first.
    /// - Throws: `generation-failed` without memory.
    borrowing func chances(_ logits: UnsafePointer<Float>, most: Int, afterSampling: Bool) throws -> Chances {
        if afterSampling, case .chain(let chain) = method {
            var tokens = [llama_token](repeating: 0, count: Int(vocabularySize))
            var values = [Float](repeating: 0, count: Int(vocabularySize))
            let found = hearth_chain_chances(chain, logits, vocabularySize, &tokens, &values)
            guard found >= 0 else { throw Self.noMemory }
            let all = zip(tokens, values).prefix(Int(found)).map { (token: $0, logProbability: $1) }
            return Chances(best: Array(all.prefix(most))) { token in
                all.first { $0.token == token }?.logProbability ?? -.infinity
            }
        }
        var scale: Float = 1
        if afterSampling, case .draw(_, let temperature) = method { scale = 1 / temperature }
        if afterSampling, case .greedy = method {
            let token = hearth_choice_greedy(logits, vocabularySize)
            return Chances(best: [(token, 0)]) { _ in -.infinity }
        }
        var tokens = [llama_token](repeating: 0, count: most)
        var sum = 0.0
        let found = hearth_logits_best(logits, vocabularySize, scale, &tokens, Int32(most), &sum)
        func value(_ token: llama_token, _ logit: Float) -> Float { Float(Double(logit) * Double(scale) - sum) }
        // The logits may change before the chosen token is known, but not that of the chosen token.
        return Chances(best: tokens.prefix(Int(found)).map { ($0, value($0, logits[Int($0)])) }) {
            value($0, logits[Int($0)])
        }
    }

    private static func method(_ options: SamplingOptions, _ vocabulary: Vocabulary) throws -> Method {
        // llama.cpp reads the largest seed as "choose one", so that seed would not be repeatable.
        let seed = min(options.seed ?? .random(in: 0 ... .max), .max - 1)
        let isPlain = options.topK == nil && options.topP == nil && options.minP == nil
        let penalties = Penalties(options)
        let size = Int32(vocabulary.count)
        let bias =
            vocabulary.suppressedTokens.map { llama_logit_bias(token: $0, bias: -.infinity) }
            + options.logitBias.filter { (0..<size).contains($0.key) && !$0.value.isNaN }
            .sorted { $0.key < $1.key }.map { llama_logit_bias(token: $0.key, bias: $0.value) }
        if bias.isEmpty && penalties == nil {
            if !(options.temperature > 0) { return .greedy }
            if isPlain {
                guard let choice = hearth_choice_new(seed) else { throw noMemory }
                return .draw(choice, temperature: options.temperature)
            }
        }

        var parameters = llama_sampler_chain_default_params()
        parameters.no_perf = true
        guard let chain = llama_sampler_chain_init(parameters) else { throw noMemory }
        func add(_ sampler: UnsafeMutablePointer<llama_sampler>?) {
            if let sampler { llama_sampler_chain_add(chain, sampler) }
        }
        if !bias.isEmpty { add(llama_sampler_init_logit_bias(size, Int32(bias.count), bias)) }
        if let penalties {
            add(
                llama_sampler_init_penalties(
                    size, penalties.window, penalties.repeats, penalties.frequency, penalties.presence))
        }
        if options.temperature > 0 {
            if let count = options.topK { add(llama_sampler_init_top_k(Int32(clamping: count))) }
            if let share = options.topP, !share.isNaN { add(llama_sampler_init_top_p(share, 1)) }
            if let share = options.minP, !share.isNaN { add(llama_sampler_init_min_p(share, 1)) }
            add(llama_sampler_init_temp(options.temperature))
            add(llama_sampler_init_dist(seed))
        } else {
            add(llama_sampler_init_greedy())
        }
        return .chain(chain)
    }

    private static var noMemory: LLMError { LLMError(.generateFailed, "there is no memory for a sampler") }

    /// The requested penalties that have an effect. Values that are not numbers have none.
    private struct Penalties {
        let window: Int32
        let repeats: Float
        let frequency: Float
        let presence: Float

        init?(_ options: SamplingOptions) {
            func usable(_ value: Float?, else neutral: Float) -> Float {
                value.flatMap { $0.isFinite ? $0 : nil } ?? neutral
            }
            let asked = usable(options.repeatPenalty, else: 1)
            repeats = asked > 0 ? asked : 1
            frequency = usable(options.frequencyPenalty, else: 0)
            presence = usable(options.presencePenalty, else: 0)
            // llama.cpp's sampler allocates a ring of this size.
            window = Int32(min(max(0, options.penaltyWindow), 1 << 20))
            if window == 0 || (repeats == 1 && frequency == 0 && presence == 0) { return nil }
        }
    }
}
#endif
