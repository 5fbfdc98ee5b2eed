import SwiftUI

#if os(iOS)
import UIKit
#endif

/// An app with all five plans: it downloads models, chats and acts, reads characters, and has settings for all of that.
@main struct HearthSampleApp: App {
    #if os(iOS)
    @UIApplicationDelegateAdaptor(AppDelegate.self) private var delegate
    #endif
    @State private var services = ServiceContainer.shared

    var body: some Scene {
        WindowGroup { ContentView().environment(services) }
    }
}
