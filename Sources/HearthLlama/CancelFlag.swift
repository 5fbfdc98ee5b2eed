#if Llama
    import Synchronization

    /// Set from any thread, read by the computing threads.
    final class CancelFlag: Sendable {
        private let value = Atomic<Bool>(false)

        var isSet: Bool { value.load(ordering: .relaxed) }
        func set() { value.store(true, ordering: .relaxed) }
    }
#endif
