import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthWorkers

/// Bytes of a stream, as hostile workers could send them.
private func header(_ length: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) } }

/// Bytes that differ at every place of 251; copied in pieces, because debug builds are slow with single bytes.
private func body(_ length: Int, seed: Int = 0) -> [UInt8] {
    let pattern = (0..<251 * 16).map { UInt8(($0 + seed) % 251) }
    var bytes: [UInt8] = []
    while bytes.count < length { bytes += pattern.prefix(length - bytes.count) }
    return bytes
}

struct FrameReaderTests {
    /// Feeds a reader in pieces of at most `size` bytes, and ends the stream.
    private func frames(_ bytes: [UInt8], size: Int, maximum: Int = 1 << 20) throws -> [[UInt8]] {
        var reader = FrameReader(maximumLength: maximum)
        var rest = bytes[...]
        var bodies: [[UInt8]] = []
        while true {
            while let body = try reader.next() { bodies.append(body) }
            let count = try reader.fill { free in
                let piece = rest.prefix(min(size, free.count))
                free.copyBytes(from: piece)
                rest = rest.dropFirst(piece.count)
                return piece.count
            }
            if count == 0 { break }
        }
        try reader.finish()
        return bodies
    }

    @Test(arguments: [1, 3, 4, 5, 1000, 1 << 20]) func findsTheSameFramesInEveryPiece(size: Int) throws {
        let large = size < 1000 ? [9000, 3] : [70_000, 3, 65_532, 65_536, 1, 1 << 20]
        let lengths = [1, 2] + large + [5]
        let bodies = lengths.enumerated().map { body($1, seed: $0) }
        let stream = bodies.flatMap { header(UInt32($0.count)) + $0 }
        #expect(try frames(stream, size: size) == bodies)
    }

    @Test(arguments: [
        header(0), header(0x10_0001), header(.max), header(0x8000_0000), header(1), header(3) + [1, 2], [1], [0, 0, 0],
        header(1) + [7] + header(0), header(1) + [7, 1],
    ])
    func refusesMalformedStreams(stream: [UInt8]) {
        for size in [1, 2, 4, 100] {
            #expect(throws: FrameError.malformed) { try frames(stream, size: size) }
        }
    }

    @Test func staysMalformed() throws {
        var reader = FrameReader(maximumLength: 16)
        let stream = header(17) + header(1) + [1]
        _ = try reader.fill { free in
            free.copyBytes(from: stream)
            return stream.count
        }
        for _ in 0..<3 { #expect(throws: FrameError.malformed) { try reader.next() } }
        #expect(throws: FrameError.malformed) { try reader.fill { _ in 0 } }
        #expect(throws: FrameError.malformed) { try reader.finish() }
    }
}

@Suite(.timeLimit(.minutes(2))) struct FrameChannelTests {
    /// Sends raw bytes to a channel's other side, then closes it.
    private func receive(_ bytes: [UInt8]) throws -> [[UInt8]] {
        let (near, far) = try FrameChannel.pair()
        #expect(write(far.descriptor, bytes, bytes.count) == bytes.count)
        far.shutdown()
        var bodies: [[UInt8]] = []
        while let body = try near.receive() { bodies.append(body) }
        return bodies
    }

    @Test func carriesFramesInBothDirections() async throws {
        let (near, far) = try FrameChannel.pair()
        let echo = Thread {
            while let body = try? far.receive() { try? far.send(body) }
            far.shutdown()
        }
        echo.start()
        try await blocking {
            for length in [1, 4, 65_532, 65_533, 200_000, FrameChannel.maximumLength] {
                try near.send(body(length))
                #expect(try near.receive() == body(length))
            }
            // Fewer than the socket holds: the other side answers before this one reads.
            for _ in 0..<100 { try near.send([9]) }
            for _ in 0..<100 { #expect(try near.receive() == [9]) }
            near.shutdown()
            #expect(try near.receive() == nil)
        }
    }

    @Test func refusesBodiesThatAreNoFrame() throws {
        let (near, far) = try FrameChannel.pair()
        #expect(throws: FrameError.malformed) { try near.send([]) }
        #expect(throws: FrameError.malformed) { try near.send(body(FrameChannel.maximumLength + 1)) }
        try near.send([5])
        #expect(try far.receive() == [5])
    }

    @Test func tellsAnEndFromAnEndWithinAFrame() throws {
        #expect(try receive([]) == [])
        #expect(try receive(header(2) + [1, 2]) == [[1, 2]])
        #expect(throws: FrameError.malformed) { try receive(header(2) + [1]) }
        #expect(throws: FrameError.malformed) { try receive([2, 0]) }
        #expect(throws: FrameError.malformed) { try receive(header(0)) }
    }

    /// A peer that ends before it has read everything resets the connection.
    @Test func treatsAResetAsAnEnd() throws {
        let descriptor = try FrameChannel.descriptorPair()
        let peer = FrameChannel(descriptor: descriptor.0)
        try peer.send([1])
        close(descriptor.1)
        #expect(try peer.receive() == nil)
        #expect(throws: FrameError.closed) { try peer.send([2]) }
    }

    @Test func sendsToNobodyWithoutASignal() throws {
        let (near, far) = try FrameChannel.pair()
        far.shutdown()
        #expect(throws: FrameError.closed) { try near.send([1]) }
        near.shutdown()
        #expect(throws: FrameError.closed) { try far.send([1]) }
    }

    @Test func waitsForRoomOnASocketThatDoesNotBlock() async throws {
        let (near, far) = try FrameChannel.pair()
        for channel in [near, far] { _ = fcntl(channel.descriptor, F_SETFL, O_NONBLOCK) }
        let sender = Thread {
            for index in 0..<8 { try? far.send(body(FrameChannel.maximumLength, seed: index)) }
            far.shutdown()
        }
        sender.start()
        try await blocking {
            for index in 0..<8 {
                let received = try near.receive()
                #expect(received == body(FrameChannel.maximumLength, seed: index))
            }
            let end = try near.receive()
            #expect(end == nil)
        }
    }

    @Test func shutdownWakesABlockedSender() async throws {
        let (near, far) = try FrameChannel.pair()
        let filled = Locked(false)
        await blocking {
            let stop = Thread {
                // The far side never reads: the sender is blocked as soon as the socket is full.
                var watched = pollfd(fd: near.descriptor, events: Int16(POLLOUT), revents: 0)
                while poll(&watched, 1, 0) == 1 { sched_yield() }
                filled.withLock { $0 = true }
                near.shutdown()
            }
            stop.start()
            #expect(throws: FrameError.closed) {
                while true { try near.send(body(FrameChannel.maximumLength)) }
            }
        }
        #expect(filled.withLock { $0 })
        withExtendedLifetime(far) {}
    }

    @Test func keepsFramesOfManySendersWhole() async throws {
        let (near, far) = try FrameChannel.pair()
        for sender in 0..<4 {
            Thread { for _ in 0..<50 { try? near.send([UInt8](repeating: UInt8(sender), count: 50_000)) } }.start()
        }
        try await blocking {
            for _ in 0..<200 {
                let body = try far.receive() ?? []
                #expect(body == [UInt8](repeating: body.first ?? 0, count: 50_000))
            }
        }
    }

    /// Descriptors that a worker sends along with a frame do not reach this process.
    @Test func receivesNoDescriptors() throws {
        let (near, far) = try FrameChannel.pair()
        let pipe = Pipe()
        let frame = header(1) + [3]
        let sent = frame.withUnsafeBytes { bytes -> Int in
            var vector = iovec(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
            var control = [UInt64](repeating: 0, count: 3)
            return control.withUnsafeMutableBytes { space -> Int in
                // The header of SCM_RIGHTS with one descriptor.
                space.storeBytes(of: 20, as: UInt64.self)
                space.storeBytes(of: SOL_SOCKET, toByteOffset: 8, as: Int32.self)
                space.storeBytes(of: 1, toByteOffset: 12, as: Int32.self)
                space.storeBytes(
                    of: pipe.fileHandleForWriting.fileDescriptor, toByteOffset: 16, as: Int32.self)
                return withUnsafeMutablePointer(to: &vector) { vector in
                    var message = msghdr()
                    message.msg_iov = vector
                    message.msg_iovlen = 1
                    message.msg_control = space.baseAddress
                    message.msg_controllen = 24
                    return sendmsg(far.descriptor, &message, 0)
                }
            }
        }
        #expect(sent == frame.count)
        #expect(try near.receive() == [3])
        // The pipe ends only if nobody holds its other end.
        try pipe.fileHandleForWriting.close()
        let rest = try pipe.fileHandleForReading.readToEnd()
        #expect(rest?.isEmpty ?? true)
    }
}
