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
    /// The longest answer in tokens; `nil` for as many as the context window has room for, and the server's own limit
    /// in the cloud.
    public var maximumNewTokens: Int?
    /// `nil` for the package's default.
    public var temperature: Float?
    /// Options in place of ``maximumNewTokens`` and ``temperature``, such as those of a command line.
    package var generation: GenerationOptions?
    /// The system message in place of the assistant's own, with nothing beside the question; empty for none. `nil` for the
    /// assistant's own.
    package var systemPrompt: String?
    /// The user's own words at the end of the system message; `nil` for none.
    package var instructions: String?
    /// Whether each model gets all instructions of the assistant. By default the model decides: below one billion weights,
    /// or with a context below 4096 tokens, it gets the conversation alone; up to three billion weights, a sentence and what
    /// words of the question suggest.
    public var instructsSmallModels = false
    public var texts = AssistantTexts()
    /// Further sections of prompts.
    package var sources: [any PromptSource] = []
    /// The user's zone and language; those of the device by default.
    public var timeZone = TimeZone.current
    public var locale = Locale.current

    public init() {}

    /// Adds a section to each prompt, behind the question.
    /// - Parameters:
    ///   - name: lower-case letters, such as `weather`; the section stands between marks of this name.
    ///   - staysHere: whether the section never leaves for the cloud; otherwise `cloud.shares` decides.
    ///   - text: the text at the moment of a question. If it throws, the prompt has no such section.
    public mutating func addSection(
        _ name: String, staysHere: Bool = false, text: @escaping @Sendable (Date) async throws -> String
    ) {
        sources.append(TextSource(name: name, staysHere: staysHere, text: text))
    }

    /// The history for this device's memory.
    var effectiveHistoryLimit: Int {
        historyLimit ?? DeviceRule(deviceMemory: ProcessInfo.processInfo.physicalMemory).historyLimit
    }
}

/// The choices for one question.
package struct SendOptions: Sendable {
    /// Forces the answer to be one block of this tag.
    package var act: ActionTag?
    /// The button "answer now".
    package var control: ThinkingControl?
}
