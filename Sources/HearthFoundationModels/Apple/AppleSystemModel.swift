#if canImport(FoundationModels)
import Foundation
import FoundationModels
import HearthInference

@available(iOS 26.0, macOS 26.0, visionOS 26.0, *)
@available(tvOS, unavailable)
extension SystemModelEngine {
    /// The engine of a model of the system, by default of the one for all purposes.
    public init(_ model: SystemLanguageModel = .default) { self.init(model: AppleSystemModel(model: model)) }
}

/// The system's model behind Hearth's types. Each request has a session of its own.
@available(iOS 26.0, macOS 26.0, visionOS 26.0, *)
@available(tvOS, unavailable)
struct AppleSystemModel: SystemModel {
    let model: SystemLanguageModel

    var unavailability: SystemUnavailability? {
        switch model.availability {
        case .available: nil
        case .unavailable(.deviceNotEligible): .deviceNotEligible
        case .unavailable(.appleIntelligenceNotEnabled): .appleIntelligenceNotEnabled
        case .unavailable(.modelNotReady): .modelNotReady
        case .unavailable: .unknown
        }
    }

    var contextSize: Int {
        #if canImport(FoundationModels, _version: 2)
        model.contextSize
        #else
        0
        #endif
    }

    func answer(
        _ request: SystemRequest, onSnapshot: @escaping @Sendable (String) -> Bool
    ) async throws -> TokenUsage? {
        do {
            let session = FoundationModels.LanguageModelSession(model: model, transcript: request.transcript)
            let prompt = FoundationModels.Prompt(request.prompt)
            guard let schema = request.schema else {
                var usage: TokenUsage?
                for try await snapshot in session.streamResponse(to: prompt, options: request.options) {
                    usage = Self.usage(of: snapshot)
                    guard onSnapshot(snapshot.content) else { break }
                }
                try Task.checkCancellation()
                return usage
            }
            let form: GenerationSchema
            do {
                form = try JSONDecoder().decode(GenerationSchema.self, from: Data(schema.utf8))
            } catch {
                throw SystemFailure.unsupportedGuide
            }
            let response = try await session.respond(
                to: prompt, schema: form, includeSchemaInPrompt: true, options: request.options)
            _ = onSnapshot(response.content.jsonString)
            return Self.usage(of: response)
        } catch {
            throw Self.failure(error) ?? error
        }
    }

    private static func usage(
        of snapshot: FoundationModels.LanguageModelSession.ResponseStream<String>.Snapshot
    ) -> TokenUsage? {
        #if canImport(FoundationModels, _version: 2)
        if #available(iOS 27.0, macOS 27.0, visionOS 27.0, *) { return TokenUsage(snapshot.usage) }
        #endif
        return nil
    }

    private static func usage(
        of response: FoundationModels.LanguageModelSession.Response<GeneratedContent>
    ) -> TokenUsage? {
        #if canImport(FoundationModels, _version: 2)
        if #available(iOS 27.0, macOS 27.0, visionOS 27.0, *) { return TokenUsage(response.usage) }
        #endif
        return nil
    }

    /// The failure that an error of the system stands for; `nil` for other errors.
    private static func failure(_ error: any Error) -> SystemFailure? {
        #if canImport(FoundationModels, _version: 2)
        if #available(iOS 27.0, macOS 27.0, visionOS 27.0, *), let failure = SystemFailure(error) { return failure }
        #endif
        guard let error = error as? FoundationModels.LanguageModelSession.GenerationError else { return nil }
        return switch error {
        case .exceededContextWindowSize: .contextSizeExceeded(tokens: nil)
        case .assetsUnavailable: .assetsUnavailable
        case .guardrailViolation, .refusal: .refused
        case .unsupportedGuide: .unsupportedGuide
        case .unsupportedLanguageOrLocale: .unsupportedLanguage
        case .decodingFailure: .undecodable
        case .rateLimited: .rateLimited(seconds: nil)
        case .concurrentRequests: .busy
        @unknown default: nil
        }
    }
}

@available(iOS 26.0, macOS 26.0, visionOS 26.0, *)
@available(tvOS, unavailable)
extension SystemRequest {
    /// The conversation before the last question.
    fileprivate var transcript: FoundationModels.Transcript {
        var entries: [FoundationModels.Transcript.Entry] = []
        if !instructions.isEmpty {
            entries.append(.instructions(.init(segments: [Self.segment(instructions)], toolDefinitions: [])))
        }
        for turn in turns {
            switch turn {
            case .prompt(let text): entries.append(.prompt(.init(segments: [Self.segment(text)])))
            case .response(let text): entries.append(.response(.init(assetIDs: [], segments: [Self.segment(text)])))
            }
        }
        return FoundationModels.Transcript(entries: entries)
    }

    private static func segment(_ text: String) -> FoundationModels.Transcript.Segment {
        .text(.init(content: text))
    }

    fileprivate var options: FoundationModels.GenerationOptions {
        let mode: FoundationModels.GenerationOptions.SamplingMode? =
            switch sampling {
            case nil: nil
            case .greedy: .greedy
            case .top(let count, let seed): .random(top: count, seed: seed)
            case .probability(let part, let seed): .random(probabilityThreshold: part, seed: seed)
            }
        #if canImport(FoundationModels, _version: 2)
        return .init(samplingMode: mode, temperature: temperature, maximumResponseTokens: maximumTokens)
        #else
        return .init(sampling: mode, temperature: temperature, maximumResponseTokens: maximumTokens)
        #endif
    }
}

#if canImport(FoundationModels, _version: 2)
@available(iOS 27.0, macOS 27.0, visionOS 27.0, *)
extension SystemFailure {
    /// The failure that an error of OS 27 stands for; `nil` for other errors.
    fileprivate init?(_ error: any Error) {
        switch error {
        case let error as LanguageModelError:
            switch error {
            case .contextSizeExceeded(let facts): self = .contextSizeExceeded(tokens: facts.tokenCount)
            case .rateLimited(let facts): self = .rateLimited(seconds: facts.resetDate?.timeIntervalSinceNow)
            case .guardrailViolation, .refusal: self = .refused
            case .unsupportedGenerationGuide: self = .unsupportedGuide
            case .unsupportedLanguageOrLocale: self = .unsupportedLanguage
            case .timeout: self = .timedOut
            case .unsupportedCapability, .unsupportedTranscriptContent: return nil
            @unknown default: return nil
            }
        case FoundationModels.LanguageModelSession.Error.concurrentRequests: self = .busy
        case is SystemLanguageModel.Error: self = .assetsUnavailable
        case is GeneratedContent.ParsingError: self = .undecodable
        default: return nil
        }
    }
}

@available(iOS 27.0, macOS 27.0, visionOS 27.0, *)
extension TokenUsage {
    fileprivate init(_ usage: FoundationModels.LanguageModelSession.Usage) {
        self.init(
            promptTokens: usage.input.totalTokenCount, cachedTokens: usage.input.cachedTokenCount,
            generatedTokens: usage.output.totalTokenCount, thinkingTokens: usage.output.reasoningTokenCount)
    }
}
#endif
#endif
