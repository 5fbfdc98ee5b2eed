import AppleFoundation

// developer.apple.com/documentation/foundationmodels/languagemodelsession
@available(iOS 26.0, macOS 26.0, visionOS 26.0, watchOS 27.0, *)
@available(tvOS, unavailable)
public final class LanguageModelSession: @unchecked Sendable {
    // developer.apple.com/documentation/foundationmodels/languagemodelsession/init(model:tools:transcript:)
    public convenience init(model: SystemLanguageModel = .default, tools: [any Tool] = [], transcript: Transcript) {}
    // developer.apple.com/documentation/foundationmodels/languagemodelsession/init(model:tools:instructions:)
    @_disfavoredOverload
    public convenience init(
        model: SystemLanguageModel = .default, tools: [any Tool] = [], instructions: String? = nil) {}
    init(stub: Void) {}

    // developer.apple.com/documentation/foundationmodels/languagemodelsession/streamresponse(to:options:)
    public func streamResponse(
        to prompt: Prompt, options: GenerationOptions = GenerationOptions()
    ) -> sending ResponseStream<String> {}

    // developer.apple.com/documentation/foundationmodels/languagemodelsession/respond(to:options:)
    @discardableResult @_disfavoredOverload
    public nonisolated(nonsending) func respond(
        to prompt: String, options: GenerationOptions = GenerationOptions()
    ) async throws -> Response<String> {}

    // developer.apple.com/documentation/foundationmodels/languagemodelsession/respond(to:schema:includeschemainprompt:options:)
    @discardableResult
    public nonisolated(nonsending) func respond(
        to prompt: Prompt, schema: GenerationSchema, includeSchemaInPrompt: Bool = true,
        options: GenerationOptions = GenerationOptions()
    ) async throws -> Response<GeneratedContent> {}

    // developer.apple.com/documentation/foundationmodels/languagemodelsession/response
    public struct Response<Content: Generable> {
        init(stub: Content, _ raw: GeneratedContent) {}
        public let content: Content
        public let rawContent: GeneratedContent
        #if SDK_27
        @available(iOS 27.0, macOS 27.0, visionOS 27.0, *)
        public var usage: LanguageModelSession.Usage { get {} }
        #endif
    }

    // developer.apple.com/documentation/foundationmodels/languagemodelsession/responsestream
    public struct ResponseStream<Content: Generable>: AsyncSequence {
        public typealias Element = Snapshot
        public struct AsyncIterator: AsyncIteratorProtocol {
            public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> Snapshot? {}
            public mutating func next() async throws -> Snapshot? {}
        }
        public func makeAsyncIterator() -> AsyncIterator {}

        // developer.apple.com/documentation/foundationmodels/languagemodelsession/responsestream/snapshot
        public struct Snapshot {
            init(stub: Content.PartiallyGenerated, _ raw: GeneratedContent) {}
            public var content: Content.PartiallyGenerated
            public var rawContent: GeneratedContent
            #if SDK_27
            @available(iOS 27.0, macOS 27.0, visionOS 27.0, *)
            public var usage: LanguageModelSession.Usage { get {} }
            #endif
        }
    }

    // developer.apple.com/documentation/foundationmodels/languagemodelsession/generationerror
    @available(iOS, introduced: 26.0, deprecated: 27.0)
    @available(macOS, introduced: 26.0, deprecated: 27.0)
    @available(visionOS, introduced: 26.0, deprecated: 27.0)
    public enum GenerationError: Swift.Error, LocalizedError {
        public struct Context: Sendable {
            public init(debugDescription: String) {}
            public let debugDescription: String
        }
        public struct Refusal: Sendable {
            init(stub: Void) {}
        }
        case exceededContextWindowSize(Context)
        case assetsUnavailable(Context)
        case guardrailViolation(Context)
        case unsupportedGuide(Context)
        case unsupportedLanguageOrLocale(Context)
        case decodingFailure(Context)
        case rateLimited(Context)
        case concurrentRequests(Context)
        case refusal(Refusal, Context)
    }

    #if SDK_27
    // developer.apple.com/documentation/foundationmodels/languagemodelsession/init(model:tools:instructions:)
    @available(iOS 27.0, macOS 27.0, visionOS 27.0, watchOS 27.0, *)
    @_disfavoredOverload
    public convenience init(model: some LanguageModel, tools: [any Tool] = [], instructions: String? = nil) {}

    // developer.apple.com/documentation/foundationmodels/languagemodelsession/error
    @available(iOS 27.0, macOS 27.0, visionOS 27.0, watchOS 27.0, *)
    public enum Error: LocalizedError, Equatable, Hashable {
        case concurrentRequests
        case transcriptMutationWhileResponding
    }

    // developer.apple.com/documentation/foundationmodels/languagemodelsession/usage-swift.struct
    @available(iOS 27.0, macOS 27.0, visionOS 27.0, watchOS 27.0, *)
    public struct Usage: Sendable {
        public struct Input: Sendable {
            public var totalTokenCount: Int
            public var cachedTokenCount: Int
        }
        public struct Output: Sendable {
            public var totalTokenCount: Int
            public var reasoningTokenCount: Int
        }
        public var input: Input
        public var output: Output
    }
    #endif
}

// developer.apple.com/documentation/foundationmodels/tool
@available(iOS 26.0, macOS 26.0, visionOS 26.0, watchOS 27.0, *)
@available(tvOS, unavailable)
public protocol Tool: Sendable {
    var name: String { get }
    var description: String { get }
}

// developer.apple.com/documentation/foundationmodels/prompt
@available(iOS 26.0, macOS 26.0, visionOS 26.0, watchOS 27.0, *)
@available(tvOS, unavailable)
public struct Prompt: Sendable {
    public init(_ content: some PromptRepresentable) {}
}

// developer.apple.com/documentation/foundationmodels/promptrepresentable
@available(iOS 26.0, macOS 26.0, visionOS 26.0, watchOS 27.0, *)
@available(tvOS, unavailable)
public protocol PromptRepresentable {}

@available(iOS 26.0, macOS 26.0, visionOS 26.0, watchOS 27.0, *)
@available(tvOS, unavailable)
extension String: PromptRepresentable {}
