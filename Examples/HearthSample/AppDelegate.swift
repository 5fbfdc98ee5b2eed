#if os(iOS)
import HearthBackground
import UIKit

/// Takes what iOS tells the app outside of its windows.
final class AppDelegate: NSObject, UIApplicationDelegate {
    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        ServiceContainer.shared.start()
        return true
    }

    /// iOS has brought files while the app did not run. It may suspend the app again when the handler is called.
    func application(
        _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping () -> Void
    ) {
        Task {
            ServiceContainer.shared.start()
            await ServiceContainer.shared.downloads?.handleEvents(forSession: identifier)
            completionHandler()
        }
    }
}
#endif
