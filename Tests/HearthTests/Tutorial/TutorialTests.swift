import Foundation
import Testing

/// What the tutorial of the `Hearth` catalog shows is `FirstSteps.swift`, which compiles: each step is its beginning.
@Suite struct TutorialTests {
    private let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    @Test func theStepsAreCodeThatCompiles() throws {
        let whole = try text("Tests/HearthTests/Tutorial/FirstSteps.swift")
        let catalog = "Sources/Hearth/Hearth.docc"
        let tutorial = try text("\(catalog)/FirstSteps.tutorial")
        let steps = try FileManager.default.contentsOfDirectory(
            atPath: root.appending(path: "\(catalog)/Resources").path
        )
        .filter { $0.hasSuffix(".swift") }.sorted()
        try #require(steps.count >= 2)
        for step in steps {
            let code = try text("\(catalog)/Resources/\(step)")
            try #require(code.hasSuffix("\n}\n"))
            #expect(whole.hasPrefix(code.dropLast(2)), "\(step) shows something else")
            #expect(tutorial.contains("file: \(step))"), "nobody sees \(step)")
        }
        #expect(try text("\(catalog)/Resources/\(steps.last ?? "")") == whole)
    }
}
