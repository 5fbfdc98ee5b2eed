// "LLM Inference" (seed 001): routing, streaming and the chat's views, call by call. Compiled by make apple.
//
// Lines that differ:
// - `entitlementPublisher.sink` is Observation's `Observations`.
// - The orchestrator is an actor: `await orchestrator.setForceLocal(true)`.
// - Errors are matched by code: `catch LLMError.Code.modelNotLoaded`.
import Hearth
import HearthAssistant
import HearthBase
import HearthInference
import HearthRouting
import HearthUI
import SwiftUI

/// The stream of an answer.
@MainActor func answer(
    _ llmService: any LLMServiceProtocol, _ systemPrompt: String, _ historyMessages: [ChatMessage], showThinking: Bool
) async throws -> String {
    var content = ""
    do {
        for try await token in llmService.generate(
            systemPrompt: systemPrompt,
            messages: historyMessages,
            thinkingEnabled: showThinking
        ) {
            content += token
        }
    } catch LLMError.Code.modelNotLoaded {
        content = "No model is loaded."
    } catch is CancellationError {
        // Partial content stays visible.
    }
    return content
}

/// The choice between the cloud and this device.
func route(_ orchestrator: LLMOrchestrator, _ premiumManager: PremiumManager) async -> Bool {
    await orchestrator.setForceLocal(false)
    await orchestrator.updateActiveSource(reason: "entitlement changed")
    let isCloud = await orchestrator.activeSource == .cloud
    return await !orchestrator.forceLocal && premiumManager.canUseCloudAI && premiumManager.canSendCloudMessage && isCloud
}

struct ChatScreen: View {
    let viewModel: ChatViewModel
    @State private var draft = ""

    var body: some View {
        VStack {
            ScrollView {
                ForEach(viewModel.messages) { message in
                    if message.isThinking || !message.thinkingContent.isEmpty { ThinkingDisclosure(message) }
                    MessageBubbleView(message)
                    ForEach(message.calendarEventPreviews) { CalendarEventCard($0) }
                    ForEach(message.reminderPreviews) { ReminderCard($0) }
                    ForEach(message.notePreviews) { NoteCard($0) }
                    ForEach(message.habitPreviews) { HabitCard($0) }
                    ForEach(message.contactPreviews) { ContactCard($0) }
                }
            }
            HStack {
                TextField("Message", text: $draft)
                Button("Send") { viewModel.sendMessage(draft) }
                Button("Stop") { viewModel.stop() }
            }
        }
    }
}
