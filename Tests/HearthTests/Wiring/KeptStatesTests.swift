import Foundation
import HearthBase
import HearthStore
import HearthTestSupport
import Testing

@testable import Hearth

@Suite struct KeptStatesTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func put(_ name: String, bytes: Int, age: Double) throws -> Path {
        let file = try folder.write(name, Data(count: bytes))
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -age)], ofItemAtPath: file.string)
        return file
    }

    private func exists(_ file: Path) -> Bool { FileManager.default.fileExists(atPath: file.string) }

    @Test func theLeastRecentlyUsedOfAllModelsGoFirst() throws {
        let files = [
            try put("states/a/1.state", bytes: 40, age: 1), try put("states/b/2.state", bytes: 50, age: 2),
            try put("states/a/3.state", bytes: 30, age: 3), try put("states/c/4.state", bytes: 1, age: 4),
            try put("states/c/notes.txt", bytes: 500, age: 9),
        ]
        try KeptStates.prepare(folder.path("states/new"), limit: 100)
        #expect(files.map(exists) == [true, true, false, false, true])
        let facts = try FileManager.default.attributesOfItem(atPath: folder.path("states/new").string)
        #expect(facts[.posixPermissions] as? Int == 0o700)
    }

    /// A home that cannot be written loads its models all the same.
    @Test func aFolderThatCannotBeMadeKeepsNone() throws {
        let file = try folder.write("file", Data())
        let request = { (states: Path?) in
            var request = EngineRegistry.Request(
                files: ReleaseFiles(weights: Path("/models/a.gguf")), configuration: Configuration(), deviceMemory: 1)
            request.instructionStates = states
            return request
        }
        #expect(KeptStates.instructionFolder(of: request(nil)) == nil)
        #expect(KeptStates.instructionFolder(of: request(file.joined("states"))) == nil)
        let made = try #require(KeptStates.instructionFolder(of: request(folder.path("home"))))
        #expect(made.parent == folder.path("home") && made.lastComponent.count == 16)
    }
}
