import CProcess
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
            var name = [CChar](repeating: 0, count: Int(HEARTH_THREAD_NAME_LIMIT))
            hearth_thread_name(&name)
            return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            #else
            return Thread.current.name ?? ""
            #endif
        }
        set {
            #if os(Linux)
            hearth_thread_set_name(newValue)
            #else
            Thread.current.name = newValue
            #endif
        }
    }
}
