import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthClassification

/// Pages of square characters, as scanners and phones deliver them.
@Suite(.enabled(if: ClassifierSupport.isBuilt), .timeLimit(.minutes(5))) struct PageDecoderTests {
    private let names = ["一", "二", "三", "四"]

    private func decoder(_ lab: ClassifierLab) async throws -> PageDecoder {
        let settings = ONNXBuilder.settings.replacing("\"width\"", with: "\"margin\": 0, \"width\"")
        let proxy = ClassifierProxy(try await ONNXClassifier.load(lab.write(settings: settings)))
        return PageDecoder(proxy: proxy, decoder: RoutingDecoder(proxy: proxy))
    }

    @Test(arguments: [(0.0, false), (3, true), (-2.5, false)]) func aPageIsReadInOrder(_ degrees: Double, _ shade: Bool)
        async throws
    {
        let lab = try ClassifierLab()
        let decoder = try await decoder(lab)
        let sheet = QuadrantPage(columns: 3, rows: 7)
        let worn = sheet.worn(degrees: degrees, shade: shade)
        let bytes = try Picture(width: worn.width, height: worn.height, pixels: worn.pixels).png()
        var found: [String] = []
        var pages = 0
        for try await event in decoder.decode(bytes) {
            switch event {
            case .page(let number, let count, let page):
                #expect((number, count) == (0, 1))
                #expect(abs(page.degrees - degrees) <= 0.3)
                #expect(page.direction == .columns)
                pages += 1
            case .character(let character, _): found.append(character.text)
            case .classified: break
            }
        }
        #expect(pages == 1)
        #expect(found == sheet.classes.map { names[$0] })
    }

    @Test func everyPageOfADocumentIsRead() async throws {
        let lab = try ClassifierLab()
        let decoder = try await decoder(lab)
        let sheet = QuadrantPage(columns: 3, rows: 7)
        let blank = QuadrantPage(width: 50, height: 50)
        let pages = [sheet, blank, sheet].map {
            TIFFBuilder.Page(width: $0.width, height: $0.height, pixels: $0.pixels)
        }
        var characters = [0, 0, 0]
        var page = -1
        for try await event in decoder.decode(TIFFBuilder(pages: pages).bytes) {
            switch event {
            case .page(let number, let count, _):
                #expect(count == 3)
                page = number
            case .character: characters[page] += 1
            case .classified: break
            }
        }
        #expect(characters == [sheet.classes.count, 0, sheet.classes.count])
    }

    @Test func aReaderWhoStopsKeepsWhatCame() async throws {
        let lab = try ClassifierLab()
        let decoder = try await decoder(lab)
        let sheet = QuadrantPage(columns: 3, rows: 7)
        let bytes = try Picture(width: sheet.width, height: sheet.height, pixels: sheet.pixels).png()
        var found: [String] = []
        for try await event in decoder.decode(bytes) {
            if case .character(let character, _) = event { found.append(character.text) }
            if found.count == 5 { break }
        }
        #expect(found == sheet.classes.prefix(5).map { names[$0] })
    }
}
