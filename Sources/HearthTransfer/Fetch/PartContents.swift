import HearthBase

/// The bytes in a part file when it is opened: named by its journal, adopted without one, or copied from seeds.
struct PartContents {
    var journal: TransferJournal
    /// The bytes that the journal names or, if that is damaged, the adopted ones.
    let recorded: RangeSet<UInt64>
    /// The bytes of ``recorded`` and those copied from seeds.
    package let held: RangeSet<UInt64>

    /// Reads a part file's journal, and copies missing chunks from the request's seeds. Blocks.
    /// - Throws: `FileError`; `CancellationError` once the flag is set.
    init(
        of request: TransferRequest, _ file: OpenFile, journal path: Path, fileSystem: any FileSystem, flag: StopFlag
    ) throws {
        (journal, recorded) = try Self.takeOver(request, file, path, fileSystem)
        guard let index = request.index, !request.seeds.isEmpty else {
            held = recorded
            return
        }
        do {
            let copied = try SeedCopier(fileSystem: fileSystem, flag: flag)
                .copy(request.seeds, into: file, of: index, besides: recorded)
            held = recorded.union(copied)
        } catch {
            // A copy that failed half-way would still occupy the disk.
            try fileSystem.truncate(file, to: recorded.ranges.last?.upperBound ?? 0)
            throw error
        }
    }

    /// The bytes that the journal names or, if that is damaged, the written blocks of the part file.
    private static func takeOver(
        _ request: TransferRequest, _ file: OpenFile, _ path: Path, _ fileSystem: any FileSystem
    ) throws -> (TransferJournal, RangeSet<UInt64>) {
        let empty = TransferJournal(
            digest: request.digest, size: request.size.exact, location: request.locations.first?.withoutQuery ?? "")
        let size = try fileSystem.status(of: file).size
        switch try TransferJournal.find(path, in: fileSystem) {
        case .sound(let found):
            let fits = found.describes(request) && found.held.ranges.last?.upperBound ?? 0 <= size
            return fits ? (found, found.held) : (empty, RangeSet())
        case .damaged:
            // Only a digest, of each chunk or of the whole, can tell whether these bytes are right.
            guard request.digest != nil, size > 0, size <= request.size.limit else { return (empty, RangeSet()) }
            var adopted = empty
            adopted.isAdopted = true
            Log.write(
                .warning, "\(request.label): no journal; the bytes that are there are checked")
            let ranges = try fileSystem.dataRanges(of: file).compactMap { wholeBlocks(of: $0, in: size) }
            return (adopted, RangeSet(ranges))
        case .absent:
            return (empty, RangeSet())
        }
    }

    /// Cuts off the blocks at the ends of a written range, but not at the file's own ends. After a broken connection,
    /// the file system reports a partly written block as written. One wrong byte would cost a file without an index
    /// all the others.
    static func wholeBlocks(of range: Range<UInt64>, in size: UInt64) -> Range<UInt64>? {
        let start = range.lowerBound == 0 ? 0 : range.lowerBound + blockSize
        let end = range.upperBound >= size ? size : range.upperBound - min(blockSize, range.upperBound)
        return start < end ? start..<end : nil
    }

    private static let blockSize = UInt64(OpenFile.uncachedAlignment)
}
