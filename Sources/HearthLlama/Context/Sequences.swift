#if Llama
import CLlama
import Foundation
import HearthBase
import HearthInference

/// The sequences of a model's context, and the tokens whose state each of them holds.
///
/// This is the only ledger of computed tokens. Every change of the context's memory goes through this type. If the
/// ledger differed from the memory, an answer could follow the prompt of another caller. Only the thread that owns
/// the model may use it.
final class Sequences {
    let context: ModelContext
    private var ledgers: [[llama_token]]
    /// The cells of the tokens, each under a number of its own. Sequences that share a beginning share its cells.
    private var cells: [[UInt64]]
    private var lastCell: UInt64 = 0

    /// Takes ownership of a context whose sequences are empty.
    init(_ context: consuming ModelContext) {
        ledgers = Array(repeating: [], count: context.sequences)
        cells = Array(repeating: [], count: context.sequences)
        self.context = context
    }

    /// The tokens whose state a sequence holds, in order.
    func ledger(_ sequence: Int) -> [llama_token] { ledgers[sequence] }

    /// The number of cells that some sequences hold beside others, each counted once.
    func cellCount(of chosen: [Int], beside others: [Int]) -> Int {
        var counted = others
        var count = 0
        for sequence in chosen {
            // Only beginnings are shared.
            let shared = counted.map { cells[sequence].commonCount(cells[$0]) }.max() ?? 0
            count += cells[sequence].count - shared
            counted.append(sequence)
        }
        return count
    }

    /// Records tokens that were computed at the end of a sequence.
    func didCompute(_ tokens: some Sequence<llama_token>, in sequence: Int) {
        ledgers[sequence].append(contentsOf: tokens)
        addCells(sequence)
    }

    /// Numbers the cells of the tokens at the end of a sequence.
    private func addCells(_ sequence: Int) {
        while cells[sequence].count < ledgers[sequence].count {
            lastCell += 1
            cells[sequence].append(lastCell)
        }
    }

    /// Forgets the tokens of a sequence.
    func clear(_ sequence: Int) {
        context.clear(sequence)
        ledgers[sequence].removeAll(keepingCapacity: true)
        cells[sequence].removeAll(keepingCapacity: true)
    }

    /// Keeps the state of the first `count` tokens of a sequence. A model that cannot forget a part forgets the
    /// whole sequence.
    func truncate(_ sequence: Int, to count: Int) {
        guard context.truncate(sequence, to: count) else { return clear(sequence) }
        ledgers[sequence].removeSubrange(min(count, ledgers[sequence].count)...)
        cells[sequence].removeSubrange(min(count, cells[sequence].count)...)
    }

    /// Replaces the tokens of a sequence by the first `count` tokens of another. It stays empty if llama.cpp refuses the
    /// other's state.
    func copy(_ source: Int, to target: Int, count: Int) {
        clear(target)
        guard context.hasOwnCells else {
            context.copy(source, to: target, 0..<count)
            ledgers[target] = Array(ledgers[source].prefix(count))
            cells[target] = Array(cells[source].prefix(count))
            return
        }
        // llama.cpp would copy the cells only with the next batch.
        guard let state = state(of: source, limit: .max), restore(state.tokens, state.bytes, in: target) else {
            return
        }
        truncate(target, to: count)
    }

    /// The state of a sequence (`llama_state_seq_get_data`); `nil` if the sequence is empty or its state is larger than
    /// `limit`.
    /// - Parameter range: the tokens whose state is wanted, with those before them; `nil` for all. A part needs a context
    ///   with a spare sequence.
    func state(
        of sequence: Int, _ range: Range<Int>? = nil, limit: UInt64
    ) -> (tokens: [llama_token], bytes: Data)? {
        let all = 0..<ledgers[sequence].count
        let range = range ?? all
        guard !range.isEmpty, all.contains(range.lowerBound), range.upperBound <= all.upperBound else { return nil }
        guard range != all else { return state(of: sequence, limit).map { (ledgers[sequence], $0) } }
        guard let spare = context.spare else { return nil }
        context.copy(sequence, to: spare, range)
        defer { context.clear(spare) }
        return state(of: spare, limit).map { (Array(ledgers[sequence][..<range.upperBound]), $0) }
    }

    private func state(of sequence: Int, _ limit: UInt64) -> Data? {
        let id = llama_seq_id(sequence)
        let size = llama_state_seq_get_size(context.raw, id)
        guard size > 0, size <= limit else { return nil }
        var bytes = Data(count: size)
        let count = bytes.withUnsafeMutableBytes { buffer in
            llama_state_seq_get_data(
                context.raw, buffer.bindMemory(to: UInt8.self).baseAddress, buffer.count, id)
        }
        return count == 0 ? nil : bytes.prefix(count)
    }

    /// Replaces the tokens of a sequence by a saved state (`llama_state_seq_set_data`).
    /// - Parameters:
    ///   - tokens: all tokens up to the state's end.
    ///   - start: the tokens that the sequence already holds; the state has those after them.
    /// - Returns: `false` if llama.cpp refuses it; the sequence is then empty, or holds its first `start` tokens.
    func restore(_ tokens: [llama_token], _ bytes: Data, from start: Int = 0, in sequence: Int) -> Bool {
        guard start > 0 else {
            clear(sequence)
            guard tokens.count < context.length, read(bytes, into: sequence), context.holds(tokens.count, in: sequence)
            else {
                clear(sequence)
                return false
            }
            ledgers[sequence] = tokens
            addCells(sequence)
            return true
        }
        guard let spare = context.spare, start < tokens.count, tokens.count < context.length,
            ledgers[sequence].elementsEqual(tokens[..<start])
        else { return false }
        defer { context.clear(spare) }
        guard read(bytes, into: spare), context.holds(tokens.count, in: spare), context.begins(spare) >= start else {
            return false
        }
        context.copy(spare, to: sequence, start..<tokens.count)
        ledgers[sequence] = tokens
        addCells(sequence)
        return true
    }

    private func read(_ bytes: Data, into sequence: Int) -> Bool {
        let read = bytes.withUnsafeBytes { buffer in
            llama_state_seq_set_data(
                context.raw, buffer.bindMemory(to: UInt8.self).baseAddress, buffer.count, llama_seq_id(sequence))
        }
        return read > 0
    }
}

extension [UInt64] {
    /// The length of the common beginning.
    fileprivate func commonCount(_ other: [UInt64]) -> Int {
        let limit = Swift.min(count, other.count)
        var common = 0
        while common < limit, self[common] == other[common] { common += 1 }
        return common
    }
}
#endif
