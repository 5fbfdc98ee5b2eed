import Foundation

@testable import HearthBase
@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthHTTP
@testable import HearthStore
@testable import HearthTransfer

/// What reads files is given a file, of this process's own, in the folder that `scripts/fuzz/run.sh` clears away.
private let input: OpenFile? = {
    let path = Path(FileManager.default.temporaryDirectory.path + "/hearth-fuzz-\(getpid())")
    return try? LocalFileSystem().open(path, .readWrite)
}()

private func withFile(_ data: Data, _ body: (Path) throws -> Void) {
    do {
        guard let input else { preconditionFailure("the temporary folder cannot be written to") }
        try data.withUnsafeBytes { try LocalFileSystem().write(input, $0, at: 0) }
        try LocalFileSystem().truncate(input, to: UInt64(data.count))
        try body(input.path)
    } catch {
        preconditionFailure("a file of this process's own: \(error)")
    }
}

func fuzzJournal(_ data: Data) {
    withFile(data) { path in
        guard case .sound(let journal) = try TransferJournal.find(path, in: LocalFileSystem()) else { return }
        var end: UInt64 = 0
        for extent in journal.extents {
            precondition(extent.start >= end && extent.end > extent.start, "extents that contradict each other")
            end = extent.end
        }
        precondition(end <= journal.size ?? .max, "more than the file has")
        precondition(journal.held.byteCount <= end)
        var again = journal
        again.held = journal.held
        precondition(again.held == journal.held, "a journal changed when it was read and written")
    }
}

/// An archive of the format that the first byte chooses: read to its end, nothing written.
func fuzzArchive(_ data: Data) {
    guard let first = data.first else { return }
    let formats: [ArchiveFormat] = [.zip, .tar, .tarGzip, .tarZstandard]
    let limits = ArchiveLimits(packedSize: UInt64(data.count), storage: nil)
    withFile(Data(data.dropFirst())) { path in
        let reader = ArchiveReader(
            label: "input", format: formats[Int(first) % formats.count], limits: limits, fileSystem: LocalFileSystem(),
            flag: StopFlag())
        var total: UInt64 = 0
        var names = DistinctPaths()
        _ = typed {
            try reader.read(path) { entry, contents in
                requireSafePath("\(entry.path)")
                precondition(names.insert(entry.path) == nil, "two names for one file came through")
                var count: UInt64 = 0
                try contents { count += UInt64($0.count) }
                precondition(count == entry.size, "a file of another length came through")
                total += count
            }
        }
        precondition(total <= limits.totalSize, "more than the limit came through")
    }
}

func fuzzPlan(_ data: Data) {
    guard let plan = try? TransferPlan(data: data) else { return }
    requireSafePath(plan.label)
    precondition(plan.locations.count <= 16)
    guard let written = try? plan.data(), let again = try? TransferPlan(data: written) else {
        preconditionFailure("a plan that was read cannot be written and read")
    }
    precondition(again.label == plan.label && again.digest == plan.digest && again.isPaused == plan.isPaused)
    precondition(
        again.tag == plan.tag && again.reference == plan.reference, "a plan leads elsewhere when it is read again")
}

func fuzzClaim(_ data: Data) {
    withFile(data) { path in
        guard let claim = try FoundClaim.read(path, in: LocalFileSystem())?.claim else { return }
        requireSafe("lease.after-\(claim.token)")
        _ = claim.isStale(at: Date(timeIntervalSince1970: 1_800_000_000), lifetime: .seconds(60))
        let again = try? Claim(data: claim.padded())
        precondition(again == claim, "a claim changed when it was written and read")
        guard try Claim.rewrite(path, token: claim.token, in: LocalFileSystem(), { _ in }) else {
            preconditionFailure("a claim that was read cannot be renewed")
        }
    }
}

/// The lines of a response's head, and what a transfer makes of them.
func fuzzResponse(_ data: Data) {
    var parser = ResponseHeadParser()
    for line in data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
        guard case .complete(let head) = parser.append(line) else { continue }
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        if let pause = RetryAfter.pause(status: head.status, head.headers["Retry-After"], now: now) {
            precondition(pause > .zero && pause <= RetryAfter.ceiling, "a pause of \(pause)")
        }
        guard let url = URL(string: "https://models.example/model.gguf") else { return }
        for size in [FileSize.exact(1000), .exact(0)] {
            for asked in [nil, 0..<1000, 0..<10, 100..<200, 999..<UInt64.max] as [Range<UInt64>?] {
                check(head, ResponsePolicy(label: "model.gguf", size: size, asked: asked), url)
            }
        }
        return
    }
}

private func check(_ head: ResponseHead, _ policy: ResponsePolicy, _ url: URL) {
    guard let decision = typed({ try policy.decide(status: head.status, headers: head.headers, url: url) }) else {
        return
    }
    switch decision {
    case .append(let total), .restart(let total):
        precondition(total.map { $0 <= policy.size.limit } ?? true, "more than the catalog allows")
        precondition(total == nil || policy.size.exact == nil || total == policy.size.exact, "another length")
    case .complete, .askFromStart:
        precondition(head.status == 416 && policy.asked != nil)
    }
}
