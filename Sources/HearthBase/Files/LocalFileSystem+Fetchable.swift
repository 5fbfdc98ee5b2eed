import Foundation

extension LocalFileSystem {
    package func markFetchable(_ folder: Path) throws {
        #if canImport(Darwin)
        var url = folder.url
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        try url.setResourceValues(values)
        // A Mac has one key for the whole disk.
        #if !os(macOS)
        let protection = FileProtectionType.completeUntilFirstUserAuthentication
        try FileManager.default.setAttributes([.protectionKey: protection], ofItemAtPath: folder.string)
        #endif
        #endif
    }
}
