import HearthBase

#if canImport(CIcal)
import CIcal
#endif

/// The one thread that calls libical, whose tables of zones and errors belong to the process.
///
/// ```swift
/// nonisolated var unownedExecutor: UnownedSerialExecutor { CalendarThread.executor.asUnownedSerialExecutor() }
/// ```
package enum CalendarThread {
    package static let executor: ThreadExecutor = {
        #if canImport(CIcal)
        hearth_ical_set_up()
        #endif
        return ThreadExecutor(name: "hearth.calendar")
    }()
}
