import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthClassification
import HearthHTTP

/// The classes of a picture, or the characters of a page.
struct ClassifiedBody: Codable, Sendable, Hashable {
    /// The name of the classifier.
    var model: String
    var classes: [ClassBody]
    var pages: [PageBody]
    var characters: [CharacterBody]
}

/// A class with its confidence, 0...1; without one if the model computed no number.
struct ClassBody: Codable, Sendable, Hashable {
    var label: String
    var confidence: Double?
}

/// A page as it was cut: turned by so many degrees counter-clockwise. The boxes are pixels of it.
struct PageBody: Codable, Sendable, Hashable {
    var page: Int
    var width: Int
    var height: Int
    var degrees: Double
}

/// One character of a page, in pixels of the straightened page.
struct CharacterBody: Codable, Sendable, Hashable {
    var page: Int
    var line: Int
    var x: Int
    var y: Int
    var width: Int
    var height: Int
    var text: String
    var confidence: Double?
    var verdict: String
    var candidates: [ClassBody]
}

/// The routes of the classifiers.
struct ClassifyRoutes: Sendable {
    let home: ServedHome

    private static let pictureTypes = ["image/png", "image/jpeg", "image/bmp", "image/tiff", "application/pdf"]
    private static let pictureLimit = 32 << 20

    /// Pictures are classified on this device; nothing goes to the cloud.
    var all: [NativeRoute] {
        [
            .raw(
                "POST", "/classify", "Tell what a picture shows, or read a page of characters",
                query: [
                    ("model", "an installed classifier; by default the only one"),
                    ("top", "the most classes, 1 to 1000; by default 5"),
                    ("decode", "true to read the characters of a page, or of all pages of a TIFF or PDF file"),
                    ("direction", "columns, rows or auto"),
                ],
                input: NativeRoute.Input(
                    example: nil, mediaTypes: Self.pictureTypes,
                    describe: { _ in .object(["type": .string("string"), "format": .string("binary")]) },
                    check: { _ in }),
                mediaType: "application/json", output: { try $0.schema(of: ClassifiedBody.self) }
            ) { call in
                // A form of another site cannot send these types.
                guard let type = call.request.headers["Content-Type"], Self.pictureTypes.contains(type.lowercased())
                else {
                    throw NativeFailure(
                        415, "media-type", "the body must be one of \(Self.pictureTypes.joined(separator: ", "))")
                }
                let top = try call.number("top", 1...1000, default: 5)
                let decodes = try call.flag("decode")
                guard let direction = ReadingDirection(rawValue: call.query("direction") ?? "auto") else {
                    throw NativeFailure.bad("direction", "columns, rows or auto")
                }
                let proxy = try await classifier(call.query("model"))
                let bytes = try await call.request.body.collect(limit: Self.pictureLimit)
                let body =
                    if decodes {
                        try await Self.decoded(bytes, top: top, direction: direction, proxy)
                    } else {
                        try await Self.classified(bytes, top: top, proxy)
                    }
                return try NativeRoute.json(body)
            }
        ]
    }

    /// An installed classifier; paths are not accepted.
    private func classifier(_ name: String?) async throws -> ClassifierProxy {
        guard let name else { return try await home.present.hearth.onlyClassifier() }
        guard Family(name) != nil else { throw NativeFailure.bad("model", "the name of an installed classifier") }
        return try await home.present.hearth.classifier(name, policy: .localOnly)
    }

    private static func classified(
        _ bytes: [UInt8], top: Int, _ proxy: ClassifierProxy
    ) async throws -> ClassifiedBody {
        let classifier = try await proxy.current()
        let picture = try await blocking { try Picture(file: bytes) }
        let answer = try await classifier.classify(picture, top: top)
        return ClassifiedBody(
            model: classifier.information.name, classes: answer.map(ClassBody.init),
            pages: [], characters: [])
    }

    private static func decoded(
        _ bytes: [UInt8], top: Int, direction: ReadingDirection, _ proxy: ClassifierProxy
    ) async throws -> ClassifiedBody {
        var decoder = PageDecoder(proxy: proxy, decoder: RoutingDecoder(proxy: proxy))
        decoder.direction = direction
        var body = ClassifiedBody(
            model: try await proxy.current().information.name, classes: [], pages: [], characters: [])
        var page = 0
        for try await event in decoder.decode(bytes, top: top) {
            switch event {
            case .page(let number, _, let cut):
                page = number + 1
                body.pages.append(
                    PageBody(page: page, width: cut.page.width, height: cut.page.height, degrees: cut.degrees))
            case .classified: break
            case .character(let character, let box):
                body.characters.append(CharacterBody(character, box, page: page))
            }
        }
        try Task.checkCancellation()
        return body
    }
}

extension ClassBody {
    init(_ candidate: Candidate) {
        self.init(
            label: candidate.label, confidence: candidate.confidence.isFinite ? candidate.confidence : nil)
    }
}

extension CharacterBody {
    init(_ character: DecodedCharacter, _ box: PixelBox, page: Int) {
        self.init(
            page: page, line: character.line + 1, x: box.x, y: box.y, width: box.width, height: box.height,
            text: character.text, confidence: character.confidence,
            verdict: character.verdict.rawValue,
            candidates: character.candidates.map(ClassBody.init))
    }
}
