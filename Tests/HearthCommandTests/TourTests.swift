import Foundation
import Testing

/// `docs/tour.md` is short enough to walk, and every file that it names exists.
@Suite struct TourTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func tour() throws -> String {
        try String(contentsOf: root.appending(path: "docs/tour.md"), encoding: .utf8)
    }

    @Test func everyFileOfTheTourExists() throws {
        let paths = Set(try Self.tour().matches(of: /`((?:Sources|Tests)\/[^`]*)`/).map { String($0.1) })
        #expect(paths.count >= 20, "the search for paths finds only \(paths.count)")
        for path in paths.sorted() {
            var isFolder: ObjCBool = false
            let exists = FileManager.default.fileExists(
                atPath: Self.root.appending(path: path).path(percentEncoded: false), isDirectory: &isFolder)
            #expect(exists && !isFolder.boolValue, "docs/tour.md names \(path), which is not a file")
        }
    }

    @Test func eachWayHasAFewNumberedStops() throws {
        for way in try Self.tour().components(separatedBy: "\n## ").dropFirst() {
            let numbers = way.split(separator: "\n").compactMap { line in
                line.prefixMatch(of: /([0-9]+)\.\s/).flatMap { Int($0.1) }
            }
            let title = way.prefix { $0 != "\n" }
            #expect((1...25).contains(numbers.count), "\(title) has \(numbers.count) stops")
            #expect(numbers == Array(1...max(1, numbers.count)), "the stops of \(title) are not numbered in order")
        }
    }
}
