import Foundation
import HearthBase

/// The facts that the user has written down about themselves, one on each line of a file.
package struct FactSource: PromptSource {
    private let file: Path
    /// The most bytes of the file.
    static let maximumSize = 64 << 10

    package init(file: Path) { self.file = file }

    package func sections(at moment: PromptMoment) async throws -> [PromptSection] {
        let text = try await blocking { [file] in
            do {
                let data = try LocalFileSystem().contents(ofFile: file, limit: Self.maximumSize)
                return String(decoding: data, as: UTF8.self)
            } catch let error as FileError where error.code == .notFound {
                return ""
            }
        }
        let lines = text.split(separator: "\n").map { String($0).promptLine(200) }.filter { !$0.isEmpty }
        guard !lines.isEmpty else { return [] }
        return [PromptSection(name: "facts", text: lines.joined(separator: "\n"), priority: 70, place: .instructions)]
    }
}
