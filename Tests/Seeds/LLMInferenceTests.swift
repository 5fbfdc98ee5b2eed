import Foundation
import Hearth
import HearthAssistant
import HearthBase
import HearthHTTP
import HearthInference
import HearthRouting
import Testing

#if Llama
import HearthLlama
#endif

/// "LLM Inference", call by call.
///
/// Not on Linux: Combine (`entitlementPublisher`, `isLoadedPublisher`, `.sink`), for which Observation stands; EventKit and
/// Contacts; the views `MessageBubbleView`, `ThinkingDisclosure` and the cards; Metal.
///
/// Lines that differ:
/// - `forceLocal = true` is `await orchestrator.setForceLocal(true)`, since the orchestrator is an actor.
/// - `actor.unloadModel(role:)` and `actor.unload()` are `async`.
/// - errors are matched by code: `catch LLMError.Code.timeout`.
/// - `GeminiStreamChunk`, `CloudErrorResponse` and what the page calls the inside (`applyStreamToken`, `streamTokens`,
///   `finalizeResponse`, `execute…Actions`, `warmup(role:)`) have no public names.
/// - The token is a piece of text, which may be several tokens.
@Suite(.timeLimit(.minutes(5))) struct LLMInferenceTests {
    /// An app's own notes.
    private actor Notes: NotesStore {
        private var notes: [String: Note] = [:]
        func records(matching words: String, limit: Int) -> [Note] { Array(notes.values.prefix(limit)) }
        func record(_ id: String) -> Note? { notes[id] }
        func write(_ note: Note?, id: String) { notes[id] = note }
        var titles: [String] { notes.values.map(\.title) }
    }

    private struct Yes: ActionApproval {
        func decide(_ card: ActionCard) -> ActionDecision { .approve }
    }

    @Test func theServicesStream() async throws {
        let engine = PretendedEngine([.thinking("hm"), .text("Hel"), .text("lo")])
        let llmService: any LLMServiceProtocol = engine
        var content = ""
        for try await token in llmService.generate(
            systemPrompt: "Be kind.", messages: [ChatMessage(.user, "Hi")], thinkingEnabled: true)
        { content += token }
        #expect(content == "Hello")
        #expect(await engine.asked.first?.map(\.content) == ["Be kind.", "Hi"])
    }

    @MainActor @Test func aMessageAndItsAnswer() async throws {
        let engine = PretendedEngine([
            .thinking("A note is wanted."), .text("Here is your note. "),
            .text(#"[NOTE_ACTION:{"action":"create","title":"Plumber","content":"calls at nine"}]"#),
        ])
        let notes = Notes()
        let stage = try Stage([])
        let assistant = try await stage.hearth.assistant(
            approval: Yes(), stores: AssistantStores(notes: notes), engine: engine)
        let viewModel = ChatViewModel(try await assistant.session())
        viewModel.sendMessage("Note: the plumber calls at nine.")
        await viewModel.finished()
        let message = try #require(viewModel.messages.last)
        #expect(message.role == .assistant && message.content == "Here is your note.")
        #expect(message.thinkingContent == "A note is wanted." && !message.isThinking)
        #expect(message.notePreviews.map(\.state) == [.done] && message.notePreviews.first?.title.isEmpty == false)
        #expect(message.calendarEventPreviews.isEmpty && message.habitPreviews.isEmpty)
        #expect(message.reminderPreviews.isEmpty && message.contactPreviews.isEmpty)
        #expect(await notes.titles == ["Plumber"])
        viewModel.stop()
        await assistant.close()
        await stage.hearth.close()
    }

    @Test func theRouteAndItsReasons() async throws {
        let stage = try Stage([PublishedModel(family: "local", content: "weights")])
        let premiumManager = PremiumManager(Entitlement(.free))
        let cloud = CloudLLMService(try CloudSettings(.gemini, key: "k"))
        let orchestrator = try await stage.hearth.orchestrator(cloud: cloud, premium: premiumManager)
        #expect(!premiumManager.canUseCloudAI && !premiumManager.canSendCloudMessage)
        #expect(await orchestrator.activeSource == .local)
        premiumManager.update(Entitlement(.starter, monthlyCredits: 2))
        #expect(premiumManager.entitlement.tier == .starter && premiumManager.canUseCloudAI)
        await orchestrator.updateActiveSource(reason: "entitlement changed")
        try await premiumManager.recordCloudMessageSent()
        #expect(premiumManager.credits == 1)
        await orchestrator.setForceLocal(true)
        #expect(await orchestrator.forceLocal)
        #expect(await orchestrator.activeSource == .local)
        let service: any LLMServiceProtocol = orchestrator
        await #expect(throws: (any Error).self) {
            for try await _ in service.generate(systemPrompt: "", messages: [ChatMessage(.user, "Hi")]) {}
        }
        await stage.hearth.close()
    }

    @Test func theNetwork() {
        struct Offline: NetworkMonitor {
            let condition = NetworkCondition(isOnline: false, isMetered: false)
            let source: String? = nil
            func conditions() -> AsyncStream<NetworkCondition> { AsyncStream { $0.finish() } }
        }
        let networkMonitor: any NetworkMonitor = Offline()
        let (forceLocal, premiumManager) = (false, PremiumManager(Entitlement(.pro)))
        let shouldUseCloud = !forceLocal && premiumManager.canUseCloudAI && networkMonitor.isConnected
        #expect(!shouldUseCloud)
    }

    @Test func theLimitsOfTheDevice() {
        let ramGB = Int(ProcessInfo.processInfo.physicalMemory / 1_073_741_824)
        let historyLimit = ramGB >= 6 ? ChatConstants.largeHistoryLimit : ChatConstants.smallHistoryLimit
        #expect([50, 20].contains(historyLimit))
        #expect(ChatConstants.largeHistoryLimit == 50 && ChatConstants.smallHistoryLimit == 20)
        let options = GenerationOptions()
        #expect(options.sampling.temperature == 0.35 && options.maximumNewTokens == 768)
        #expect(options.sampling.topK == nil && options.sampling.topP == nil)
        #expect(ModelType.allCases == [.text, .vision])
    }

    @Test func theErrors() async {
        func failing(_ code: LLMError.Code) throws { throw LLMError(code, "as in the table") }
        do {
            try failing(.timeout)
        } catch LLMError.Code.timeout {
        } catch {
            Issue.record("\(error) is not matched by its code")
        }
        do {
            try failing(.generateFailed)
        } catch LLMError.Code.modelNotLoaded {
            Issue.record("another code matches")
        } catch {}
    }

    #if Llama
    @Test func theActor() async throws {
        let actor = LlamaContext()
        let path = Path("/nowhere/model.gguf")
        await #expect(throws: LLMError.self) {
            try await actor.loadModel(at: path, contextSize: 8192, role: .text)
        }
        await #expect(throws: LLMError.self) {
            try await actor.loadModel(
                at: path, contextSize: 4096, role: .vision, mmprojPath: Path("/nowhere/mmproj.gguf"))
        }
        #expect(LLMConstants.batchCapacity == 8192 && !actor.textModelSupportsVision)
        let (stream, continuation) = AsyncThrowingStream<String, any Error>.makeStream()
        await actor.generate(prompt: "Hi", role: .text, continuation: continuation)
        do {
            for try await _ in stream {}
            Issue.record("no model answers")
        } catch LLMError.Code.modelNotLoaded {}
        let (seen, second) = AsyncThrowingStream<String, any Error>.makeStream()
        await actor.generateWithImages(prompt: "Hi", imageDataList: [], role: .vision, continuation: second)
        await #expect(throws: LLMError.self) { for try await _ in seen {} }
        await actor.unloadModel(role: .text)
        await actor.unload()
    }
    #endif
}
