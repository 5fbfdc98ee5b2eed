import Foundation

extension URL {
    /// Whether the host is this machine: `localhost`, `127.0.0.0/8`, `::1`.
    package var isLoopback: Bool {
        guard let host = host?.lowercased() else { return false }
        if host == "localhost" || host == "::1" || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127"
            && parts.allSatisfy { UInt8($0) != nil && $0.utf8.allSatisfy { (48...57).contains($0) } }
    }
}
