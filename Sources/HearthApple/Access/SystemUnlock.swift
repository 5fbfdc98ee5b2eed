#if canImport(EventKit) || canImport(Contacts)
import Foundation
import Hearth
import HearthBase

extension FirstUnlock {
    /// The file of this app, beside its models; `nil` if the app has no folder for them.
    // Without a folder nothing can be told, and the calls of the frameworks tell their own errors.
    private static let app = (try? HearthHome.path()).map { home in
        FirstUnlock(folder: home) { path in
            try FileManager.default.setAttributes(
                [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication], ofItemAtPath: path.string)
        }
    }

    /// Whether this device was unlocked since it started.
    static func hasHappenedHere() async -> Bool { await app?.hasHappened() ?? true }
}
#endif
