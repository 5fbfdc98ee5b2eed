#if Llama
import CLlamaShim
import Foundation
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

/// The memory that `CLlamaShim` gives ggml for its buffers.
@Suite struct BufferPagesTests {
    private static let hugePage = 2 << 20

    @Test(arguments: [1, 64 << 10, hugePage - 1, hugePage, hugePage + 1, 33 << 20])
    func hasTheRequestedSize(_ bytes: Int) throws {
        var memory: UnsafeMutableRawPointer?
        #expect(hearth_buffer_allocate(&memory, 64, bytes) == 0)
        let start = try #require(memory)
        defer { free(start) }
        #if os(Linux)
        let alignment = bytes < Self.hugePage ? 64 : Self.hugePage
        #else
        let alignment = 64
        #endif
        #expect(UInt(bitPattern: start) % UInt(alignment) == 0)
        memset(start, 7, bytes)
        #expect(start.load(fromByteOffset: bytes - 1, as: UInt8.self) == 7)
    }

    @Test func keepsACoarserAlignment() {
        var memory: UnsafeMutableRawPointer?
        #expect(hearth_buffer_allocate(&memory, 4 * Self.hugePage, Self.hugePage) == 0)
        defer { free(memory) }
        #expect(memory != nil && UInt(bitPattern: memory) % UInt(4 * Self.hugePage) == 0)
    }

    /// A size beyond the address space is refused, not rounded up to 0.
    @Test(arguments: [Int(bitPattern: UInt.max), Int(bitPattern: UInt.max) - hugePage + 1, Int.max])
    func refusesMoreThanThereIs(_ bytes: Int) {
        var memory: UnsafeMutableRawPointer?
        #expect(hearth_buffer_allocate(&memory, 64, bytes) == ENOMEM)
    }
}

extension RealModel {
    @Suite struct BufferPages {
        /// No other code in the process requests huge pages, so memory with that mark is a buffer of ggml.
        @Test(.enabled(if: FileManager.default.fileExists(atPath: "/sys/kernel/mm/transparent_hugepage/enabled")))
        func requestHugePages() async throws {
            let marked = try await blocking {
                let weights = try ModelWeights(path: TestModel.path, configuration: LlamaConfiguration()) { _ in
                    true
                }
                var reason: UnsafeMutablePointer<CChar>?
                let shape = ModelContext.Shape(length: 4096, batch: 32, chunk: 32, threads: 1)
                guard let context = ModelContext(weights, shape, reason: &reason) else { return [UInt64]() }
                defer { _ = context.length }
                return try Self.markedRegions()
            }
            // 4,096 tokens in 30 layers, each with keys and values of 192 numbers of 2 bytes.
            #expect(
                marked.contains { $0 >= 4096 * 30 * 2 * 192 * 2 },
                "\(marked): is it the archive that install-llama.sh makes?")
        }

        /// The sizes in bytes of this process's memory regions that request huge pages.
        private static func markedRegions() throws -> [UInt64] {
            var found: [UInt64] = []
            var size: UInt64 = 0
            // A read of the whole file at once would return one page, because the system reports no length.
            let file = try #require(FileHandle(forReadingAtPath: "/proc/self/smaps"))
            let text = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ")
                if words[0] == "Size:" { size = (UInt64(words[1]) ?? 0) << 10 }
                if words[0] == "VmFlags:", words.contains("hg") { found.append(size) }
            }
            return found
        }
    }
}
#endif
