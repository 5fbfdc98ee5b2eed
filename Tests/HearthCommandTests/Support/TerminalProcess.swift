import CTerminal
import Foundation
import HearthBase

@testable import HearthCommand

/// `hearth`, or another program, at a terminal of its own: a pseudo-terminal, whose other side the test holds.
final class TerminalProcess: Sendable {
    private struct State {
        var screen = VirtualScreen()
        var hasEnded = false
    }

    let identifier: Int32
    private let master: Int32
    private let slave: Int32
    private let state = Locked(State())
    private let (updates, source) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    private let (ending, endSource) = AsyncStream.makeStream(of: Int32.self)
    /// At zero while nobody looks at the terminal.
    private let reading = DispatchSemaphore(value: 1)
    /// Signalled when whoever reads has stopped for that.
    private let pausing = DispatchSemaphore(value: 0)
    /// The terminal's attributes before the program began.
    let attributesBefore: [UInt8]
    /// A shell starts a program in the background with SIGQUIT ignored, and so would be all that it starts.
    static let heedsQuit: Void = { _ = signal(SIGQUIT, SIG_DFL) }()

    /// Starts it in a window of that size.
    /// - Throws: ``FileError`` where the system has no pseudo-terminals.
    init(
        _ words: [String], program: Path = ChildProcess.hearth, environment: [String: String],
        size: ScreenSize = ScreenSize(columns: 100, lines: 20)
    ) throws {
        Self.heedsQuit
        (master, slave) = try Self.open()
        attributesBefore = Self.attributes(of: slave)
        Self.set(size, on: slave)
        let process = Process()
        process.executableURL = program.url
        process.arguments = words
        // At a terminal the backtracer of a Swift toolchain would ask somebody what to do next.
        process.environment = environment.merging(["TERM": "xterm", "SWIFT_BACKTRACE": "enable=no"]) { given, _ in given
        }
        .merging(ChildProcess.sanitizer) { given, _ in given }
        let handle = FileHandle(fileDescriptor: slave, closeOnDealloc: false)
        process.standardInput = handle
        process.standardOutput = handle
        process.standardError = handle
        process.terminationHandler = { [state, endSource] process in
            state.withLock { $0.hasEnded = true }
            endSource.yield(process.terminationStatus + (process.terminationReason == .uncaughtSignal ? 128 : 0))
            endSource.finish()
        }
        try ChildProcess.starting.withLock { started in
            // A thread of the pool may hold signals back, and what it starts would do so too.
            var (none, before) = (sigset_t(), sigset_t())
            sigemptyset(&none)
            pthread_sigmask(SIG_SETMASK, &none, &before)
            defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
            try process.run()
            started += 1
        }
        identifier = process.processIdentifier
        let (master, state, source, reading, pausing) = (dup(master), state, source, reading, pausing)
        Thread.detachNewThread {
            var buffer = [UInt8](repeating: 0, count: 65536)
            var whole: [UInt8] = []
            while true {
                if reading.wait(timeout: .now()) == .timedOut {
                    pausing.signal()
                    reading.wait()
                }
                reading.signal()
                let count = read(master, &buffer, buffer.count)
                if count <= 0 { break }
                whole += buffer[..<count]
                // A character may be cut in two.
                guard let text = String(validating: whole, as: UTF8.self) else { continue }
                whole = []
                state.withLock { $0.screen.write(text) }
                source.yield()
            }
            close(master)
            source.finish()
        }
    }

    deinit {
        // What a test that failed has left waiting would wait for ever.
        if !state.withLock({ $0.hasEnded }) { kill(identifier, SIGKILL) }
        close(slave)
        close(master)
    }

    var screen: VirtualScreen { state.withLock { $0.screen } }
    /// The terminal's attributes now.
    var attributes: [UInt8] { Self.attributes(of: slave) }
    /// Whether keys reach the program as they are pressed.
    var isRaw: Bool {
        var attributes = termios()
        return tcgetattr(slave, &attributes) == 0 && attributes.c_lflag & tcflag_t(ICANON) == 0
    }

    func send(_ signal: Int32) { kill(identifier, signal) }

    /// Whether it has ended.
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Reads nothing more, and fills what the terminal holds for its reader: the program's next write waits.
    func block() async throws {
        try await blocking { [self] in
            reading.wait()
            // Wakes the one who waits for bytes.
            write(" ")
            pausing.wait()
            let filler = Self.again(slave)
            defer { close(filler) }
            let blank = [UInt8](repeating: UInt8(ascii: " "), count: 4096)
            // Who writes at the same time is told the same as who finds no room, and Linux moves what it has on to the reader's side
            // by and by, as long as there is room: 4095 bytes.
            var (refusals, waiting) = (0, Int32(0))
            while refusals < 1000 || (waiting < 4095 && refusals < 1_000_000) {
                let count = blank.withUnsafeBytes { Foundation.write(filler, $0.baseAddress, $0.count) }
                guard count >= 0 || errno == EAGAIN || errno == EINTR else {
                    throw FileError(errno: errno, doing: "fill", path: Path("the terminal"))
                }
                refusals = count > 0 ? 0 : refusals + 1
                guard count < 0 else { continue }
                _ = ioctl(master, UInt(FIONREAD), &waiting)
                sched_yield()
            }
        }
    }

    /// Reads on.
    func unblock() { reading.signal() }

    /// Returns once all that was written is on the screen: what comes after it is.
    func drained() async {
        write("\r\nall of it")
        await showsLine { $0.contains("all of it") }
    }

    /// Writes as the program does.
    private func write(_ text: String) {
        _ = Array(text.utf8).withUnsafeBytes { Foundation.write(slave, $0.baseAddress, $0.count) }
    }

    /// A terminal once more, for writing that waits for nobody.
    private static func again(_ descriptor: Int32) -> Int32 {
        var name = [CChar](repeating: 0, count: 256)
        guard ttyname_r(descriptor, &name, name.count) == 0 else { return -1 }
        return Foundation.open(name, O_WRONLY | O_NOCTTY | O_NONBLOCK)
    }

    /// Returns once the program has been stopped.
    func stopped() async throws {
        let identifier = identifier
        let result = await blocking {
            var information = siginfo_t()
            var result: Int32
            repeat {
                result = waitid(P_PID, id_t(identifier), &information, WSTOPPED)
            } while result != 0 && errno == EINTR
            return result
        }
        guard result == 0 else { throw FileError(errno: errno, doing: "wait for", path: Path("the program")) }
    }

    /// Gives the terminal the attributes it had before, as a shell does that takes it back.
    func restoreAttributes() throws {
        var attributes = termios()
        withUnsafeMutableBytes(of: &attributes) { $0.copyBytes(from: attributesBefore) }
        guard tcsetattr(slave, TCSANOW, &attributes) == 0 else {
            throw FileError(errno: errno, doing: "set the mode of", path: Path("the terminal"))
        }
    }

    func type(_ text: String) { type(Array(text.utf8)) }

    func type(_ bytes: [UInt8]) { _ = bytes.withUnsafeBytes { Foundation.write(master, $0.baseAddress, $0.count) } }

    /// Gives the window another size, as somebody does who pulls at its corner.
    func resize(_ size: ScreenSize) {
        Self.set(size, on: slave)
        // The kernel tells those whose controlling terminal it is; this process has none.
        send(SIGWINCH)
    }

    /// Returns once the screen is as wanted.
    func shows(_ isIt: (VirtualScreen) -> Bool) async {
        if isIt(screen) { return }
        for await _ in updates where isIt(screen) { return }
    }

    /// Returns once a line is as wanted.
    func showsLine(_ isIt: (String) -> Bool) async { await shows { $0.text.contains(where: isIt) } }

    /// The exit status, once it has ended.
    func status() async -> Int32 {
        var status: Int32 = -1
        for await value in ending { status = value }
        return status
    }

    /// Both sides of a new pseudo-terminal.
    private static func open() throws -> (master: Int32, slave: Int32) {
        let master = Foundation.open("/dev/ptmx", O_RDWR | O_NOCTTY)
        #if canImport(Darwin)
        let slave =
            grantpt(master) == 0 && unlockpt(master) == 0
            ? ptsname(master).map { Foundation.open($0, O_RDWR | O_NOCTTY) } ?? -1 : -1
        #else
        // Glibc's module has no unlockpt and no ptsname; these are the requests they make.
        let (lock, numberOf): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
        var (isLocked, number): (Int32, UInt32) = (0, 0)
        let slave =
            ioctl(master, lock, &isLocked) == 0 && ioctl(master, numberOf, &number) == 0
            ? Foundation.open("/dev/pts/\(number)", O_RDWR | O_NOCTTY) : -1
        #endif
        guard master >= 0, slave >= 0 else {
            throw FileError(errno: errno, doing: "open", path: Path("/dev/ptmx"))
        }
        return (master, slave)
    }

    private static func set(_ size: ScreenSize, on descriptor: Int32) {
        var window = winsize(
            ws_row: UInt16(size.lines), ws_col: UInt16(size.columns), ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(descriptor, UInt(TIOCSWINSZ), &window)
    }

    private static func attributes(of descriptor: Int32) -> [UInt8] {
        var attributes = termios()
        guard tcgetattr(descriptor, &attributes) == 0 else { return [] }
        return withUnsafeBytes(of: attributes) { Array($0) }
    }
}
