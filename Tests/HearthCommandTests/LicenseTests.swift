import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCommand

@Suite struct LicenseTests {
    /// The components by group. A new dependency is added to `scripts/tests/licenses.py` and here.
    private static let llama = [
        "llama.cpp and ggml", "llamafile (matrix multiplication)", "YaRN", "JSON for Modern C++", "cpp-httplib",
        "stb_image",
        "miniaudio", "subprocess.h", "SHA-1 in C", "SHA-256 by Igor Pavlov", "rotate-bits", "xxHash",
    ]
    private static let swift = [
        "Swift runtime, standard library, Foundation, Swift Collections and libdispatch", "ICU",
    ]
    private static let page = ["marked", "DOMPurify", "highlight.js", "KaTeX"]
    private static let system = [
        "GNU C library", "libstdc++ and libgcc", "libarchive", "libcurl", "zlib", "OpenSSL libcrypto",
        "GLib and GIO", "SQLite", "libical", "libxml2", "cmark-gfm", "libedit",
    ]

    private static var expected: [String] {
        var names = ["Hearth"]
        #if Llama
        names += llama
        #endif
        names += swift
        names += page + system
        if LicenseNotice.Group.serverSystem.isUsed { names += ["libmicrohttpd", "QR Code generator"] }
        return names + ["Vulkan loader (builds with BACKEND=vulkan)"]
    }

    private struct Entry: Decodable {
        let name, license, use: String
        let text: String?
    }

    private func entries(_ words: String...) async throws -> [Entry] {
        let probe = CommandProbe(home: try TemporaryFolder().path("home"))
        #expect(await probe.run(["licenses", "--format", "json"] + words) == 0)
        return try JSONDecoder().decode([Entry].self, from: Data(probe.output.contents.utf8))
    }

    #if os(Linux)
    @Test func everyComponentIsListed() async throws {
        let entries = try await entries("--list")
        #expect(entries.map(\.name) == Self.expected)
        #expect(entries.allSatisfy { $0.text == nil && !$0.license.isEmpty })
        let dynamic = entries.filter { $0.use == "dynamic" }.map(\.name)
        #expect(
            dynamic == Self.expected.filter { !(["Hearth"] + Self.llama + Self.swift + Self.page).contains($0) })
    }
    #endif

    @Test func bundledComponentsHaveTheirTexts() async throws {
        for entry in try await entries() where entry.use == "bundled" {
            let text = try #require(entry.text, "\(entry.name)")
            #expect(text.count > 30, "\(entry.name)")
            if entry.license.hasPrefix("MIT") {
                #expect(text.contains("Permission is hereby granted, free of charge"), "\(entry.name)")
                #expect(text.contains("Copyright"), "\(entry.name)")
            }
            if entry.license.hasPrefix("Apache-2.0") { #expect(text.contains("Apache License"), "\(entry.name)") }
        }
    }

    @Test func textsFollowTheTable() async throws {
        let probe = CommandProbe(home: try TemporaryFolder().path("home"))
        #expect(await probe.run("licenses") == 0)
        let lines = probe.output.contents.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.first?.hasPrefix("LICENSE ") == true)
        #expect(lines.contains("== Hearth (Apache-2.0)"))
        #expect(!lines.contains("== libcurl (curl)"))
    }

    @Test func unknownGroupsAreSkipped() {
        let text =
            "before\n=== hearth | A | MIT\n\none\n\ntwo\n=== later | B | MIT\nx\n=== system | C | curl\n=== broken\n"
        #expect(
            LicenseNotice.parse(text) == [
                LicenseNotice(group: .hearth, name: "A", license: "MIT", text: "one\n\ntwo"),
                LicenseNotice(group: .system, name: "C", license: "curl", text: ""),
            ])
    }
}
