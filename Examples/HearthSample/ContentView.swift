import Hearth
import HearthUI
import SwiftUI

/// The three pages of the app.
struct ContentView: View {
    @Environment(ServiceContainer.self) private var services
    @Environment(\.scenePhase) private var scenePhase
    @State private var isShowingModels = false

    var body: some View {
        TabView {
            chat.tabItem { Label("Chat", systemImage: "bubble.left") }
            NavigationStack { ClassifyView() }.tabItem { Label("Read", systemImage: "text.viewfinder") }
            NavigationStack { settings }.tabItem { Label("Settings", systemImage: "gear") }
        }
        .task { services.start() }
        .onChange(of: scenePhase) { _, phase in
            switch phase {
            case .active: Task { await services.comeBack() }
            case .inactive: Task { await services.leave() }
            default: break
            }
        }
        .sheet(isPresented: $isShowingModels) { settings }
    }

    @ViewBuilder private var chat: some View {
        if let chat = services.chat {
            NavigationStack { ChatView(chat, approvals: services.approvals) { isShowingModels = true } }
        } else if let problem = services.problem {
            Text(verbatim: problem).padding()
        } else {
            ProgressView()
        }
    }

    @ViewBuilder private var settings: some View {
        @Bindable var services = services
        if let library = services.hearth?.library {
            // `SettingsView(library)` is this screen without a section of the app's own.
            Form {
                ModelSettingsSection(library)
                Section {
                    Toggle(isOn: $services.isLocalOnly) { Text("Only on this device") }
                        .disabled(services.orchestrator == nil)
                } footer: {
                    Text(
                        "Without this, the cloud of the settings may answer, and this device takes over where it cannot."
                    )
                }
            }
            .navigationTitle("Settings")
            .task { await library.refresh() }
        }
    }
}
