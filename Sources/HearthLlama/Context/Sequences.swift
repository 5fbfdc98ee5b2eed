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

    /// Takes ownership of a context whose sequences are empty.
    init(_ context: consuming ModelContext) {
        ledgers = Array(repeating: [], count: context.sequences)
        self.context = context
    }

    /// The tokens whose state a sequence holds, in order.
    func ledger(_ sequence: Int) -> [llama_token] { ledgers[sequence] }

    /// Records tokens that were computed at the end of a sequence.
    func didCompute(_ tokens: some Sequence<llama_token>, in sequence: Int) {
        ledgers[sequence].append(contentsOf: tokens)
    }

    /// Forgets the tokens of a sequence.
    func clear(_ sequence: Int) {
        context.clear(sequence)
        ledgers[sequence].removeAll(keepingCapacity: true)
    }

    /// Keeps the state of the first `count` tokens of a sequence. A model that cannot forget a part forgets the
    /// whole sequence.
    func truncate(_ sequence: Int, to count: Int) {
        guard context.truncate(sequence, to: count) else { return clear(sequence) }
        ledgers[sequence].removeSubrange(min(count, ledgers[sequence].count)...)
    }

    /// Replaces the tokens of a sequence by the first `count` tokens of another. It stays empty if llama.cpp refuses the
    /// other's state.
    func copy(_ source: Int, to target: Int, count: Int) {
        clear(target)
        guard context.hasOwnCells else {
            context.copy(source, to: target, count: count)
            ledgers[target] = Array(ledgers[source].prefix(count))
            return
        }
        // llama.cpp would copy the cells only with the next batch.
        guard let state = state(of: source, limit: .max), restore(state.tokens, state.bytes, in: target) else {
            return
        }
        truncate(target, to: count)
    }

    /// The state of a sequence (`llama_state_seq_get_data`); `nil` if the sequence is empty or its state is larger than `limit`.
    func state(of sequence: Int, limit: UInt64) -> (tokens: [llama_token], bytes: Data)? {
        let id = llama_seq_id(sequence)
        let size = llama_state_seq_get_size(context.raw, id)
        guard size > 0, size <= limit, !ledgers[sequence].isEmpty else { return nil }
        var bytes = Data(count: size)
        let count = bytes.withUnsafeMutableBytes { buffer in
            llama_state_seq_get_data(
                context.raw, buffer.bindMemory(to: UInt8.self).baseAddress, buffer.count, id)
        }
        return count == 0 ? nil : (ledgers[sequence], bytes.prefix(count))
    }

    /// Replaces the tokens of a sequence by a saved state (`llama_state_seq_set_data`).
    /// - Returns: `false` if llama.cpp refuses it; the sequence is empty then.
    func restore(_ tokens: [llama_token], _ bytes: Data, in sequence: Int) -> Bool {
        clear(sequence)
        guard tokens.count < context.length else { return false }
        let read = bytes.withUnsafeBytes { buffer in
            llama_state_seq_set_data(
                context.raw, buffer.bindMemory(to: UInt8.self).baseAddress, buffer.count, llama_seq_id(sequence))
        }
        guard read > 0, context.holds(tokens.count, in: sequence) else {
            clear(sequence)
            return false
        }
        ledgers[sequence] = tokens
        return true
    }
}
#endif
