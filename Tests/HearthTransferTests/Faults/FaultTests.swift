import HearthBase
import HearthTestSupport
import Testing

/// Every row, by theme, in the order of `docs/faults.md`.
private let allFaults: [(String, [Fault])] = [
    ("Connections", connectionFaults), ("Lengths and ranges", rangeFaults), ("Content", contentFaults),
    ("Statuses", statusFaults), ("Redirects", redirectFaults), ("Certificates", tlsFaults),
    ("Addresses that expire", renewalFaults), ("Digests of parts", indexFaults), ("Mirrors", mirrorFaults),
    ("The disk", diskFaults),
]

/// The table of faults: each row twice, with the fault and without it.
@Suite(.timeLimit(.minutes(10)))
struct FaultTests {
    @Test(arguments: FaultCase.all(connectionFaults))
    func connections(_ example: FaultCase) async throws { try await FaultRun(example).run() }

    @Test(arguments: FaultCase.all(rangeFaults))
    func lengthsAndRanges(_ example: FaultCase) async throws { try await FaultRun(example).run() }

    @Test(arguments: FaultCase.all(contentFaults))
    func content(_ example: FaultCase) async throws { try await FaultRun(example).run() }

    @Test(arguments: FaultCase.all(statusFaults))
    func statuses(_ example: FaultCase) async throws { try await FaultRun(example).run() }

    @Test(arguments: FaultCase.all(redirectFaults))
    func redirects(_ example: FaultCase) async throws { try await FaultRun(example).run() }

    @Test(.enabled(if: TLSServer.program != nil, "openssl is not installed"), arguments: FaultCase.all(tlsFaults))
    func certificates(_ example: FaultCase) async throws { try await FaultRun(example).run() }

    @Test(arguments: FaultCase.all(renewalFaults))
    func renewals(_ example: FaultCase) async throws { try await FaultRun(example).run() }

    @Test(arguments: FaultCase.all(indexFaults))
    func parts(_ example: FaultCase) async throws { try await FaultRun(example).run() }

    @Test(arguments: FaultCase.all(mirrorFaults))
    func mirrors(_ example: FaultCase) async throws { try await FaultRun(example).run() }

    @Test(arguments: FaultCase.all(diskFaults))
    func disks(_ example: FaultCase) async throws { try await FaultRun(example).run() }

    /// The table in words and the table that runs are one.
    @Test func theDocumentationListsEveryRow() throws {
        let path = Path(#filePath).parent.parent.parent.parent.appending("docs").appending("faults.md")
        let text = String(decoding: try LocalFileSystem().contents(ofFile: path, limit: 1 << 20), as: UTF8.self)
        let written = text.split(separator: "\n").filter { $0.hasPrefix("## ") || $0.hasPrefix("| ") }.map(String.init)
        let expected = allFaults.flatMap { title, faults in
            ["## \(title)", "| fault | what Hearth does | code |", "| --- | --- | --- |"]
                + faults.map { "| \($0.name) | \($0.does) | \($0.code) |" }
        }
        #expect(written == expected, "\(expected.difference(from: written))")
    }

    @Test func everyRowHasANameOfItsOwn() {
        let names = allFaults.flatMap { title, faults in faults.map { "\(title): \($0.name)" } }
        #expect(Set(names).count == names.count)
        #expect(names.count >= 40)
    }
}
