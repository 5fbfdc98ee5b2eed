#if SDK_27
import AppleFoundation

// developer.apple.com/documentation/foundationmodels/languagemodel
@available(iOS 27.0, macOS 27.0, visionOS 27.0, watchOS 27.0, *)
@available(tvOS, unavailable)
public protocol LanguageModel: Sendable {
    associatedtype Executor: LanguageModelExecutor where Self == Executor.Model
    var capabilities: LanguageModelCapabilities { get }
    var executorConfiguration: Executor.Configuration { get }
}

// developer.apple.com/documentation/foundationmodels/languagemodelcapabilities
@available(iOS 27.0, macOS 27.0, visionOS 27.0, watchOS 27.0, *)
@available(tvOS, unavailable)
public struct LanguageModelCapabilities: Sendable {
    public init(_ capabilities: [Capability]) {}
    public func contains(_ capability: Capability) -> Bool {}

    // developer.apple.com/documentation/foundationmodels/languagemodelcapabilities/capability
    public struct Capability: Sendable, Hashable {
        init(stub: Void) {}
        public static var toolCalling: Capability { get {} }
        public static var guidedGeneration: Capability { get {} }
        public static var vision: Capability { get {} }
        public static var reasoning: Capability { get {} }
    }
}

// developer.apple.com/documentation/foundationmodels/languagemodelexecutor
@available(iOS 27.0, macOS 27.0, visionOS 27.0, watchOS 27.0, *)
@available(tvOS, unavailable)
public protocol LanguageModelExecutor: Sendable {
    associatedtype Configuration: Hashable & Sendable
    associatedtype Model: LanguageModel
    init(configuration: Configuration) throws
    func prewarm(model: Model, transcript: Transcript)
    nonisolated(nonsending) func respond(
        to request: LanguageModelExecutorGenerationRequest, model: Model,
        streamingInto channel: LanguageModelExecutorGenerationChannel
    ) async throws
}

// developer.apple.com/documentation/foundationmodels/languagemodelexecutor/prewarm(model:transcript:)
@available(iOS 27.0, macOS 27.0, visionOS 27.0, watchOS 27.0, *)
@available(tvOS, unavailable)
extension LanguageModelExecutor {
    public func prewarm(model: Model, transcript: Transcript) {}
}

// developer.apple.com/documentation/foundationmodels/languagemodelexecutorgenerationrequest
@available(iOS 27.0, macOS 27.0, visionOS 27.0, watchOS 27.0, *)
@available(tvOS, unavailable)
public struct LanguageModelExecutorGenerationRequest: Sendable {
    init(stub: Void) {}
    public var id: UUID { get {} set {} }
    public var transcript: Transcript { get {} set {} }
    public var enabledToolDefinitions: [Transcript.ToolDefinition] { get {} set {} }
    public var schema: GenerationSchema? { get {} set {} }
    public var generationOptions: GenerationOptions { get {} set {} }
    public var contextOptions: ContextOptions { get {} set {} }
    public var metadata: [String: GeneratedContent] { get {} set {} }
}

// developer.apple.com/documentation/foundationmodels/languagemodelexecutorgenerationchannel
@available(iOS 27.0, macOS 27.0, visionOS 27.0, watchOS 27.0, *)
@available(tvOS, unavailable)
public struct LanguageModelExecutorGenerationChannel: Sendable {
    init(stub: Void) {}
    public nonisolated(nonsending) func send(_ event: Event) async {}

    // developer.apple.com/documentation/foundationmodels/languagemodelexecutorgenerationchannel/event
    public struct Event: Sendable {
        init(stub: Void) {}
        public static func response(entryID: String? = nil, action: Response.Action) -> Event {}
        public static func reasoning(entryID: String? = nil, action: Reasoning.Action) -> Event {}
        public static func toolCalls(entryID: String? = nil, action: ToolCalls.Action) -> Event {}
    }

    // developer.apple.com/documentation/foundationmodels/languagemodelexecutorgenerationchannel/response
    public struct Response: Sendable {
        init(stub: Void) {}
        // developer.apple.com/documentation/foundationmodels/languagemodelexecutorgenerationchannel/response/action-swift.struct
        public struct Action: Sendable {
            init(stub: Void) {}
            public static func appendText(_ text: String, segmentID: String? = nil, tokenCount: Int) -> Action {}
            public static func updateUsage(
                input: Usage.Input, output: Usage.Output, metadata: [String: any ConvertibleToGeneratedContent] = [:]
            ) -> Action {}
        }
    }

    // developer.apple.com/documentation/foundationmodels/languagemodelexecutorgenerationchannel/reasoning
    public struct Reasoning: Sendable {
        init(stub: Void) {}
        // developer.apple.com/documentation/foundationmodels/languagemodelexecutorgenerationchannel/reasoning/action-swift.struct
        public struct Action: Sendable {
            init(stub: Void) {}
            public static func appendText(_ text: String, segmentID: String? = nil, tokenCount: Int) -> Action {}
        }
    }

    // developer.apple.com/documentation/foundationmodels/languagemodelexecutorgenerationchannel/toolcalls
    public struct ToolCalls: Sendable {
        init(stub: Void) {}
        // developer.apple.com/documentation/foundationmodels/languagemodelexecutorgenerationchannel/toolcalls/action-swift.struct
        public struct Action: Sendable {
            init(stub: Void) {}
            public static func toolCall(id: String, name: String, action: ToolCall.Action) -> Action {}
            public static func updateUsage(
                input: Usage.Input, output: Usage.Output, metadata: [String: any ConvertibleToGeneratedContent] = [:]
            ) -> Action {}
        }
        // developer.apple.com/documentation/foundationmodels/languagemodelexecutorgenerationchannel/toolcalls/toolcall
        public struct ToolCall: Sendable {
            init(stub: Void) {}
            public struct Action: Sendable {
                init(stub: Void) {}
                public static func appendArguments(_ content: String, tokenCount: Int) -> Action {}
            }
        }
    }

    // developer.apple.com/documentation/foundationmodels/languagemodelexecutorgenerationchannel/usage
    public struct Usage: Sendable {
        init(stub: Void) {}
        public struct Input: Sendable {
            public init(totalTokenCount: Int, cachedTokenCount: Int) {}
        }
        public struct Output: Sendable {
            public init(totalTokenCount: Int, reasoningTokenCount: Int) {}
        }
    }
}

// developer.apple.com/documentation/foundationmodels/languagemodelerror
@available(iOS 27.0, macOS 27.0, visionOS 27.0, watchOS 27.0, *)
@available(tvOS, unavailable)
public enum LanguageModelError: LocalizedError {
    case contextSizeExceeded(ContextSizeExceeded)
    case rateLimited(RateLimited)
    case guardrailViolation(GuardrailViolation)
    case refusal(Refusal)
    case unsupportedCapability(UnsupportedCapability)
    case unsupportedTranscriptContent(UnsupportedTranscriptContent)
    case unsupportedGenerationGuide(UnsupportedGenerationGuide)
    case unsupportedLanguageOrLocale(UnsupportedLanguageOrLocale)
    case timeout(Timeout)

    // developer.apple.com/documentation/foundationmodels/languagemodelerror/contextsizeexceeded
    public struct ContextSizeExceeded: Sendable {
        public init(
            contextSize: Int, tokenCount: Int, debugDescription: String, metadata: [String: any Sendable] = [:]) {}
        public var contextSize: Int { get {} }
        public var tokenCount: Int { get {} }
    }
    // developer.apple.com/documentation/foundationmodels/languagemodelerror/ratelimited
    public struct RateLimited: Sendable {
        public init(resetDate: Date?, debugDescription: String, metadata: [String: any Sendable] = [:]) {}
        public var resetDate: Date? { get {} }
    }
    // developer.apple.com/documentation/foundationmodels/languagemodelerror/guardrailviolation
    public struct GuardrailViolation: Sendable {
        public init(debugDescription: String, metadata: [String: any Sendable] = [:]) {}
    }
    // developer.apple.com/documentation/foundationmodels/languagemodelerror/refusal
    public struct Refusal: Sendable {
        init(stub: Void) {}
    }
    // developer.apple.com/documentation/foundationmodels/languagemodelerror/unsupportedcapability
    public struct UnsupportedCapability: Sendable {
        public init(
            capability: LanguageModelCapabilities.Capability, debugDescription: String,
            metadata: [String: any Sendable] = [:]) {}
    }
    // developer.apple.com/documentation/foundationmodels/languagemodelerror/unsupportedtranscriptcontent
    public struct UnsupportedTranscriptContent: Sendable {
        public init(
            unsupportedContent: [Transcript.Entry], debugDescription: String, metadata: [String: any Sendable] = [:]) {}
    }
    // developer.apple.com/documentation/foundationmodels/languagemodelerror/unsupportedgenerationguide
    public struct UnsupportedGenerationGuide: Sendable {
        public init(schemaName: String?, debugDescription: String, metadata: [String: any Sendable] = [:]) {}
    }
    // developer.apple.com/documentation/foundationmodels/languagemodelerror/unsupportedlanguageorlocale
    public struct UnsupportedLanguageOrLocale: Sendable {
        init(stub: Void) {}
    }
    // developer.apple.com/documentation/foundationmodels/languagemodelerror/timeout
    public struct Timeout: Sendable {
        public init(debugDescription: String, metadata: [String: any Sendable] = [:]) {}
    }
}
#endif
