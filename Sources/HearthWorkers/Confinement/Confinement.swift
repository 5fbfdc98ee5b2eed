import CProcess
import HearthBase

/// The kernel's means to confine a worker. Linux has both or one of them; a worker runs without them too.
package enum Confinement {
    /// The means of this machine, for reports.
    package struct Means: Sendable, Hashable {
        /// The version of Landlock, which limits the files that a process may open; `nil` for none.
        package let landlockVersion: Int?
        /// Whether system calls are filtered (seccomp).
        package let filtersCalls: Bool
    }

    /// The limits that hold for a process.
    package struct Held: OptionSet, Sendable, Hashable {
        package let rawValue: Int32

        package init(rawValue: Int32) { self.rawValue = rawValue }

        /// The process opens no other files.
        package static let files = Held(rawValue: Int32(HEARTH_CONFINED_FILES.rawValue))
        /// The process does not connect over TCP. ``calls`` denies all sockets.
        package static let network = Held(rawValue: Int32(HEARTH_CONFINED_NETWORK.rawValue))
        /// The process sends no signals to others. ``calls`` denies them too.
        package static let signals = Held(rawValue: Int32(HEARTH_CONFINED_SIGNALS.rawValue))
        /// The process uses only the system calls of computing.
        package static let calls = Held(rawValue: Int32(HEARTH_CONFINED_CALLS.rawValue))
    }

    /// The means of this machine.
    package static func available() -> Means {
        let version = hearth_confinement_files()
        return Means(landlockVersion: version > 0 ? Int(version) : nil, filtersCalls: hearth_confinement_calls())
    }

    /// The system's libraries, for engines that load libraries while they work. OpenVINO's own folder is another.
    package static let libraryFolders: [Path] = [
        "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache",
    ].map { Path($0) }

    /// What the loaders of Vulkan, CUDA and ROCm read beside ``libraryFolders``.
    package static let driverFiles: [Path] = [
        "/etc/vulkan", "/usr/share/vulkan", "/etc/drirc", "/usr/share/drirc.d", "/etc/OpenCL", "/opt/rocm",
        "/usr/local/cuda", "/sys/bus/pci", "/sys/class/drm", "/sys/dev/char", "/sys/module",
    ].map { Path($0) }

    /// The devices of GPUs.
    package static let gpuDevices: [Path] =
        ["/dev/dri", "/dev/kfd", "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools"].map { Path($0) }
        + (0..<16).map { Path("/dev/nvidia\($0)") }

    /// Files of the system that every engine may read: the machine's processors, memory and load, the limits of the
    /// control group, and random numbers.
    static let systemFiles: [Path] = ["/proc", "/sys/devices/system", "/sys/fs/cgroup", "/dev/urandom"].map { Path($0) }
}

/// Confines this process for good: it opens no other files, no sockets, starts no programs and reaches no other process.
///
/// Call it in a worker's `main` before any other thread: the limits of files reach no thread started before. Files that
/// are open already stay so. Paths that do not exist are left out.
/// - Parameters:
///   - readable: files, and folders with all that is below them.
///   - descriptors: readable files and folders that are open, at least with `O_PATH`.
///   - writable: folders in which files are also written, made and removed.
///   - devices: devices, and folders of them, that are read, written and controlled, such as `/dev/dri` for a GPU.
/// - Returns: the limits that hold on this machine.
package func confine(
    readable: [Path], descriptors: [Int32] = [], writable: [Path] = [], devices: [Path] = []
) -> Confinement.Held {
    withStrings((readable + Confinement.systemFiles).map(\.string)) { readable in
        withStrings(writable.map(\.string)) { writable in
            withStrings(devices.map(\.string)) { devices in
                descriptors.withUnsafeBufferPointer { descriptors in
                    // The lists of strings end with NULL, which does not count.
                    var confinement = hearth_confinement(
                        readable: readable.baseAddress, readable_count: readable.count - 1,
                        descriptors: descriptors.baseAddress, descriptor_count: descriptors.count,
                        writable: writable.baseAddress, writable_count: writable.count - 1,
                        devices: devices.baseAddress, device_count: devices.count - 1)
                    return Confinement.Held(rawValue: hearth_confine(&confinement))
                }
            }
        }
    }
}

/// Ends this process as soon as the other side of the channel is closed, whatever its threads do then.
///
/// Call it after ``confine(readable:descriptors:writable:devices:)``, because it starts a thread.
/// - Throws: ``FrameError/system(_:)``.
package func endWithParent(_ channel: FrameChannel) throws(FrameError) {
    let error = hearth_end_with_peer(channel.descriptor)
    if error != 0 { throw .system(error) }
}
