import Foundation
import HearthBase
import HearthCatalog
import HearthPublishing
import HearthTestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct WrittenNameTests {
    @Test func everyNameIsAFamilyOrAClash() {
        var published: [String: [String]] = [:]
        #expect(WrittenNames.rows.count >= 200)
        for row in WrittenNames.rows {
            let name = WrittenName(row.written)
            #expect(name?.family.name == row.family, "\(row.written)")
            guard let name else { continue }
            let isClash = name.clash(among: published[name.family.name, default: []]) != nil
            #expect(isClash == row.isClash, "\(row.written)")
            if !isClash { published[name.family.name, default: []].append(name.text) }
        }
    }

    @Test func longNamesFit() throws {
        let name = try #require(WrittenName(String(repeating: "é", count: 100)))
        #expect(name.family.name == String(repeating: "e", count: 64))
        #expect(try #require(WrittenName(String(repeating: "a", count: 63) + "🙂b")).family.name.utf8.count == 63)
        #expect(WrittenName(String(repeating: "é", count: 5000)) == nil)
    }

    /// A family is the name of itself.
    @Test func everyTextMakesAFamilyOrNone() {
        var random = SeededGenerator(seed: 7)
        let ranges: [ClosedRange<UInt32>] = [
            0x20...0x7E, 0xA0...0x24F, 0x370...0x5FF, 0x900...0xDFF, 0x3040...0x30FF, 0x4E00...0x4FFF,
            0x1F300...0x1F6FF,
        ]
        for _ in 0..<2000 {
            let scalars = (0..<Int.random(in: 1...20, using: &random)).compactMap { _ in
                ranges.randomElement(using: &random).flatMap {
                    Unicode.Scalar(UInt32.random(in: $0, using: &random))
                }
            }
            let text = String(String.UnicodeScalarView(scalars))
            guard let name = WrittenName(text) else { continue }
            #expect(WrittenName(name.family.name)?.family == name.family, "\(text)")
            #expect(name.clash(among: [text]) == nil, "\(text)")
        }
    }

    @Test func theCatalogKeepsTheWrittenName() async throws {
        let origin = try TestOrigin()
        try await origin.publish(origin.source("Bär-v1.0.0-q4.gguf"))
        let release = try #require(try origin.catalog().releases.first)
        #expect(release.identity.description == "bar@1.0.0:q4")
        #expect(release.writtenName == "Bär")
        #expect(release.file.name.string == "bar-v1.0.0-q4.gguf")
    }

    @Test func aClashNamesBothAndTheFamilyDecides() async throws {
        let origin = try TestOrigin()
        try await origin.publish(origin.source("bär-v1.0.0.gguf"))
        let before = try origin.text()
        let other = try origin.source("bar-v1.1.0.gguf", [9])
        let error = try await #require(throws: PublishingError.self) { try await origin.publish(other) }
        #expect(error.code == .nameClash)
        #expect(error.message.contains("bär") && error.message.contains("bar"))
        #expect(try origin.text() == before)
        // The publisher's family counts, whatever the file is called.
        let joined = try await origin.publish(other) { $0.family = Family("bar") }
        #expect(joined.items.map(\.identity.description) == ["bar@1.1.0"])
        let apart = try await origin.publish(other) { $0.family = Family("bar-two") }
        #expect(apart.items.map(\.identity.description) == ["bar-two@1.1.0"])
        // The next version of the first name still goes on.
        try await origin.publish(origin.source("BÄR-v1.2.0.gguf", [4]))
    }

    @Test func twoNamesInOneRequestClashToo() async throws {
        let origin = try TestOrigin()
        let files = [try origin.source("bär-v1.0.0.gguf"), try origin.source("bar-v1.1.0.gguf", [9])]
        let error = try await #require(throws: PublishingError.self) { try await origin.publish(files[0], files[1]) }
        #expect(error.code == .nameClash)
        #expect(try LocalFileSystem().status(at: origin.manifest) == nil)
    }

    @Test func aFamilyOfTheOldSpellingGoesOn() async throws {
        let origin = try TestOrigin()
        try await origin.publish(origin.source("bär-v1.0.0.gguf")) { $0.family = Family("b-r") }
        let next = try origin.source("bär-v1.1.0.gguf", [9])
        let error = try await #require(throws: PublishingError.self) { try await origin.publish(next) }
        #expect(error.code == .nameClash && error.context.found == "b-r")
        let report = try await origin.publish(next) { $0.family = Family("b-r") }
        #expect(report.items.map(\.identity.description) == ["b-r@1.1.0"])
        #expect(report.items.first?.isCurrent == true)
        let fresh = try await origin.publish(next) { $0.family = Family("bar") }
        #expect(fresh.items.map(\.identity.description) == ["bar@1.1.0"])
    }
}
