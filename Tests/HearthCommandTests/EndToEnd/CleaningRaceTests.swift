import Foundation
import HearthBase
import HearthTestSupport
import Testing

/// Two processes clear up the same left-overs at the same moment.
@Suite(.timeLimit(.minutes(5))) struct CleaningRaceTests {
    @Test func pruneAndCleanGetInNobodysWay() async throws {
        let lab = try HearthLab()
        for round in 0..<4 {
            let yesterday = Date(timeIntervalSinceNow: -3 * 86400)
            for number in 0..<40 {
                let digest = SHA256Digest(hashing: Array("\(round) \(number)".utf8)).hex
                let folder = "home/transfers/\(digest)"
                for name in ["data.part", "journal"] {
                    let path = try lab.folder.write("\(folder)/\(name)", Data(count: 4096))
                    try FileManager.default.setAttributes([.modificationDate: yesterday], ofItemAtPath: path.string)
                }
                try FileManager.default.setAttributes(
                    [.modificationDate: yesterday], ofItemAtPath: lab.folder.path(folder).string)
            }
            async let cleaned = lab.run("transfers", "clean")
            async let pruned = lab.run("prune")
            async let again = lab.run("transfers", "clean")
            for result in try await [cleaned, pruned, again] {
                #expect(result.status == 0, "round \(round): \(result.errors)")
            }
            let left = try LocalFileSystem().contents(of: lab.folder.path("home/transfers"))
            #expect(left.filter { $0.utf8.count == 64 }.isEmpty, "round \(round)")
        }
    }
}
