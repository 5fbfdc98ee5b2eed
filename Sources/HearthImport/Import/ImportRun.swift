import Foundation
import HearthBase

/// The conversion of the slabs of one import on several threads.
struct ImportRun: Sendable {
    let plan: PlannedFile
    let slabs: [ImportSlab]
    let file: OpenFile
    let target: Path
    let flag: StopFlag
    let report: @Sendable (Double) -> Void
    let state: Locked<ImportProgress>
    let key: String

    /// Converts all slabs. Blocks.
    /// - Throws: the first error of a thread.
    func convert(threads: Int) throws -> ConversionLosses {
        let group = DispatchGroup()
        for _ in 0..<max(0, threads - 1) {
            group.enter()
            let thread = Thread {
                ThreadName.current = "hearth.import"
                work()
                group.leave()
            }
            thread.start()
        }
        work()
        group.wait()
        return try state.withLock { state in
            if let failure = state.failure { throw failure }
            return state.losses
        }
    }

    private func work() {
        do {
            let buffers = SlabBuffers(slabs)
            while let index = state.withLock({ $0.take() }) {
                try flag.check()
                let losses = try convert(slabs[index], buffers)
                let isDue = state.withLock { $0.finish(index, bytes: slabs[index].outputBytes, losses) }
                if isDue { try checkpoint() }
                report(Double(state.withLock { $0.writtenBytes }) / Double(max(1, plan.layout.fileSize)))
            }
        } catch {
            state.withLock { $0.fail(error) }
        }
    }

    private func convert(_ slab: ImportSlab, _ buffers: SlabBuffers) throws -> ConversionLosses {
        let item = plan.items[slab.item]
        let rows = buffers.rows(of: slab)
        try read(item.weights, into: rows.weights, slab)
        if let scales = item.scales { try read(scales, into: rows.scales, slab) }
        if let biases = item.biases { try read(biases, into: rows.biases, slab) }
        guard
            let losses = item.conversion.run(rows: slab.rows, columns: item.columns, head: item.head, rows)
        else {
            throw ImportError.damaged(
                "a number is not finite or too large", file: name(item.weights), field: item.weights.name)
        }
        let start = plan.layout.offsets[plan.factors.count + slab.item]
        // Every row of a tensor has the same number of bytes.
        let offset = UInt64(slab.firstRow) * UInt64(slab.outputBytes / slab.rows)
        try plan.fileSystem.write(file, UnsafeRawBufferPointer(rows.output), at: start + offset)
        return losses
    }

    private func read(
        _ place: PlannedTensor.Place, into buffer: UnsafeMutableRawBufferPointer, _ slab: ImportSlab
    ) throws {
        let offset = UInt64(slab.firstRow) * UInt64(buffer.count / slab.rows)
        let count = try plan.fileSystem.read(plan.shards[place.shard], into: buffer, at: place.offset + offset)
        guard count == buffer.count else {
            throw ImportError.damaged("it became shorter while it was read", file: name(place), field: place.name)
        }
    }

    private func name(_ place: PlannedTensor.Place) -> String { plan.shards[place.shard].path.lastComponent }

    /// Brings the finished slabs to the disk, then records them.
    private func checkpoint() throws {
        defer { state.withLock { $0.endCheckpoint() } }
        let journal = state.withLock { ImportJournal(key: key, slabs: $0.finished, losses: $0.losses) }
        try plan.fileSystem.synchronize(file)
        try plan.fileSystem.replaceContents(of: ImportJournal.place(of: target), with: try journal.data())
    }
}

/// The buffers of one thread, as large as the largest slab needs.
private final class SlabBuffers {
    private let weights: UnsafeMutableRawBufferPointer
    private let scales: UnsafeMutableRawBufferPointer
    private let biases: UnsafeMutableRawBufferPointer
    private let output: UnsafeMutableRawBufferPointer

    init(_ slabs: [ImportSlab]) {
        func buffer(_ size: KeyPath<ImportSlab, Int>) -> UnsafeMutableRawBufferPointer {
            .allocate(byteCount: slabs.map { $0[keyPath: size] }.max() ?? 0, alignment: 64)
        }
        weights = buffer(\.weightBytes)
        scales = buffer(\.scaleBytes)
        biases = buffer(\.scaleBytes)
        output = buffer(\.outputBytes)
    }

    deinit {
        for buffer in [weights, scales, biases, output] { buffer.deallocate() }
    }

    /// The beginnings of the buffers for a slab.
    func rows(of slab: ImportSlab) -> RowBuffers {
        func part(_ buffer: UnsafeMutableRawBufferPointer, _ count: Int) -> UnsafeMutableRawBufferPointer {
            UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
        }
        return RowBuffers(
            weights: part(weights, slab.weightBytes), scales: part(scales, slab.scaleBytes),
            biases: part(biases, slab.scaleBytes), output: part(output, slab.outputBytes))
    }
}
