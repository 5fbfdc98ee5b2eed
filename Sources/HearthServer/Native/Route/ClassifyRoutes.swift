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
    /// What Decode All would send; absent where this device is sure of all, or no cloud may be asked.
    var offer: EscalationBody?
}

/// What asking the cloud about the characters that this device is not sure of would take.
struct EscalationBody: Codable, Sendable, Hashable {
    var characters: Int
    /// The requests, each billed as one message.
    var requests: Int
    /// The model of the cloud.
    var cloud: String
    /// The credits of this month; absent where they are not counted.
    var credits: CreditsBody?
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
    let service: NativeService

    private static let pictureTypes = ["image/png", "image/jpeg", "image/bmp", "image/tiff", "application/pdf"]
    private static let pictureLimit = 32 << 20
    /// The most requests to the cloud for one file.
    private static let maximumRequests = 500

    /// Pictures are classified on this device; the cloud gets characters that a caller agreed to send.
    var all: [NativeRoute] {
        [
            .raw(
                "POST", "/classify", "Tell what a picture shows, or read a page of characters",
                query: [
                    ("model", "an installed classifier; by default the only one"),
                    ("top", "the most classes, 1 to 1000; by default 5"),
                    ("decode", "true to read the characters of a page, or of all pages of a TIFF or PDF file"),
                    ("direction", "columns, rows or auto"),
                    (
                        "cloud",
                        "with decode: the requests to the cloud that a person agreed to, 0 to 500; by default 0: nothing is sent, and offer tells what would be"
                    ),
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
                let agreed = try call.number("cloud", 0...Self.maximumRequests, default: 0)
                let proxy = try await classifier(call.query("model"))
                let bytes = try await call.request.body.collect(limit: Self.pictureLimit)
                let body =
                    if decodes {
                        try await decoded(bytes, top: top, direction: direction, agreed: agreed, proxy)
                    } else {
                        try await Self.classified(bytes, top: top, proxy)
                    }
                return try NativeRoute.json(body)
            }
        ]
    }

    /// An installed classifier; paths are not accepted.
    private func classifier(_ name: String?) async throws -> ClassifierProxy {
        guard let name else { return try await service.home.present.hearth.onlyClassifier() }
        guard Family(name) != nil else { throw NativeFailure.bad("model", "the name of an installed classifier") }
        return try await service.home.present.hearth.classifier(name, policy: .localOnly)
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

    private func decoded(
        _ bytes: [UInt8], top: Int, direction: ReadingDirection, agreed: Int, _ proxy: ClassifierProxy
    ) async throws -> ClassifiedBody {
        let (current, consent) = (service.now, EscalationConsent(requests: agreed))
        var limits = EscalationLimits()
        (limits.requests, limits.tokens, limits.time) = (Self.maximumRequests, 500_000, .seconds(120))
        let routing = RoutingDecoder(proxy: proxy, cloud: current.characterReader, limits: limits)
        var decoder = PageDecoder(proxy: proxy, decoder: routing)
        decoder.direction = direction
        var body = ClassifiedBody(
            model: try await proxy.current().information.name, classes: [], pages: [], characters: [])
        var page = 0
        for try await event in decoder.decode(bytes, top: top, consent: consent.decide) {
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
        if let cloud = current.cloud.model, let left = consent.refused {
            body.offer = EscalationBody(
                characters: left.pictures, requests: left.requests, cloud: cloud.name,
                credits: CreditsBody(current.cloud.premium.rights))
        }
        return body
    }
}

/// The requests to the cloud that a person agreed to, for all pages of a file; remembers what more would be sent.
private final class EscalationConsent: Sendable {
    private let state: Locked<(left: Int, refused: EscalationOffer?)>

    init(requests: Int) { state = Locked((requests, nil)) }

    /// What was not sent; `nil` for nothing.
    var refused: EscalationOffer? { state.withLock { $0.refused } }

    func decide(_ offer: EscalationOffer) async -> Bool {
        state.withLock { state in
            guard offer.requests > state.left else {
                state.left -= offer.requests
                return true
            }
            var refused = state.refused ?? EscalationOffer(pictures: 0, requests: 0, tokenLimit: offer.tokenLimit)
            refused.pictures += offer.pictures
            refused.requests += offer.requests
            state.refused = refused
            return false
        }
    }
}

extension NativeService.Current {
    /// Reads characters with the cloud; `nil` where the settings or the credits allow no picture to leave the device.
    fileprivate var characterReader: CloudCharacterReader? {
        guard cloud.model != nil, !configuration.forceLocal, cloud.premium.canSendCloudMessage,
            configuration.cloud.shares.sections.contains(.pictures)
        else { return nil }
        return CloudCharacterReader(orchestrator)
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
