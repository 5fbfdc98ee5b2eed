/// The heat of a device, as the system grades it.
public enum DeviceHeat: Int, Sendable, Hashable, Comparable, CaseIterable {
    case nominal = 0
    /// Slightly warm; fans may run.
    case fair = 1
    /// Hot; the system slows the device down.
    case serious = 2
    /// The device has to cool down.
    case critical = 3

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The state of a device that decides what its models do.
public struct DeviceConditions: Sendable, Hashable {
    public var heat = DeviceHeat.nominal
    /// Whether the person has turned on Low Power Mode.
    public var isLowPower = false

    /// Memberwise.
    public init(heat: DeviceHeat = .nominal, isLowPower: Bool = false) {
        (self.heat, self.isLowPower) = (heat, isLowPower)
    }

    /// What models may do in this state.
    public var policy: DevicePolicy {
        DevicePolicy(
            downloads: isLowPower || heat >= .serious ? .onlyAsked : .all,
            answers: heat == .critical ? .refused : isLowPower || heat == .serious ? .short : .full,
            keepsIdleModels: heat < .critical)
    }
}

/// What models may do on a device.
///
/// | state | downloads | answers | models without work |
/// | --- | --- | --- | --- |
/// | nominal, fair | all | full | stay loaded |
/// | Low Power Mode | those that the person asks for | short | stay loaded |
/// | serious heat | those that the person asks for | short | stay loaded |
/// | critical heat | those that the person asks for | refused | are unloaded |
public struct DevicePolicy: Sendable, Hashable {
    public enum Downloads: Sendable, Hashable {
        case all
        /// Updates and other downloads that begin without the person wait, as on a metered network.
        case onlyAsked
    }

    public enum Answers: Sendable, Hashable {
        case full
        /// At most ``DevicePolicy/shortAnswer`` tokens.
        case short
        case refused
    }

    public var downloads: Downloads
    public var answers: Answers
    public var keepsIdleModels: Bool

    /// The most new tokens of an answer on a device that has to save power or cool down.
    public static let shortAnswer = 256
}
