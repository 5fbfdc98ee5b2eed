import AppleFoundation
#if SDK_27
import CoreImage
import ImageIO
#endif

// developer.apple.com/documentation/foundationmodels/transcript
@available(iOS 26.0, macOS 26.0, visionOS 26.0, watchOS 27.0, *)
@available(tvOS, unavailable)
public struct Transcript: Sendable, Equatable, RandomAccessCollection, Codable {
    public init(entries: some Sequence<Entry> = []) {}
    public init(from decoder: any Decoder) throws {}
    public func encode(to encoder: any Encoder) throws {}
    public var startIndex: Int { get {} }
    public var endIndex: Int { get {} }
    public subscript(index: Int) -> Entry { get {} set {} }

    // developer.apple.com/documentation/foundationmodels/transcript/entry
    public enum Entry: Sendable, Identifiable, Equatable {
        case instructions(Instructions)
        case prompt(Prompt)
        case toolCalls(ToolCalls)
        case toolOutput(ToolOutput)
        case response(Response)
        #if SDK_27
        // developer.apple.com/documentation/foundationmodels/transcript/entry/reasoning(_:)
        // Of OS 27; a source has no cases with values that came later than their type.
        case reasoning(Reasoning)
        #endif
        public var id: String { get {} }
    }

    // developer.apple.com/documentation/foundationmodels/transcript/segment
    public enum Segment: Sendable, Identifiable, Equatable {
        case text(TextSegment)
        case structure(StructuredSegment)
        #if SDK_27
        // developer.apple.com/documentation/foundationmodels/transcript/segment/attachment(_:)
        case attachment(AttachmentSegment)
        #endif
        public var id: String { get {} }
    }

    // developer.apple.com/documentation/foundationmodels/transcript/textsegment
    public struct TextSegment: Sendable, Identifiable, Equatable {
        public init(id: String = UUID().uuidString, content: String) {}
        public var id: String
        public var content: String
    }

    // developer.apple.com/documentation/foundationmodels/transcript/structuredsegment
    public struct StructuredSegment: Sendable, Identifiable, Equatable {
        init(stub: Void) {}
        public var id: String { get {} }
        public var content: GeneratedContent { get {} }
    }

    // developer.apple.com/documentation/foundationmodels/transcript/instructions
    public struct Instructions: Sendable, Identifiable, Equatable {
        public init(id: String = UUID().uuidString, segments: [Segment], toolDefinitions: [ToolDefinition]) {}
        public var id: String
        public var segments: [Segment]
        public var toolDefinitions: [ToolDefinition]
    }

    // developer.apple.com/documentation/foundationmodels/transcript/tooldefinition
    public struct ToolDefinition: Sendable, Equatable {
        public init(name: String, description: String, parameters: GenerationSchema) {}
        public var name: String
        public var description: String
        #if SDK_27
        @available(iOS 27.0, macOS 27.0, visionOS 27.0, *)
        public var parameters: GenerationSchema { get {} set {} }
        #endif
    }

    // developer.apple.com/documentation/foundationmodels/transcript/prompt
    public struct Prompt: Sendable, Identifiable, Equatable {
        public init(
            id: String = UUID().uuidString, segments: [Segment], options: GenerationOptions = GenerationOptions(),
            responseFormat: ResponseFormat? = nil) {}
        public var id: String
        public var segments: [Segment]
        public var options: GenerationOptions
        public var responseFormat: ResponseFormat?
        #if SDK_27
        @available(iOS 27.0, macOS 27.0, visionOS 27.0, *)
        public var contextOptions: ContextOptions { get {} set {} }
        #endif
    }

    // developer.apple.com/documentation/foundationmodels/transcript/responseformat
    public struct ResponseFormat: Sendable, Equatable {
        public init(schema: GenerationSchema) {}
        #if SDK_27
        // developer.apple.com/documentation/foundationmodels/transcript/responseformat/kind-swift.enum
        @available(iOS 27.0, macOS 27.0, visionOS 27.0, *)
        public enum Kind: Sendable {
            case schema(GenerationSchema)
        }
        @available(iOS 27.0, macOS 27.0, visionOS 27.0, *)
        public var kind: Kind { get {} }
        #endif
    }

    // developer.apple.com/documentation/foundationmodels/transcript/toolcalls
    public struct ToolCalls: Sendable, Identifiable, Equatable, RandomAccessCollection {
        public init<S: Sequence>(id: String = UUID().uuidString, _ calls: S) where S.Element == ToolCall {}
        public var id: String
        public var startIndex: Int { get {} }
        public var endIndex: Int { get {} }
        public subscript(position: Int) -> ToolCall { get {} }
    }

    // developer.apple.com/documentation/foundationmodels/transcript/toolcall
    public struct ToolCall: Sendable, Identifiable, Equatable {
        public init(id: String, toolName: String, arguments: GeneratedContent) {}
        public var id: String
        public var toolName: String
        public var arguments: GeneratedContent
    }

    // developer.apple.com/documentation/foundationmodels/transcript/tooloutput
    public struct ToolOutput: Sendable, Identifiable, Equatable {
        public init(id: String, toolName: String, segments: [Segment]) {}
        public var id: String
        public var toolName: String
        public var segments: [Segment]
    }

    // developer.apple.com/documentation/foundationmodels/transcript/response
    public struct Response: Sendable, Identifiable, Equatable {
        public init(id: String = UUID().uuidString, assetIDs: [String], segments: [Segment]) {}
        public var id: String
        public var assetIDs: [String]
        public var segments: [Segment]
    }

    #if SDK_27
    // developer.apple.com/documentation/foundationmodels/transcript/reasoning
    public struct Reasoning: Sendable, Identifiable, Equatable {
        init(stub: Void) {}
        public var id: String { get {} }
        public var segments: [Segment] { get {} }
    }

    // developer.apple.com/documentation/foundationmodels/transcript/attachmentsegment
    public struct AttachmentSegment: Sendable, Identifiable, Equatable {
        public init(id: String = UUID().uuidString, content: Attachment, label: String? = nil) {}
        public var id: String
        public var content: Attachment
        public var label: String?
    }

    // developer.apple.com/documentation/foundationmodels/transcript/attachment
    public enum Attachment: Sendable, Equatable {
        case image(ImageAttachment)
    }

    // developer.apple.com/documentation/foundationmodels/transcript/imageattachment
    public struct ImageAttachment: Sendable, Equatable {
        public init(imageURL: URL, orientation: CGImagePropertyOrientation? = nil) {}
        public var ciImage: CIImage { get {} }
        public var orientation: CGImagePropertyOrientation { get {} }
        public var url: URL? { get {} }
    }
    #endif
}

#if SDK_27
// developer.apple.com/documentation/foundationmodels/contextoptions
@available(iOS 27.0, macOS 27.0, visionOS 27.0, watchOS 27.0, *)
@available(tvOS, unavailable)
public struct ContextOptions: Sendable, Equatable {
    // developer.apple.com/documentation/foundationmodels/contextoptions/reasoninglevel-swift.enum
    public enum ReasoningLevel: Sendable, Equatable {
        case light, moderate, deep
        case custom(String)
    }
    public var includeSchemaInPrompt: Bool?
    public var reasoningLevel: ReasoningLevel?
    public init(includeSchemaInPrompt: Bool? = nil, reasoningLevel: ReasoningLevel? = nil) {}
}
#endif
