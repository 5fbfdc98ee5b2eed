import Foundation
import HearthTestSupport
import Testing

@testable import HearthBase
@testable import HearthStore

@Suite struct MarkedFoldersTests {
    @Test func backupsLeaveModelsAndTransfersOutAndTheyCanBeReadAfterTheFirstUnlock() async throws {
        let fixture = try StoreFixture()
        try await fixture.store.prepare()
        for folder in [fixture.layout.models, fixture.layout.transfers] {
            #expect(RecordedMarks.excluded.withLock { $0.contains(folder.string) })
            let protection = RecordedMarks.protected.withLock { $0[folder.string] }
            #expect(protection?.rawValue == FileProtectionType.completeUntilFirstUserAuthentication.rawValue)
        }
    }
}
