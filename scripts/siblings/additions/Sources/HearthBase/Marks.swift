// Marks of folders, which Linux's file systems have not: they are recorded instead.
import Foundation

/// What was told about files to Apple's system.
package enum RecordedMarks {
    package static let excluded = Locked<[String]>([])
    package static let protected = Locked<[String: FileProtectionType]>([:])
}

extension URL {
    mutating func setResourceValues(_ values: URLResourceValues) throws {
        if values.isExcludedFromBackup == true { RecordedMarks.excluded.withLock { $0.append(path) } }
    }
}

extension FileManager {
    func setAttributes(_ attributes: [FileAttributeKey: Any], ofItemAtPath path: String) throws {
        guard let protection = attributes[.protectionKey] as? FileProtectionType else { return }
        RecordedMarks.protected.withLock { $0[path] = protection }
    }
}
