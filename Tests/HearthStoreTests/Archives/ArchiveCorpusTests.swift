import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthStore

@Suite(.timeLimit(.minutes(10))) struct ArchiveCorpusTests {
    /// Every hostile archive is refused for what is wrong with it, and leaves no trace: neither in the home nor outside.
    @Test(arguments: ArchiveLibrary.allCases)
    func hostileArchivesAreRefusedAndWriteNothing(_ library: ArchiveLibrary) async throws {
        let corpus = try ArchiveCorpus.shared.get()
        let hostile = corpus.items.filter { $0.code != nil }
        #expect(hostile.count >= 25)
        for item in hostile {
            let fixture = try StoreFixture(archives: library)
            let identity = try StoreFixture.identity()
            try await fixture.install(try StoreFixture.identity("0.9.0"), activate: true)
            let release = try StoreFixture.packed(identity, format: item.format, data: try item.data)
            let archive = try fixture.stage(archive: try item.data, of: release)
            let before = try fixture.everything()
            let outcome = await code {
                try await fixture.store.install(release, files: [], archive: archive, origin: nil)
            }
            #expect(outcome == (library.unpacks(item.format) ? item.code : "archive-damaged"), "\(item)")
            #expect(try fixture.everything() == before, "\(item)")
            #expect(try await fixture.anotherStore().installed().map(\.identity.version.name) == ["0.9.0"], "\(item)")
        }
        #expect(try LocalFileSystem().status(at: corpus.folder.path("outside"), followLinks: false) == nil)
    }

    /// Every ordinary archive is unpacked to the files that went in; those of a format that the library lacks are refused.
    @Test(arguments: ArchiveLibrary.allCases) func ordinaryArchivesAreUnpacked(_ library: ArchiveLibrary) async throws {
        let weights = SHA256Digest(hashing: Data(String(repeating: "weights", count: 1000).utf8))
        for item in try ArchiveCorpus.shared.get().items where item.code == nil {
            let fixture = try StoreFixture(archives: library)
            let release = try StoreFixture.packed(
                try StoreFixture.identity(), format: item.format, data: try item.data)
            let archive = try fixture.stage(archive: try item.data, of: release)
            guard library.unpacks(item.format) else {
                #expect(
                    await code {
                        try await fixture.store.install(release, files: [], archive: archive, origin: nil)
                    } == "archive-damaged", "\(item)")
                continue
            }
            let installed = try await fixture.store.install(release, files: [], archive: archive, origin: nil)
            #expect(installed.receipt.files.contains { $0.digest == weights && $0.size == 7000 }, "\(item)")
            #expect(installed.receipt.files.count == 3, "\(item)")
            #expect(try await fixture.store.verify(installed).isIntact, "\(item)")
        }
    }

    /// The same bytes declared as any other format: never a crash, never a trace.
    @Test(arguments: ArchiveLibrary.allCases)
    func noArchiveIsTakenForAnotherFormat(_ library: ArchiveLibrary) async throws {
        let corpus = try ArchiveCorpus.shared.get()
        let fixture = try StoreFixture(archives: library)
        try await fixture.install(try StoreFixture.identity("0.9.0"))
        for item in corpus.items where item.code == nil {
            for format in ArchiveFormat.allCases where format != item.format {
                let release = try StoreFixture.packed(try StoreFixture.identity(), format: format, data: try item.data)
                let archive = try fixture.stage(archive: try item.data, of: release)
                let before = try fixture.everything()
                let outcome = await code {
                    try await fixture.store.install(release, files: [], archive: archive, origin: nil)
                }
                #expect(outcome == "archive-damaged", "\(item) as \(format)")
                #expect(try fixture.everything() == before)
            }
        }
    }

    /// Cut anywhere, or with any byte changed, it is refused, or what comes out is what went in.
    @Test(arguments: ["good.zip", "good.tar", "good.tar.gz", "good.tar.zst"], ArchiveLibrary.allCases)
    func aCutOrChangedArchiveIsNeverHalfTaken(_ name: String, _ library: ArchiveLibrary) async throws {
        let item = try ArchiveCorpus.item(name)
        let whole = try item.data
        let fixture = try StoreFixture(archives: library)
        try await fixture.install(try StoreFixture.identity("0.9.0"))
        let identity = try StoreFixture.identity()
        for place in stride(from: 0, to: whole.count, by: max(1, whole.count / (TestExtent.isFull ? 60 : 5))) {
            var changed = whole
            changed[place] ^= 0x41
            for data in [whole.prefix(place), changed] {
                let release = try StoreFixture.packed(identity, format: item.format, data: Data(data))
                let archive = try fixture.stage(archive: Data(data), of: release)
                let before = try fixture.everything()
                do {
                    let installed = try await fixture.store.install(release, files: [], archive: archive, origin: nil)
                    // A tar file may lose of the zeros at its end what it pleases, and gzip has a date nobody reads.
                    #expect(installed.receipt.files.count == 3, "at \(place)")
                    #expect(try await fixture.store.verify(installed).isIntact)
                    try await fixture.store.remove(identity.family, version: identity.version, variant: nil)
                } catch let error as StoreError where error.refusesArchive {
                    #expect(try fixture.everything() == before, "at \(place)")
                }
            }
        }
    }
}

extension ArchiveLibrary {
    /// Whether the library unpacks a format of the corpus.
    fileprivate func unpacks(_ format: ArchiveFormat) -> Bool { self != .zlib || format != .tarZstandard }
}
