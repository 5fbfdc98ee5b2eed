import Foundation
import Hearth
import Testing

/// The README's second example is code that compiles, too.
@MainActor @Suite struct ReadmeLibraryTests {
    func example(hearth: Hearth) async throws {
        // README
        let (library, downloads) = (hearth.library, hearth.downloads)
        await library.refresh()
        for row in library.rows { print(row.model.displayName, row.model.sizeText, row.model.memoryText, row.state) }

        downloads.selectedModel = library.rows.first?.model
        try downloads.startDownload()
        // downloads.downloadState, downloads.progress, … until downloads.isModelLoaded
        // README
    }

    @Test func theReadmeShowsThisCode() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let source = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)
        let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
        let parts = source.components(separatedBy: "        // README\n")
        try #require(parts.count >= 3)
        let code = parts[1].split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.hasPrefix("        ") ? String($0.dropFirst(8)) : String($0) }.joined(separator: "\n")
        #expect(readme.contains(code))
    }
}
