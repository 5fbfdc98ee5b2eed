import CIcal
import HearthBase

/// The one thread that calls libical, whose tables of zones and errors belong to the process.
///
/// ```swift
/// nonisolated var unownedExecutor: UnownedSerialExecutor { CalendarThread.executor.asUnownedSerialExecutor() }
/// ```
package enum CalendarThread {
    package static let executor: ThreadExecutor = {
        hearth_ical_set_up()
        return ThreadExecutor(name: "hearth.calendar")
    }()
}
