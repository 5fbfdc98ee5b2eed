import AppleFoundation

// developer.apple.com/documentation/foundationmodels/generationoptions
@available(iOS 26.0, macOS 26.0, visionOS 26.0, watchOS 27.0, *)
@available(tvOS, unavailable)
public struct GenerationOptions: Sendable, Equatable {
    public var temperature: Double?
    public var maximumResponseTokens: Int?

    // developer.apple.com/documentation/foundationmodels/generationoptions/samplingmode-swift.struct
    public struct SamplingMode: Sendable, Equatable {
        init(stub: Void) {}
        public static var greedy: SamplingMode { get {} }
        public static func random(top k: Int, seed: UInt64? = nil) -> SamplingMode {}
        public static func random(probabilityThreshold: Double, seed: UInt64? = nil) -> SamplingMode {}

        #if SDK_27
        // developer.apple.com/documentation/foundationmodels/generationoptions/samplingmode-swift.struct/kind-swift.enum
        @available(iOS 27.0, macOS 27.0, visionOS 27.0, watchOS 27.0, *)
        public enum Kind: Sendable, Equatable {
            case greedy
            case randomTopK(Int, seed: UInt64?)
            case randomProbabilityThreshold(Double, seed: UInt64?)
        }
        @available(iOS 27.0, macOS 27.0, visionOS 27.0, watchOS 27.0, *)
        public var kind: Kind { get {} }
        #endif
    }

    #if SDK_27
    // developer.apple.com/documentation/foundationmodels/generationoptions/init(sampling:temperature:maximumresponsetokens:)
    @available(*, deprecated, renamed: "init(samplingMode:temperature:maximumResponseTokens:)")
    public init(sampling: SamplingMode?, temperature: Double? = nil, maximumResponseTokens: Int? = nil) {}
    // developer.apple.com/documentation/foundationmodels/generationoptions/init(samplingmode:temperature:maximumresponsetokens:)
    public init(samplingMode: SamplingMode? = nil, temperature: Double? = nil, maximumResponseTokens: Int? = nil) {}
    public var samplingMode: SamplingMode? { get {} set {} }

    // developer.apple.com/documentation/foundationmodels/generationoptions/toolcallingmode-swift.struct
    @available(iOS 27.0, macOS 27.0, visionOS 27.0, watchOS 27.0, *)
    public struct ToolCallingMode: Sendable, Equatable {
        init(stub: Void) {}
        public enum Kind: Sendable, Equatable { case allowed, required, disallowed }
        public var kind: Kind { get {} }
    }
    @available(iOS 27.0, macOS 27.0, visionOS 27.0, watchOS 27.0, *)
    public var toolCallingMode: ToolCallingMode? { get {} set {} }
    #else
    // developer.apple.com/documentation/foundationmodels/generationoptions/init(sampling:temperature:maximumresponsetokens:)
    public init(sampling: SamplingMode? = nil, temperature: Double? = nil, maximumResponseTokens: Int? = nil) {}
    public var sampling: SamplingMode?
    #endif
}

// developer.apple.com/documentation/foundationmodels/generationschema
@available(iOS 26.0, macOS 26.0, visionOS 26.0, watchOS 27.0, *)
@available(tvOS, unavailable)
public struct GenerationSchema: Sendable, Codable {
    public init(from decoder: any Decoder) throws {}
    public func encode(to encoder: any Encoder) throws {}
}

// developer.apple.com/documentation/foundationmodels/generable
@available(iOS 26.0, macOS 26.0, visionOS 26.0, watchOS 27.0, *)
@available(tvOS, unavailable)
public protocol Generable: ConvertibleToGeneratedContent {
    associatedtype PartiallyGenerated = Self
}

// developer.apple.com/documentation/foundationmodels/convertibletogeneratedcontent
@available(iOS 26.0, macOS 26.0, visionOS 26.0, watchOS 27.0, *)
@available(tvOS, unavailable)
public protocol ConvertibleToGeneratedContent {
    var generatedContent: GeneratedContent { get }
}

@available(iOS 26.0, macOS 26.0, visionOS 26.0, watchOS 27.0, *)
@available(tvOS, unavailable)
extension String: Generable {
    public var generatedContent: GeneratedContent { get {} }
}

// developer.apple.com/documentation/foundationmodels/generatedcontent
@available(iOS 26.0, macOS 26.0, visionOS 26.0, watchOS 27.0, *)
@available(tvOS, unavailable)
public struct GeneratedContent: Sendable, Equatable, Generable {
    public init(json: String) throws {}
    public var jsonString: String { get {} }
    public var generatedContent: GeneratedContent { get {} }

    #if SDK_27
    // developer.apple.com/documentation/foundationmodels/generatedcontent/parsingerror
    @available(iOS 27.0, macOS 27.0, visionOS 27.0, watchOS 27.0, *)
    public struct ParsingError: LocalizedError, Sendable {
        init(stub: Void) { (rawContent, debugDescription) = ("", "") }
        public var rawContent: String
        public var debugDescription: String
    }
    #endif
}
