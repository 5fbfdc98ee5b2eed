#if os(Linux)
import HearthBase
import Testing

@Suite struct SystemFileTests {
    /// This process has many mappings, of more than twenty lines each: far more than a page of memory holds.
    @Test func aTextOfManyPagesIsReadToItsEnd() throws {
        let text = try #require(SystemFile.contents("/proc/self/smaps"))
        #expect(text.utf8.count > 1 << 16)
        #expect(text.split(separator: "\n").last?.hasPrefix("VmFlags:") == true)
    }

    @Test func aShortTextIsRead() {
        #expect(SystemFile.contents("/proc/self/comm")?.hasSuffix("\n") == true)
    }

    @Test(arguments: ["/proc/self/nothing", "/proc/self", "", "/proc/self/mem"])
    func whatCannotBeReadSaysNothing(path: String) {
        #expect(SystemFile.contents(path) == nil)
    }
}
#endif
