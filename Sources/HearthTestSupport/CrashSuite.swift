import Foundation

/// How much the suites on kills, power cuts and failing disks look at.
public enum CrashSuite {
    /// Everything, as `make verify STAGE=crash` and `STAGE=disk` do, instead of a seeded share that fits `make test`.
    public static let isFull = ProcessInfo.processInfo.environment["HEARTH_CRASH_SUITE"] == "full"
}
