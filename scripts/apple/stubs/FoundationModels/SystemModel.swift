import AppleFoundation

// developer.apple.com/documentation/foundationmodels/systemlanguagemodel
@available(iOS 26.0, macOS 26.0, visionOS 26.0, *)
@available(tvOS, unavailable)
public final class SystemLanguageModel: Sendable {
    init(stub: Void) {}
    public static var `default`: SystemLanguageModel { get {} }
    public var availability: Availability { get {} }
    public var isAvailable: Bool { get {} }
    #if SDK_27
    // developer.apple.com/documentation/foundationmodels/systemlanguagemodel/contextsize
    public var contextSize: Int { get {} }
    #endif

    // developer.apple.com/documentation/foundationmodels/systemlanguagemodel/availability-swift.enum
    @frozen public enum Availability: Equatable, Sendable {
        case available
        case unavailable(UnavailableReason)

        // developer.apple.com/documentation/foundationmodels/systemlanguagemodel/availability-swift.enum/unavailablereason
        public enum UnavailableReason: Equatable, Sendable, Hashable {
            case deviceNotEligible, appleIntelligenceNotEnabled, modelNotReady
        }
    }

    #if SDK_27
    // developer.apple.com/documentation/foundationmodels/systemlanguagemodel/error
    @available(iOS 27.0, macOS 27.0, visionOS 27.0, *)
    public enum Error: LocalizedError {
        case assetsUnavailable(AssetsUnavailable)

        public struct AssetsUnavailable: Sendable {
            init(stub: Void) { debugDescription = "" }
            public var debugDescription: String
        }
    }
    #endif
}
