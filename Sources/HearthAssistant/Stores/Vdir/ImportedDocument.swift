import Foundation
import HearthBase

/// A file to import: its components, and the lines that they begin in.
struct ImportedDocument {
    let components: [ContentComponent]
    /// The places of the line ends.
    private let ends: [Int]

    /// - Parameters:
    ///   - name: the component that the file must have, such as `VCARD`.
    ///   - kind: the kind of the file in words.
    /// - Throws: `unusable-record`.
    init(_ data: Data, _ name: String, kind: String) throws {
        let text = ImportedText.utf8(data)
        do {
            components = try ContentParser(limits: ContentParser.collection).parse(text).components
        } catch let failure as ContentParser.Failure {
            throw AssistantError(.unusableRecord, "the \(kind) file cannot be read: \(failure.reason)")
        }
        guard components.contains(where: { $0.name == name }) else {
            throw AssistantError(.unusableRecord, "the file is no \(kind)")
        }
        ends = text.withUnsafeBytes { bytes in bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") } }
    }

    /// The line that a component of the file begins in, from 1.
    func line(of component: ContentComponent) -> Int {
        let place = component.begin.bytes.startIndex
        var (low, high) = (0, ends.count)
        while low < high {
            let middle = (low + high) / 2
            if ends[middle] < place { low = middle + 1 } else { high = middle }
        }
        return low + 1
    }
}
