import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthStore

@Suite struct FetchableFoldersTests {
    /// Notes the folders that are marked.
    private final class NotingDisk: ForwardingFileSystem {
        let base: any FileSystem = LocalFileSystem()
        let failure: FileError?
        let marked = Locked<[Path]>([])

        init(failing failure: FileError? = nil) { self.failure = failure }

        func markFetchable(_ folder: Path) throws {
            marked.withLock { $0.append(folder) }
            if let failure { throw failure }
        }
    }

    @Test func theFoldersOfModelsAndTransfersAreMarkedAtEachStart() async throws {
        let disk = NotingDisk()
        let fixture = try StoreFixture(fileSystem: disk)
        try await fixture.store.prepare()
        let folders = [fixture.layout.models, fixture.layout.transfers]
        #expect(disk.marked.withLock { $0 } == folders)
        try await fixture.store.prepare()
        #expect(disk.marked.withLock { $0.count } == 2)
        try await fixture.anotherStore().prepare()
        #expect(disk.marked.withLock { $0 } == folders + folders)
    }

    @Test func aStoreWorksWithoutTheMark() async throws {
        let disk = NotingDisk(failing: FileError(errno: EPERM, doing: "mark", path: Path("/models")))
        let fixture = try StoreFixture(fileSystem: disk)
        let identity = try StoreFixture.identity()
        try await fixture.store.prepare()
        try await fixture.install(identity)
        #expect(try await fixture.store.installed(identity)?.identity == identity)
    }
}
