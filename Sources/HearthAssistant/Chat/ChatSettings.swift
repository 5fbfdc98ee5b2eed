import Foundation
import HearthBase
import HearthInference

/// The settings of chats.
public struct ChatSettings: Sendable {
    /// Whether the model may think before it answers.
    public var showThinking = true
    /// The most messages of a prompt's history; `nil` for 50, or 20 on devices below 6 GiB.
    public var historyLimit: Int?
    /// The time of each generation from the request on, waiting and loading included.
    public var passTimeout = Duration.seconds(120)
    /// The time of a search or a page.
    public var searchTimeout = Duration.seconds(20)
    public var maximumNewTokens = 768
    /// `nil` for the package's default.
    public var temperature: Float?
    /// Options in place of ``maximumNewTokens`` and ``temperature``, such as those of a command line.
    package var generation: GenerationOptions?
    public var texts = AssistantTexts()
    /// Further sections of prompts.
    public var sources: [any PromptSource] = []
    /// The user's zone and language; those of the device by default.
    public var timeZone = TimeZone.current
    public var locale = Locale.current

    public init() {}

    /// The history for this device's memory.
    var effectiveHistoryLimit: Int {
        historyLimit ?? DeviceRule(deviceMemory: ProcessInfo.processInfo.physicalMemory).historyLimit
    }
}

/// The choices for one question.
public struct SendOptions: Sendable {
    /// Forces the answer to be one block of this tag.
    public var act: ActionTag?
    /// The button "answer now".
    public var control: ThinkingControl?

    public init(act: ActionTag? = nil, control: ThinkingControl? = nil) {
        self.act = act
        self.control = control
    }
}
