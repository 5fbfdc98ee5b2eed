import StandIns
import Testing

@testable import HearthBase

@Suite struct MemoryLimitTests {
    /// The stand-in has 3 GiB left at the first call, and half of it later.
    @Test func theLimitIsWhatWasLeftAtFirst() {
        #expect(SystemMemory.limit == 3 << 30)
        #expect(os_proc_available_memory() == 3 << 29)
        #expect(SystemMemory.limit == 3 << 30)
        #expect(SystemMemory.usable <= 3 << 30)
    }
}
