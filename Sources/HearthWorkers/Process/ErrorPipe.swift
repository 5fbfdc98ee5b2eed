import CProcess
import Foundation
import HearthBase

/// The standard error of a worker, of which the last bytes are kept.
///
/// Only the thread of ``WorkerWatch`` reads. The worker's side is closed by the caller that started the worker.
final class ErrorPipe: @unchecked Sendable {
    static let maximumLength = 4096

    let reading: Int32
    let writing: Int32
    // Used only by the thread that reads.
    private var last: [UInt8] = []

    /// Makes a pipe that no started program inherits.
    /// - Throws: ``FrameError/system(_:)``.
    init() throws(FrameError) {
        var descriptors: [Int32] = [-1, -1]
        let error = hearth_process_pipe(&descriptors)
        guard error == 0 else { throw .system(error) }
        (reading, writing) = (descriptors[0], descriptors[1])
        _ = fcntl(reading, F_SETFL, O_NONBLOCK)
    }

    deinit { close(reading) }

    func closeWriting() { close(writing) }

    /// Reads what has arrived.
    /// - Returns: whether more can come.
    func read() -> Bool {
        var piece = [UInt8](repeating: 0, count: 16 << 10)
        // A bounded number of pieces: a worker may write faster than this thread reads.
        for _ in 0..<64 {
            let count = Foundation.read(reading, &piece, piece.count)
            if count > 0 {
                last.append(contentsOf: piece[..<count])
                last = last.suffix(Self.maximumLength)
            } else if count == 0 {
                return false
            } else if errno != EINTR {
                return errno == EAGAIN
            }
        }
        return true
    }

    /// The last bytes as text that a terminal shows without harm. The first character may be cut.
    var text: String { Self.plain(last) }

    static func plain(_ bytes: [UInt8]) -> String {
        String(decoding: bytes, as: UTF8.self).unicodeScalars.reduce(into: "") { text, scalar in
            text.unicodeScalars.append(String(scalar).isPlain(except: "\n\t") ? scalar : "\u{FFFD}")
        }
    }
}
