import Foundation
import HearthBase
import HearthClassification

/// The files of a classifier for its worker.
struct HostedFiles: Codable {
    private let name: String
    private let model: String
    private let settings: String?
    private let labels: String?
    private let classCount: Int?
    private let classListVersion: String?

    init(_ files: ClassifierFiles) {
        (name, model) = (files.name, files.model.string)
        (settings, labels) = (files.settings?.string, files.labels?.string)
        (classCount, classListVersion) = (files.classCount, files.classListVersion)
    }

    var files: ClassifierFiles {
        ClassifierFiles(
            name: name, model: Path(model), settings: settings.map { Path($0) }, labels: labels.map { Path($0) },
            classCount: classCount, classListVersion: classListVersion)
    }
}

/// The facts of a classifier from its worker.
struct HostedFacts: Codable {
    private let name: String
    private let classCount: Int
    private let classListVersion: String?
    private let size: [Int]
    private let isGrey: Bool
    private let margin: Double
    private let thresholds: [Double]

    init(_ information: ClassifierInformation) {
        (name, classCount, classListVersion) = (
            information.name, information.classCount, information.classListVersion
        )
        size = [information.inputWidth, information.inputHeight]
        (isGrey, margin) = (information.isGrey, information.margin)
        thresholds = [information.thresholds.green, information.thresholds.yellow]
    }

    /// - Throws: `classification-failed` for facts that no classifier has.
    var information: ClassifierInformation {
        get throws {
            guard size.count == 2, size.allSatisfy({ (1...1 << 16).contains($0) }), thresholds.count == 2,
                classCount >= 0, (0...10).contains(margin)
            else { throw ClassificationError(.failed, "the classifier has impossible facts") }
            var known = ClassifierInformation(name: name, classCount: classCount)
            known.classListVersion = classListVersion
            (known.inputWidth, known.inputHeight, known.isGrey, known.margin) = (size[0], size[1], isGrey, margin)
            (known.thresholds.green, known.thresholds.yellow) = (thresholds[0], thresholds[1])
            return known
        }
    }
}

/// A candidate from a worker. The confidence travels as its bits: a model can compute none.
struct HostedCandidate: Codable {
    private let label: String
    private let confidence: UInt64

    init(_ candidate: Candidate) { (label, confidence) = (candidate.label, candidate.confidence.bitPattern) }

    var candidate: Candidate { Candidate(label, Double(bitPattern: confidence)) }
}

/// Pictures for a worker: a line of JSON with their sizes, then the pixels.
enum HostedPictures {
    private struct Head: Codable {
        var top: Int
        /// Width, height, and the bytes of a pixel.
        var sizes: [[Int]]
    }

    static func write(_ pictures: [Picture], top: Int) throws -> [UInt8] {
        let head = Head(top: top, sizes: pictures.map { [$0.width, $0.height, $0.isGrey ? 1 : 3] })
        return Array(try JSON.data(head)) + [UInt8(ascii: "\n")] + pictures.flatMap(\.pixels)
    }

    static func read(_ content: [UInt8]) throws -> (pictures: [Picture], top: Int) {
        guard let end = content.firstIndex(of: UInt8(ascii: "\n")) else { throw CocoaError(.coderReadCorrupt) }
        let head = try JSON.value(Head.self, Data(content[..<end]))
        var rest = content[(end + 1)...]
        let pictures = try head.sizes.map { size in
            let pixels = Array(rest.prefix(size[0] * size[1] * size[2]))
            rest = rest.dropFirst(pixels.count)
            return try Picture(width: size[0], height: size[1], pixels: pixels)
        }
        return (pictures, head.top)
    }
}
