@_exported import AppleFoundation

// developer.apple.com/documentation/uikit/uiapplication
@MainActor public class UIApplication: NSObject {
    // developer.apple.com/documentation/uikit/uiapplication/launchoptionskey
    public struct LaunchOptionsKey: Hashable, RawRepresentable, Sendable {
        public let rawValue: String
        public init(rawValue: String) {}
    }
    // developer.apple.com/documentation/uikit/uiapplication/didreceivememorywarningnotification
    public nonisolated static let didReceiveMemoryWarningNotification: Notification.Name = Notification.Name("")
}

// developer.apple.com/documentation/uikit/uiapplicationdelegate
@MainActor public protocol UIApplicationDelegate: AnyObject {
    func application(
        _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool
    func application(
        _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping () -> Void)
    func applicationDidReceiveMemoryWarning(_ application: UIApplication)
}
extension UIApplicationDelegate {
    public func application(
        _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool { true }
    public func application(
        _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping () -> Void) {}
    public func applicationDidReceiveMemoryWarning(_ application: UIApplication) {}
}
