#if Llama
import HearthInference

/// The tokens whose state a computer holds, and the logits of the last of them. One thread uses it.
final class HeldTokens {
    private let computer: any TokenComputer
    /// The held tokens, in order.
    private(set) var ledger: [TokenID] = []
    private let logitsBuffer: UnsafeMutableBufferPointer<Float>

    init(_ computer: any TokenComputer) {
        self.computer = computer
        logitsBuffer = .allocate(capacity: max(1, computer.vocabularySize))
        logitsBuffer.initialize(repeating: 0)
    }

    deinit { logitsBuffer.deallocate() }

    var vocabularySize: Int { computer.vocabularySize }

    /// The logits after the last computed tokens, if they were wanted.
    var logits: UnsafeMutablePointer<Float> {
        // Allocated with at least one number.
        logitsBuffer.baseAddress.unsafelyUnwrapped
    }

    func truncate(to count: Int) {
        computer.truncate(to: count)
        ledger.removeSubrange(min(max(0, count), ledger.count)...)
    }

    /// Computes tokens after the held ones.
    /// - Returns: `false` after a stop, which holds what was held before.
    /// - Throws: errors of the computer; then nothing is held.
    func compute(_ tokens: ArraySlice<TokenID>, wantsLogits: Bool, isStopped: () -> Bool) throws -> Bool {
        do {
            guard try computer.compute(tokens, logits: wantsLogits ? logits : nil, isStopped: isStopped) else {
                return false
            }
        } catch {
            truncate(to: 0)
            throw error
        }
        ledger += tokens
        return true
    }
}
#endif
