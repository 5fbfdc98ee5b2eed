import Foundation
import HearthBase
import Testing

@testable import HearthCatalog

/// The list of models to begin with, and the recommendation.
@Suite struct ShippedCatalogTests {
    private static var models: [HubModel] { get throws { try ShippedCatalog().newest(nil) } }

    @Test func theListHasTheDemandedShape() throws {
        let models = try Self.models
        #expect((15...25).contains(models.count))
        #expect(models.allSatisfy { (135_000_000...31_000_000_000).contains($0.parameters) })
        #expect(Set(models.map(\.family)).count == models.count)
        #expect(Set(models.map(\.repository.path)).count == models.count)
        #expect(Set(models.map(\.kind)) == Set(HubModel.Kind.allCases))
        for model in models {
            #expect(model.repository.file == nil && model.repository.revision == nil, "\(model.family) names a file")
            #expect(model.repository.family == model.family)
            #expect(model.summary.hasSuffix(".") && model.summary.count <= 120, "\(model.family)")
            #expect(!model.license.isEmpty && (model.kind == .vision) == (model.projectorBytes > 0), "\(model.family)")
            #expect(model.activeParameters <= model.parameters)
            #expect(!model.isRecommendable || model.license == "apache-2.0")
        }
    }

    /// `docs/catalog.md` shows the list.
    @Test func theDocumentShowsTheList() throws {
        let path = Path(#filePath).parent.parent.parent.parent.joined("docs").joined("catalog.md")
        let text = String(decoding: try Data(contentsOf: path.url), as: UTF8.self)
        for model in try Self.models {
            let row = text.split(separator: "\n").first { $0.hasPrefix("| `\(model.family)` |") }
            let found = try #require(row, "docs/catalog.md lacks \(model.family)")
            for part in [model.repository.path, model.license, model.kind.rawValue, model.tools.rawValue] {
                #expect(found.contains(part), "\(model.family): \(part)")
            }
        }
    }

    /// GB of memory, GB/s, and the model to begin with.
    @Test(
        arguments: [
            (0.5, 10, "smollm2-135m-instruct"), (2, 10, "qwen3-0.6b"), (4, 20, "qwen3-1.7b"),
            (8, 20, "qwen3-4b-2507"), (8, nil, "qwen3-4b-2507"), (16, 20, "qwen3-4b-2507"), (16, 60, "qwen3-8b"),
            (32, 40, "qwen3-30b-a3b-2507"), (24, 40, "gpt-oss-20b"), (64, nil, "qwen3-30b-a3b-2507"),
            // Too slow for any: the fastest.
            (16, 0.3, "smollm2-135m-instruct"), (0.05, 10, nil),
        ] as [(Double, Double?, String?)])
    func oneIsRecommended(memory: Double, bandwidth: Double?, family: String?) throws {
        let list = SuggestedModel.list(
            try Self.models, memory: UInt64(memory * 1e9), bandwidth: bandwidth.map { $0 * 1e9 })
        #expect(list.filter(\.isRecommended).map(\.model.family.name) == [family].compactMap(\.self))
        #expect(list.filter(\.isRecommended).allSatisfy { $0.fits })
    }

    @Test func forPicturesOneIsFoundThatSees() throws {
        let list = SuggestedModel.list(try Self.models, memory: 8_000_000_000, bandwidth: 40e9)
        let best = try #require(SuggestedModel.recommended(in: list, seeing: true))
        #expect(best.model.kind == .vision && best.fits)
    }

    // MARK: Newer lists

    private func list(_ entries: String, issued: String = "2027-01-01T00:00:00Z") throws -> Catalog {
        let text = #"{"schemaVersion": 1, "issued": "\#(issued)", "models": [], "hubModels": [\#(entries)]}"#
        return try Catalog(manifest: Data(text.utf8), url: try #require(URL(string: "https://c.example/models.json")))
    }

    private static let entry =
        #"{"family": "m", "repository": "o/m", "parameters": 1000, "license": "mit", "summary": "Small."}"#

    @Test func aNewerListIsUsedAndAnOlderOneIsNot() throws {
        let shipped = try ShippedCatalog()
        #expect(shipped.newest(try list(Self.entry)).map(\.family.name) == ["m"])
        #expect(shipped.newest(try list(Self.entry, issued: "2020-01-01T00:00:00Z")).count > 1)
        #expect(shipped.newest(try list("")).count > 1)
    }

    @Test(
        arguments: [
            ("family", "\"../m\""), ("family", "\"M\""), ("family", "1"), ("family", nil), ("repository", "\"o\""),
            ("repository", "\"o/m/x\""), ("repository", "\"../m\""), ("repository", "\"https://evil.example/o/m\""),
            ("repository", "\"o/m:m.gguf\""), ("repository", nil), ("parameters", "0"), ("parameters", "-1"),
            ("parameters", "1e30"), ("parameters", "\"1\""), ("parameters", nil), ("license", "\"\\u001b[31m\""),
            ("license", nil), ("summary", "\"a\\nb\""), ("summary", nil), ("kind", "\"other\""), ("tools", "true"),
            ("quantization", "\"model.gguf\""), ("activeParameters", "1001"), ("recommended", "\"yes\""),
            ("projectorBytes", "-5"), ("name", "\"\\u0007\""),
        ] as [(String, String?)])
    func aMalformedEntryIsNamed(field: String, value: String?) throws {
        var members = [
            "family": "\"m\"", "repository": "\"o/m\"", "parameters": "1000", "license": "\"mit\"",
            "summary": "\"Small.\"",
        ]
        members[field] = value
        let entry = members.map { "\"\($0.key)\": \($0.value)" }.joined(separator: ", ")
        let error = #expect(throws: CatalogError.self) { try list("{\(entry)}") }
        #expect(error?.code == .manifestInvalid && error?.context.field == "hubModels[0].\(field)")
    }

    @Test func oneFamilyIsListedOnceAndAListHasAnEnd() throws {
        #expect(throws: CatalogError.self) { try list(Self.entry + "," + Self.entry) }
        let many = (0...1000).map { Self.entry.replacing("\"m\"", with: "\"m\($0)\"") }.joined(separator: ",")
        #expect(throws: CatalogError.self) { try list(many) }
    }
}
