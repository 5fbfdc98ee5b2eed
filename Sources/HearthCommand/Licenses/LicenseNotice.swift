import CLicenses
import Foundation
import HearthServer

/// A component of the program, or a library of the system that it uses, with its license.
struct LicenseNotice: Sendable, Hashable {
    /// Where the component comes from.
    enum Group: String, Sendable, Hashable {
        case hearth, llama, swift, server, system
        case serverSystem = "server-system"

        /// Set for libraries that the system provides and the program only uses.
        var isOfTheSystem: Bool { self == .system || self == .serverSystem }

        /// Whether this build uses components of the group.
        var isUsed: Bool {
            switch self {
            case .hearth, .server: true
            case .llama:
                #if Llama
                true
                #else
                false
                #endif
            case .serverSystem: HTTPListener.isAvailable
            // On other platforms, Swift and the libraries below belong to the system.
            case .swift, .system:
                #if os(Linux)
                true
                #else
                false
                #endif
            }
        }
    }

    let group: Group
    let name: String
    /// The SPDX identifier of the license, or its name.
    let license: String
    /// The text of the license; empty for libraries of the system.
    let text: String

    /// The components of this build, in the order of the file.
    static var all: [LicenseNotice] { parse(bundledText).filter(\.group.isUsed) }

    private static var bundledText: String {
        let bytes = UnsafeRawBufferPointer(start: hearth_licenses(), count: hearth_licenses_length())
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads sections that begin with `=== group | name | license`. Skips sections of unknown groups.
    static func parse(_ text: String) -> [LicenseNotice] {
        ("\n" + text).split(separator: "\n=== ").compactMap { section in
            let parts = section.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
            let facts = parts[0].split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard facts.count == 3, let group = Group(rawValue: facts[0]) else { return nil }
            return LicenseNotice(
                group: group, name: facts[1], license: facts[2],
                text: parts.count == 2 ? parts[1].trimmingCharacters(in: .newlines) : "")
        }
    }
}
