import Foundation

/// The name of the running thread in debuggers; on Linux its first 15 bytes.
///
/// Not `Thread.current.name` on Linux: setting it has no effect before `start()` has returned to the caller that
/// started the thread, which can be after the thread's own first instructions. The thread would keep the name of its
/// parent thread.
package enum ThreadName {
    package static var current: String {
        get {
            #if os(Linux)
            // Without /proc there is no name to read, as in the setter.
            return SystemFile.contents(file)?.trimmingCharacters(in: .newlines) ?? ""
            #else
            return Thread.current.name ?? ""
            #endif
        }
        set {
            #if os(Linux)
            // On a system without /proc the thread has no name of its own, which has no other effect.
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
