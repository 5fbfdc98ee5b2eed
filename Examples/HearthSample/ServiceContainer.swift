import Foundation
import Hearth
import HearthApple
import HearthAssistant
import HearthBackground
import HearthBase
import HearthClassification
import HearthDelivery
import HearthRouting
import HearthUI
import Observation

/// The services of the app, made once.
@MainActor @Observable final class ServiceContainer {
    static let shared = ServiceContainer()

    /// The models; `nil` if the home folder cannot be used, which `problem` explains.
    private(set) var hearth: Hearth?
    private(set) var chat: ChatViewModel?
    /// The downloads that the system goes on with while the app does not run.
    @ObservationIgnored private(set) var downloads: BackgroundDownloads?
    private(set) var problem: String?
    /// Chooses between the models of this device and the cloud of the settings.
    private(set) var orchestrator: LLMOrchestrator?
    /// Whether no question leaves this device.
    var isLocalOnly = false {
        didSet {
            let isLocal = isLocalOnly
            if isLocal != oldValue { Task { await orchestrator?.setForceLocal(isLocal) } }
        }
    }
    /// Whether the classifier of characters is ready.
    private(set) var isModelReady = false
    let approvals = ChatApprovals()
    /// Memory warnings unload models, and heat shortens answers.
    let watch = DeviceWatch()
    let proxy = ClassifierProxy()
    /// Asks the cloud about characters that the classifier is not sure about, once the app has started.
    @ObservationIgnored private(set) lazy var decoder = RoutingDecoder(proxy: proxy)
    @ObservationIgnored private var starting: Task<Void, Never>?

    /// The family of the classifier in the app's list of models.
    nonisolated private static let classifier = "nomlens"

    /// Begins the start of the app; a second call does nothing.
    func start() {
        guard starting == nil else { return }
        guard let manifest = URL(string: "https://models.example.org/models.json") else { return }
        do {
            let hearth = try Hearth(watching: watch, origins: [Origin("sample", manifest)])
            self.hearth = hearth
            downloads = BackgroundDownloads(hearth.manager)
            start(hearth)
        } catch {
            problem = error.localizedDescription
        }
    }

    private func start(_ hearth: Hearth) {
        starting = Task {
            do {
                // What is stored is usable at once; then the origin is asked.
                await follow(hearth)
                await hearth.manager.loadStoredModel()
                let orchestrator = try await hearth.orchestrator()
                self.orchestrator = orchestrator
                isLocalOnly = await orchestrator.forceLocal
                decoder = RoutingDecoder(proxy: proxy, cloud: ClaudeService(orchestrator))
                let stores = AssistantStores(
                    calendar: SystemCalendar(), reminders: SystemReminders(), contacts: SystemContacts())
                let assistant = try await hearth.assistant(
                    approval: approvals, stores: stores, engine: watch.following(orchestrator))
                chat = ChatViewModel(try await assistant.session())
                _ = hearth.downloads
                await hearth.library.refresh()
                _ = await hearth.manager.checkForUpdates()
            } catch {
                problem = error.localizedDescription
            }
        }
    }

    /// Leaves unfinished downloads to the system.
    func leave() async {
        do {
            try await downloads?.handOver()
        } catch {
            problem = error.localizedDescription
        }
    }

    /// Installs what the system has brought.
    func comeBack() async {
        await downloads?.start()
        do {
            _ = try await downloads?.finish()
        } catch {
            problem = error.localizedDescription
        }
        await hearth?.library.refresh()
    }

    /// Ends the answers, and saves what the models have computed.
    func close() async {
        await hearth?.close()
    }

    /// Exchanges the classifier whenever a newer version of it becomes live.
    private func follow(_ hearth: Hearth) async {
        await hearth.manager.onActivation { [proxy] model in
            guard model.identity?.family.name == ServiceContainer.classifier, model.weights != nil else { return }
            await proxy.update(try await hearth.classifier(ServiceContainer.classifier, policy: .localOnly).current())
        }
        await hearth.manager.onReady { [weak self] _ in
            Task { @MainActor in
                guard let self else { return }
                self.isModelReady = await self.proxy.isModelReady
            }
        }
    }
}
