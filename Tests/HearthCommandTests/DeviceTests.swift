import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import Hearth
@testable import HearthCommand

@Suite struct DeviceTests {
    @Test(
        arguments: [
            // Version 2: the smallest on the way up; "max" is none.
            (
                [
                    "/proc/self/cgroup": "0::/a/b\n", "/sys/fs/cgroup/a/b/memory.max": "max\n",
                    "/sys/fs/cgroup/a/memory.max": "1000\n",
                ],
                1000 as UInt64?
            ),
            (["/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/memory.max": "5\n"], 5),
            // Inside a container the path may not exist below the mount.
            (["/proc/self/cgroup": "0::/docker/x\n", "/sys/fs/cgroup/memory.max": "7\n"], 7),
            // Version 1, and its way to say "none".
            (
                [
                    "/proc/self/cgroup": "5:cpu,memory:/a\n4:cpuset:/\n",
                    "/sys/fs/cgroup/memory/a/memory.limit_in_bytes": "9223372036854771712\n",
                    "/sys/fs/cgroup/memory/memory.limit_in_bytes": "300\n",
                ], 300
            ),
            (["/proc/self/cgroup": "garbage\n::\n0::/../../etc\n"], nil), ([:], nil),
            (["/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/memory.max": "0\n"], nil),
            (["/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/memory.max": "-1\n"], nil),
        ] as [([String: String], UInt64?)])
    func readsControlGroupLimits(files: [String: String], limit: UInt64?) {
        #expect(ControlGroup.memoryLimit { files[$0] } == limit)
    }

    @Test(
        arguments: [
            // Version 2: the smallest on the way up; "max" is none.
            (
                [
                    "/proc/self/cgroup": "0::/a/b\n", "/sys/fs/cgroup/a/b/cpu.max": "max 100000\n",
                    "/sys/fs/cgroup/a/cpu.max": "150000 100000\n", "/sys/fs/cgroup/cpu.max": "400000 100000\n",
                ],
                1.5 as Double?
            ),
            // Version 1, and its way to say "none".
            (
                [
                    "/proc/self/cgroup": "5:cpu,cpuacct:/a\n4:cpuset:/\n",
                    "/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us": "-1\n",
                    "/sys/fs/cgroup/cpu/a/cpu.cfs_period_us": "100000\n",
                    "/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "50000\n",
                    "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
                ], 0.5
            ),
            ([:], nil), (["/proc/self/cgroup": "0::/\n"], nil),
        ] as [([String: String], Double?)]
            + ["", "1", "x y", "0 1", "1 0", "inf 1", "nan 1", "1 2 3"].map {
                (["/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/cpu.max": $0], nil)
            })
    func readsControlGroupLimitsOfProcessors(files: [String: String], limit: Double?) {
        #expect(ControlGroup.processorLimit { files[$0] } == limit)
        #expect((1...ProcessInfo.processInfo.activeProcessorCount).contains(SystemProcessors.usable))
    }

    @Test func theUsableMemoryIsTheSmaller() {
        #expect(DeviceMemory(physical: 10, limit: 5).usable == 5)
        #expect(DeviceMemory(physical: 10, limit: 50).usable == 10)
        #expect(DeviceMemory.read().usable > 0)
    }

    @Test func readsTheProcessorsFeatures() {
        let text =
            "processor\t: 0\nmodel name\t: Some CPU\nflags\t\t: fpu avx2 evil avx512f\n\nprocessor : 1\nmodel name : Other\n"
        let cpu = ProcessorDescription(cpuinfo: text)
        #expect(cpu.name == "Some CPU")
        #expect(cpu.features == ["avx2", "avx512f"])
        #expect(ProcessorDescription(cpuinfo: "").features.isEmpty)
    }
}
