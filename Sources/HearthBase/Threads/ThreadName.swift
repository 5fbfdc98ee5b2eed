import Foundation

/// The name of the running thread, as debuggers show it; on Linux its first 15 bytes.
///
/// Not `Thread.current.name` on Linux: setting that does nothing before `start()` has returned to the caller that started the
/// thread, which may well be after the thread's own first instructions. It would keep the name of the thread it came from.
package enum ThreadName {
    package static var current: String {
        get {
            #if os(Linux)
                // As in the setter: without /proc there is no name to tell.
                return SystemFile.contents(file)?.trimmingCharacters(in: .newlines) ?? ""
            #else
                return Thread.current.name ?? ""
            #endif
        }
        set {
            #if os(Linux)
                // A system without /proc leaves the thread without a name of its own, which breaks nothing.
                let descriptor = open(file, O_WRONLY | O_CLOEXEC)
                guard descriptor >= 0 else { return }
                let name = Array(newValue.utf8)
                _ = write(descriptor, name, name.count)
                close(descriptor)
            #else
                Thread.current.name = newValue
            #endif
        }
    }

    private static let file = "/proc/thread-self/comm"
}
